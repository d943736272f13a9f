"""Gains of the controllers without a model, tuned on the training paths of a plant.

    python benchmarks/tune_baselines.py paper|graded [--process in625]    # five minutes; graded takes fifteen

Writes src/laserloop/control/gains/PLANT.json, or PLANT-PROCESS.json, which ships with the package.
"""

import argparse
import json
from pathlib import Path

from laserloop.control.problem import MpcProblem
from laserloop.loop.scenario import TICKS
from laserloop.loop.tune import TRAINING_PATHS, tune_for
from laserloop.plant import PLANTS
from laserloop.process import find_process, shipped_processes

SHELF = Path(__file__).parent.parent / "src" / "laserloop" / "control" / "gains"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plant", choices=PLANTS)
    parser.add_argument("--process", choices=shipped_processes(), default="paper")
    options = parser.parse_args()
    process = find_process(options.process)
    problem = MpcProblem(window=process.window, power=process.laser.power)

    def show(done: int, total: int) -> None:
        print(f"{done}/{total}", end="\r", flush=True)

    gains = tune_for(options.plant, process, problem, progress=show)
    usual = options.process == "paper"
    page = {
        "plant": options.plant,
        "process": {"laserloop_process": 1, "name": "paper"} if usual else process.to_json(),
        "training_paths": TRAINING_PATHS,
        "ticks": TICKS,
        "made_by": f"python benchmarks/tune_baselines.py {options.plant}"
        + ("" if usual else f" --process {options.process}"),
        "gains": gains.to_json(),
    }
    SHELF.mkdir(exist_ok=True)
    name = options.plant if usual else f"{options.plant}-{options.process}"
    (SHELF / f"{name}.json").write_text(json.dumps(page, indent=1) + "\n")
    print(json.dumps(page, indent=1))


if __name__ == "__main__":
    main()
