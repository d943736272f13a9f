"""Gains of PI, alone and on top of feed-forward, for the camera of a level: by RMS on public paths.

    python benchmarks/tune_arena.py pi hard               # one entrant at one level; about a minute of one core
    python benchmarks/tune_arena.py feedforward-pi off

Prints factors of gain and reset time beside the mean RMS; the best stand in the arena's table of entrants.
"""

import sys
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from laserloop.studies.arena.benchmark import close_loop
from laserloop.studies.arena.entrants import find_entrant
from laserloop.studies.arena.scores import measure_record
from laserloop.studies.arena.tasks import Task

FAMILIES = "zigzag", "raster", "hairpin"
SEED, TICKS = 10_001, 80
GAINS, RESET_TIMES = (0.1, 0.2, 0.4, 0.7), (1.0, 4.0)


def main() -> None:
    name, level = sys.argv[1:]
    entrant, found = find_entrant(name), {}
    assert isinstance(entrant.make, partial)
    for pair in product(GAINS, RESET_TIMES):
        tuned = replace(entrant, make=partial(entrant.make.func, factors={1: pair}))
        tasks = [Task(family=family, level=level, seed=SEED, ticks=TICKS) for family in FAMILIES]
        rms = [measure_record(close_loop(task, tuned))["rms_k"] for task in tasks]
        found[pair] = float(np.mean(rms))
        print(name, level, pair, round(found[pair], 2), flush=True)
    print("best", min(found, key=lambda pair: found[pair]), flush=True)


if __name__ == "__main__":
    main()
