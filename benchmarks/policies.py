"""Do the policies that learned to act keep the window, and how fast are they?

    python benchmarks/policies.py                                  # those that ship, and the twin beside them
    python benchmarks/policies.py --also out/arena/models          # other seeds, where they were trained

Runs tasks of the arena's held-out split on `graded`, which no policy has seen. Writes
docs/results/policies.json after every run, so that it can be stopped and called again, and docs/results/policies.md.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from page import format_rows

from laserloop.arena.entrant import COST_FILE, Cost, Entrant
from laserloop.arena.entrants import distilled, find_entrant, rl
from laserloop.arena.levels import LEVELS
from laserloop.arena.runs import play
from laserloop.arena.scores import score_record
from laserloop.arena.shelf import SHELF
from laserloop.arena.tasks import find_task, list_tasks

ROOT = Path(__file__).parent.parent
MAKERS: dict[str, Callable[..., Any]] = {"distilled": distilled.make, "rl": rl.make}
HEADS = (
    "policy",
    "seed",
    "level",
    "paths",
    "highest, K",
    "lowest, K",
    "outside",
    "RMS from 780 K",
    "decision, µs",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=10, help="of the held-out split")
    parser.add_argument("--also", type=Path, help="a folder with NAME-SEED folders of other trainings")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
    file = options.results / "policies.json"
    kept: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {"runs": {}, "cost": {}}
    for name, entrant, cost in list_entrants(options.also):
        kept["cost"][name] = (
            None if cost is None else {"core_minutes": cost.core_minutes, "plant_steps": cost.plant_steps}
        )
        for task in list_tasks(split="held-out", paths=options.paths):
            key = f"{name} {task.name}"
            if key not in kept["runs"]:
                kept["runs"][key] = score(play(task, entrant))
                file.write_text(json.dumps(kept, indent=0) + "\n", "utf-8")
                print(key, kept["runs"][key], flush=True)
    (options.results / "policies.md").write_text(tell(kept), "utf-8")


def list_entrants(also: Path | None) -> list[tuple[str, Entrant, Cost | None]]:
    """By name and seed; the twin has none."""
    found: list[tuple[str, Entrant, Cost | None]] = [("twin -", find_entrant("twin"), None)]
    folders = [(name, 0, SHELF / name) for name in MAKERS if (SHELF / name / COST_FILE).exists()]
    if also is not None:
        named = [folder.name.rpartition("-") for folder in sorted(also.iterdir())]
        folders += [(name, int(seed), also / f"{name}-{seed}") for name, _, seed in named if name in MAKERS]
    for name, seed, folder in folders:
        entrant = Entrant(name=name, about="A policy.", make=partial(MAKERS[name], folder=folder))
        found.append((f"{name} {seed}", entrant, Cost.read(folder)))
    return found


def score(record: dict[str, Any]) -> dict[str, float]:
    """What the page tells of a run."""
    row = score_record(record)
    return {
        "highest": float(record["t_max_k"]),
        "lowest": float(record["t_min_k"]),
        "outside": row["outside_fraction"],
        "ms": row["rms_k"] ** 2,
        "decision_us": 1e3 * float(record["tick_ms"]["median"]),
    }


def tell(kept: dict[str, Any]) -> str:
    """The page."""
    groups: dict[tuple[str, str], list[dict[str, float]]] = {}
    for key, run in kept["runs"].items():
        name, seed, task = key.split(" ")
        groups.setdefault((f"{name} {seed}", find_task(task).level), []).append(run)
    rows = []
    order = [*dict.fromkeys(name for name, _ in groups)]
    for name, level in sorted(
        groups, key=lambda group: (list(LEVELS).index(group[1]), order.index(group[0]))
    ):
        runs = groups[name, level]
        mean = {what: float(np.mean([run[what] for run in runs])) for what in runs[0]}
        worst = max(run["highest"] for run in runs), min(run["lowest"] for run in runs)
        rows.append(
            (
                *name.split(" "),
                level,
                str(len(runs)),
                f"{mean['highest']:.1f} (worst {worst[0]:.1f})",
                f"{mean['lowest']:.1f} (worst {worst[1]:.1f})",
                f"{100 * mean['outside']:.2f} %",
                f"{np.sqrt(mean['ms']):.1f} K",
                f"{np.median([run['decision_us'] for run in runs]):.0f}",
            )
        )
    costs = [
        (*name.split(" "), f"{cost['core_minutes']:.1f}", str(cost["plant_steps"]))
        for name, cost in kept["cost"].items()
        if cost is not None
    ]
    return f"""# Policies that learned to act

Made by `python benchmarks/policies.py`; figures in `docs/results/policies.json`. Held-out paths of the arena, process 304,
window 760–800 K, plant `graded`, 320 ticks; above the window all lit ticks count, below it those in which full power could have
reached it. Highest and lowest are means over paths of the peak's extremes. Decisions are timed in Python, on a machine with other work.

{format_rows(HEADS, rows)}
What they cost to train:

{format_rows(("policy", "seed", "core minutes", "ticks of the plant"), costs)}
"""


if __name__ == "__main__":
    main()
