"""What a decision of each entrant takes, where the machine leaves it alone.

    OPENBLAS_NUM_THREADS=1 python benchmarks/arena_decisions.py     # all; some minutes
    OPENBLAS_NUM_THREADS=1 python benchmarks/arena_decisions.py pi  # some, the others stay as they are

Rewrites src/laserloop/studies/arena/decisions.json, by which the arena charges decisions: the lower quartile over two
public paths of 40 ticks without the first five, µs, as the entrant runs here (Python and what it calls). Those that ship
as C, `EXPORTED`, are charged as C.
"""

import argparse
import fcntl
import json
import warnings
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from laserloop.control import Controller, Preview
from laserloop.loop import Context, make_named, prepare
from laserloop.plant import Image
from laserloop.studies.arena.benchmark import DECISIONS, make_case, make_controller
from laserloop.studies.arena.entrant import Entrant
from laserloop.studies.arena.entrants import ENTRANTS, find_entrant
from laserloop.studies.arena.tasks import find_task
from laserloop.versions import find_versions

TASKS = "zigzag-304-nominal-v1:10030@40", "star-304-off-v1:10030@40"
EXPORTED = {  # µs, docs/how-to/deploy-the-controller.md
    **dict.fromkeys(("twin", "twin-informed", "twin-without-camera", "twin-without-preview"), 3.3)
}
FIRST = 5  # ticks, that compile and fill what is kept


class TimedController:
    """Any controller, and how long its decisions took, µs: on the wall, and of the processor."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self.times: list[tuple[float, float]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._controller, name)

    def act(self, image: Image | None, preview: Preview) -> Any:
        spent, began = thread_time(), perf_counter()
        action = self._controller.act(image, preview)
        passed = perf_counter() - began
        self.times.append((1e6 * passed, 1e6 * (thread_time() - spent)))
        return action


def time_entrant(entrant: Entrant) -> float:
    """Lower quartile of its decisions, µs, by the clock that counts less: neither counts too little."""
    times: list[tuple[float, float]] = []
    for name in TASKS:
        case = make_case(find_task(name), entrant)
        timed: list[TimedController] = []

        def make(context: Context, case: Any = case, timed: list[TimedController] = timed) -> Any:
            own = (
                make_named(str(case.controller), context)
                if entrant.make is None
                else make_controller(entrant, case, context)
            )
            timed.append(TimedController(own))
            return timed[0]

        prepare(case, make).run()
        times += timed[0].times[FIRST:]
    return float(np.percentile(times, 25.0, axis=0).min())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
    for name in parser.parse_args().names or [entrant.name for entrant in ENTRANTS]:
        spent = EXPORTED.get(name) or round(time_entrant(find_entrant(name)), 1)
        print(name, spent, flush=True)
        with DECISIONS.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            page = json.load(file)
            page["processor"] = find_versions()["processor"]
            page["decision_us"][name] = spent
            file.seek(0)
            file.write(json.dumps(page, indent=1) + "\n")
            file.truncate()


if __name__ == "__main__":
    main()
