"""Which rows of docs/results/arena.json a table is made of: one row a run."""

from collections.abc import Sequence
from typing import Any

from laserloop.arena.standings import path_of

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
