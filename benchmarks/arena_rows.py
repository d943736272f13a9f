"""Which rows of docs/results/arena.json a table is made of: one row a run."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from statistics import median_low
from typing import Any

from laserloop.studies.arena.ranking import path_of

Row = dict[str, Any]


def choose(rows: Sequence[Row], *, short: bool = False) -> list[Row]:
    """Those of 304: whole tasks, or those of fewer ticks."""
    return [row for row in rows if row["process"] == "304" and ("@" in row["task"]) == short]


def first(rows: Sequence[Row]) -> list[Row]:
    """Without other trainings of the same entrant."""
    return [row for row in rows if "@" not in row["entrant"]]


def count_paths(rows: Sequence[Row]) -> int:
    """How many paths there are in them."""
    return len({path_of(row) for row in rows})


def share_tasks(rows: Sequence[Row]) -> list[Row]:
    """Those on the tasks that everybody has run; who has run fewer than most is not waited for."""
    tasks = gather_tasks(rows)
    usual = median_low(map(len, tasks.values())) if tasks else 0
    return keep_common(rows, [name for name, own in tasks.items() if len(own) >= usual])


def share_further(rows: Sequence[Row]) -> list[Row]:
    """Those of the entrants that have run more tasks than all share, on the tasks that most of them have.

    Who of them lacks one of these tasks is left out.
    """
    few = len({row["task"] for row in share_tasks(rows)})
    keen = {name for name, own in gather_tasks(rows).items() if len(own) > few}
    further = share_tasks([row for row in rows if row["entrant"] in keen])
    tasks = gather_tasks(further)
    most = max(map(len, tasks.values()), default=0)
    return [row for row in further if len(tasks[row["entrant"]]) == most]


def keep_common(rows: Sequence[Row], names: Collection[str]) -> list[Row]:
    """Those on the tasks that all of these entrants have run."""
    tasks = gather_tasks(rows)
    common = set.intersection(*(tasks[name] for name in names)) if names else set[str]()
    return [row for row in rows if row["task"] in common]


def gather_tasks(rows: Iterable[Row]) -> defaultdict[str, set[str]]:
    """Entrant → the tasks that it has run."""
    found = defaultdict[str, set[str]](set)
    for row in rows:
        found[row["entrant"]].add(row["task"])
    return found
