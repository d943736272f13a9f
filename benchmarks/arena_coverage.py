"""Promised and kept: margins of all who predict, from the runs of the arena that are on disk.

How far the truth lay beyond predictions, and how often margins that follow keep it. Margins promise something
about ticks that have settled: ten after a start or more. While the laser heats up, nobody knows yet how much of
its power the plate takes; what lies above the window then is in the scores.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.margins import LEVEL, AdaptiveMargin, AdaptiveSettings, find_quantile
from laserloop.paths.path import mark_settled
from laserloop.studies.arena.benchmark import StoredRun
from laserloop.studies.arena.tasks import find_task

FloatArray = NDArray[np.float64]
Row = dict[str, Any]
Ticks = dict[str, list[FloatArray]]  # family → T_max minus prediction of the ticks of each run
NAMES = ("beyond_above_k", "beyond_below_k", "followed_above", "followed_below", "followed_margin_k")


def cover_all(runs: Iterable[StoredRun]) -> list[Row]:
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


def find_beyond(record: Mapping[str, Any]) -> FloatArray:
    """T_max minus its prediction in the settled ticks that have one, K."""
    series = record["series"]
    T, told = (np.array(series[name], dtype=float) for name in ("t_true_k", "t_predicted_k"))
    counted = mark_settled(np.array(series["lit"], dtype=bool)) & np.isfinite(told)
    return np.asarray((T - told)[counted])


def cover_record(record: Mapping[str, Any]) -> Row:
    """The row of a run; of one without predictions all is None.

    `beyond_…`: the farthest that T_max lay above, and below, its prediction in a settled tick. `followed_…`:
    the share of settled ticks within a margin learned from the camera's readings so far in this run, where
    enough of them were known, and the mean of that margin.
    """
    series = record["series"]
    T, told, seen = (
        np.array(series[name], dtype=float) for name in ("t_true_k", "t_predicted_k", "t_measured_k")
    )
    counted = mark_settled(np.array(series["lit"], dtype=bool)) & np.isfinite(told)
    if not counted.any():
        return dict.fromkeys(NAMES)
    beyond = T - told
    late = int(record["process"]["camera"]["delay_ticks"])
    surprise = np.full(len(T), np.nan)  # in the tick that it is known in
    surprise[late:] = seen[late:] - told[: len(T) - late]
    above, below = (follow(sign * surprise, sign * beyond, counted) for sign in (1.0, -1.0))
    margins = [margin for side in (above, below) for margin, _ in side]
    return dict(
        zip(
            NAMES,
            (
                float(beyond[counted].max()),
                float(-beyond[counted].min()),
                *(float(np.mean([kept for _, kept in side])) if side else None for side in (above, below)),
                float(np.mean(margins)) if margins else None,
            ),
            strict=True,
        )
    )


def follow(surprise: FloatArray, beyond: FloatArray, counted: NDArray[np.bool_]) -> list[tuple[float, bool]]:
    """Margin of each tick that counts and whether it was kept; ticks before enough is known are left out."""
    side, found = AdaptiveMargin(AdaptiveSettings()), list[tuple[float, bool]]()
    for k in range(len(beyond)):
        margin = max(side.margin, 0.0)
        if counted[k] and isfinite(margin):
            found.append((margin, bool(beyond[k] <= margin)))
        if isfinite(surprise[k]):
            side.learn(float(surprise[k]))
    return found
