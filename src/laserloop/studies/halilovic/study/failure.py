"""The corner failure as one run shows it: where, when, how long, and how much of the error is elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.data.episode import find_turns

NEAR_CORNER = 0.3  # mm, two hops of a plan's horizon
OVERSHOOT_WITHIN, RUN_WITHIN = 15.0, 7  # K, ticks: how far another implementation may be
REVERSAL = 10  # ticks after the vertex in which an excess that belongs to it has begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Of one run along a path with sharp turns, over the ticks that count; without a turn all is far away."""

    ticks_over: int
    at_first: int  # of the longest unbroken run of ticks above the bound that begins at the first turn
    peak_to_worst: int  # ticks between the hottest one and the one that is under-predicted most
    worst_k: float  # the largest residual by size, prediction minus truth
    worst_from_first: float  # mm, its distance to the first turn
    worst_from_turns: float  # mm, to the nearest turn
    rms_k: float
    rms_elsewhere_k: float  # beyond `NEAR_CORNER` of every turn
    bias_elsewhere_k: float


def describe_failure(record: Mapping[str, Any]) -> Failure:
    """What a record with its series shows; without a series a KeyError."""
    series, first = record["series"], record["settled_from"]
    places = np.column_stack([series["x_mm"], series["y_mm"]])
    turns = find_turns(places)
    true, predicted = (
        np.array(series[name], dtype=np.float64)[first:] for name in ("t_true_k", "t_predicted_k")
    )
    residual = predicted - true
    away = np.hypot(*(places[first:, :, np.newaxis] - places[turns].T[np.newaxis]).transpose(1, 0, 2))
    nearest = away.min(axis=1, initial=np.inf)  # a run that ended before its first turn has none
    worst, elsewhere = int(np.nanargmax(np.abs(residual))), nearest > NEAR_CORNER
    above = true > record["window_k"][1]
    return Failure(
        ticks_over=int(above.sum()),
        at_first=_count_run(above, int(turns[0]) - first) if turns.size else 0,
        peak_to_worst=abs(int(np.argmax(true)) - int(np.nanargmin(residual))),
        worst_k=float(residual[worst]),
        worst_from_first=float(away[worst, 0]) if turns.size else np.inf,
        worst_from_turns=float(nearest[worst]),
        rms_k=float(np.sqrt(np.nanmean(residual**2))),
        rms_elsewhere_k=float(np.sqrt(np.nanmean(residual[elsewhere] ** 2))),
        bias_elsewhere_k=float(np.nanmean(residual[elsewhere])),
    )


def find_longest(above: NDArray[np.bool_]) -> int:
    """The most ticks in a row."""
    return max((end - begin for begin, end in _find_runs(above)), default=0)


def _count_run(above: NDArray[np.bool_], vertex: int) -> int:
    """The longest run that begins when the beam is at a vertex or soon after."""
    runs = [(begin, end) for begin, end in _find_runs(above) if abs(begin - vertex) <= REVERSAL]
    return max((end - begin for begin, end in runs), default=0)


def _find_runs(above: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], above, [False])).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]
