"""What the whole arena takes, by the processor time of the runs that have been made."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from laserloop.studies.arena.tasks import FULL_PATHS

Row = dict[str, Any]


def write_costs(rows: Sequence[Row], found: Row) -> str:
    """What the contest takes, stage by stage and entrant by entrant, and what the whole of it would."""
    spent, declared = defaultdict[str, list[float]](list), found["entrants"]
    for row in rows:
        if row.get("cpu_s") is not None:
            spent[row["entrant"]].append(row["cpu_s"])
    if not spent:
        return ""
    means = {name: float(np.mean(some)) for name, some in spent.items()}
    hours = sum(means.values()) * 3 * FULL_PATHS / 3600.0
    learners = [name for name in means if declared[name]["learns"]]
    training = sum(declared[name]["core_minutes"] for name in learners)
    lessons = found.get("lessons_core_min")
    lines = [
        "## What it takes to run",
        "",
        "Times of processors, plant and all; runs go side by side, one on a core, the other stages do not. "
        f"{sum(map(len, spent.values()))} of the {3 * FULL_PATHS * len(means)} runs were made and timed, the whole is these means "
        "times the runs.",
        "",
        "| stage | core hours | hours on two cores |",
        "|---|---|---|",
        *(
            [f"| lessons: 240 episodes on the plant | {lessons / 60:.2f} | {lessons / 60:.2f} |"]
            if lessons
            else []
        ),
        f"| trainings: {len(learners)} who learn, seed 0 | {training / 60:.2f} | {training / 60:.2f} |",
        f"| runs: {len(means)} entrants on {FULL_PATHS} paths at three levels | {hours:.1f} | {hours / 2:.1f} |",
        "",
        "| entrant | core s a run | core hours of the whole |",
        "|---|---|---|",
    ]
    for name, seconds in sorted(means.items(), key=lambda item: -item[1]):
        lines.append(f"| {name} | {seconds:.1f} | {seconds * 3 * FULL_PATHS / 3600.0:.2f} |")
    return "\n".join(lines)
