"""Gains of the controllers without a model, tuned on the training paths of a plant.

    python benchmarks/tune_baselines.py paper|graded    # five minutes; graded takes fifteen

Writes src/laserloop/control/gains/PLANT.json, which ships with the package.
"""

import argparse
import json
from functools import partial
from pathlib import Path

from laserloop.control.problem import MpcProblem
from laserloop.loop.tuning import TRAINING_PATHS, tune
from laserloop.paths import find_path
from laserloop.plant import PLANTS, make_plant

SHELF = Path(__file__).parent.parent / "src" / "laserloop" / "control" / "gains"
TICKS = 320


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plant", choices=PLANTS)
    plant = parser.parse_args().plant
    problem = MpcProblem()
    paths = [find_path(name, ticks=TICKS) for name in TRAINING_PATHS]

    def show(done: int, total: int) -> None:
        print(f"{done}/{total}", end="\r", flush=True)

    gains = tune(partial(make_plant, plant), paths, problem, progress=show)
    page = {
        "plant": plant,
        "window_k": problem.window,
        "power_w": problem.power,
        "training_paths": TRAINING_PATHS,
        "ticks": TICKS,
        "made_by": f"python benchmarks/tune_baselines.py {plant}",
        "gains": gains.to_json(),
    }
    SHELF.mkdir(exist_ok=True)
    (SHELF / f"{plant}.json").write_text(json.dumps(page, indent=1) + "\n")
    print(json.dumps(page, indent=1))


if __name__ == "__main__":
    main()
