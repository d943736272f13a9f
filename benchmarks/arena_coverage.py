"""Promised and kept: margins of all who predict, from the runs of the arena that are on disk."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.arena.contest import Kept
from laserloop.arena.coverage import cover_record, find_beyond
from laserloop.arena.tasks import find_task
from laserloop.control.margins import LEVEL, find_quantile

FloatArray = NDArray[np.float64]
Row = dict[str, Any]
Ticks = dict[str, list[FloatArray]]  # family → T_max minus prediction of the ticks of each run


def cover_all(runs: Iterable[Kept]) -> list[Row]:
    """A row for each entrant and level."""
    ticks: dict[tuple[str, str], Ticks] = defaultdict(lambda: defaultdict(list))
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for kept in runs:
        task, beyond = find_task(kept.record["task"]), find_beyond(kept.record)
        if task.process == "304" and len(beyond):
            key = kept.record["entrant"], task.level
            ticks[key][task.family].append(beyond)
            rows[key].append(cover_record(kept.record))
    return [tell(key, ticks[key], ticks.get((key[0], "off"), {}), own) for key, own in rows.items()]


def tell(key: tuple[str, str], own: Ticks, calm: Ticks, rows: Sequence[Row]) -> Row:
    """Shares of ticks within margins calibrated elsewhere, and within those that follow."""
    apart, widths = list[NDArray[np.bool_]](), list[float]()
    for family, some in own.items():
        others = [run for other, runs in own.items() if other != family for run in runs]
        if others:
            margins = find_margins(np.concatenate(others))
            apart += keep(np.concatenate(some), margins)
            widths += margins
    every = np.concatenate([run for runs in own.values() for run in runs])
    shifted = (
        keep(every, find_margins(np.concatenate([run for runs in calm.values() for run in runs])))
        if calm and key[1] != "off"
        else []
    )
    followed = [
        row for row in rows if row["followed_above"] is not None and row["followed_below"] is not None
    ]
    return {
        "entrant": key[0],
        "level": key[1],
        "runs": len(rows),
        "apart": float(np.mean(np.concatenate(apart))) if apart else None,
        "apart_k": float(np.mean(widths)) if widths else None,
        "shifted": float(np.mean(np.concatenate(shifted))) if shifted else None,
        "followed": mean([0.5 * (row["followed_above"] + row["followed_below"]) for row in followed]),
        "followed_k": mean([row["followed_margin_k"] for row in followed]),
        "widest_k": float(np.abs(every).max()),
    }


def find_margins(beyond: FloatArray) -> list[float]:
    """Above and below, K."""
    return [max(0.0, find_quantile(sign * beyond, LEVEL)) for sign in (1.0, -1.0)]


def keep(beyond: FloatArray, margins: Sequence[float]) -> list[NDArray[np.bool_]]:
    """Which ticks stay within each margin."""
    return [beyond <= margins[0], -beyond <= margins[1]]


def mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
