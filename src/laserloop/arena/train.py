"""Train those who learn; stopped at any time, it goes on when called again.

    python -m laserloop.arena.lessons --out out/arena/lessons
    python -m laserloop.arena.train --lessons out/arena/lessons                       # all, seeds 0, 1 and 2
    python -m laserloop.arena.train koopman --seeds 0 --lessons out/arena/lessons     # one

Seed 0 is written to the models of the package, the others beside the lessons, where the arena finds them as
NAME@SEED. A model that is there is left as it is: delete its folder to train it anew.
"""

import argparse
from pathlib import Path

from laserloop.arena.entrant import COST_FILE, Cost
from laserloop.arena.entrants import LEARNERS
from laserloop.arena.shelf import OUT, name_folder
from laserloop.bad_input import BadInput


def main() -> None:
    """Train what is missing."""
    learners = {entrant.name: entrant for entrant in LEARNERS}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(learners)}; all unless given")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--lessons", type=Path, default=OUT / "lessons")
    options = parser.parse_args()
    if unknown := set(options.names) - set(learners):
        parser.error(f"those who learn are {', '.join(learners)}, not {', '.join(sorted(unknown))}")
    try:
        for seed in options.seeds:
            for name in options.names or learners:
                cost = train_one(name, seed, options.lessons)
                print(f"{name} {seed}: {cost.core_minutes:.2f} core minutes, {cost.plant_steps} plant steps")
    except BadInput as problem:
        parser.exit(2, f"{problem}\n")


def train_one(name: str, seed: int, lessons: Path) -> Cost:
    """Train an entrant unless that is done; the cost."""
    folder = name_folder(name, seed, lessons.parent)
    learner = next(entrant for entrant in LEARNERS if entrant.name == name)
    assert learner.train is not None
    if (folder / COST_FILE).exists():
        return Cost.read(folder)
    return learner.train(lessons, seed, folder)


if __name__ == "__main__":
    main()
