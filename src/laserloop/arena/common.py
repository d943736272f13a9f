"""Common ground: the rows of tasks that several entrants have run, so that their means compare."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from statistics import median_low

from laserloop.arena.scores import Row


def share(rows: Sequence[Row]) -> list[Row]:
    """Those on the tasks that everybody has run; who has run fewer than most is not waited for."""
    tasks = gather_tasks(rows)
    usual = median_low(map(len, tasks.values())) if tasks else 0
    return keep_common(rows, [name for name, own in tasks.items() if len(own) >= usual])


def go_on(rows: Sequence[Row]) -> list[Row]:
    """Those of the entrants that have run more tasks than all share, on the tasks that most of them have.

    Who of them lacks one of these tasks is left out.
    """
    few = len({row["task"] for row in share(rows)})
    keen = {name for name, own in gather_tasks(rows).items() if len(own) > few}
    further = share([row for row in rows if row["entrant"] in keen])
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
