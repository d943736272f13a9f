"""Coverage of a run: how far the truth lay beyond predictions, and how often margins that follow keep it.

Margins promise something about ticks that have settled: ten after a start or more. While the laser heats up,
nobody knows yet how much of its power the plate takes; what lies above the window then is in the scores.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.margins import AdaptiveMargin, AdaptiveSettings
from laserloop.paths.path import mark_settled

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

NAMES = ("beyond_above_k", "beyond_below_k", "followed_above", "followed_below", "followed_margin_k")


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
