"""Scores of a plan: what counts of a course of temperatures, and whether it holds the window.

Above the ceiling every lit tick counts, below the floor those in which full power could have reached it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.paths import ScanPath
from laserloop.predict.twin import Counted, find_counted, score_starts
from laserloop.process import Process

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

OVER = 0.02  # of the rise from ambient to the ceiling that a tick may lie above the ceiling,
OUTSIDE = 0.01  # and share of the ticks that count that may lie outside, if a plan is to hold


@dataclass(frozen=True, slots=True, eq=False)
class LayerResult:
    """T_max of a layer, planned or simulated, and which of its ticks count."""

    temperature: FloatArray  # (ticks,), K, at the end of each
    above: BoolArray  # (ticks,), those that count above the ceiling: all lit ones
    below: BoolArray  # (ticks,), those that count below the floor


def count_ticks(process: Process, path: ScanPath, power: FloatArray, floor: float | None = None) -> Counted:
    """Which ticks count, by the window's floor or another, K; `power`, W, holds while the laser is on."""
    return find_counted(process, path, power * path.lit_shares[: len(power)], floor)


def score_layers(layers: Sequence[LayerResult], window: tuple[float, float]) -> dict[str, Any]:
    """T_max against a window over all ticks that count."""
    T = _join(layer.temperature for layer in layers)
    above, below = _join(layer.above for layer in layers), _join(layer.below for layer in layers)
    over, under = above & (window[1] < T), below & (window[0] > T)
    return {
        "ticks": len(T),
        "t_max_k": float(T[above].max()),
        "t_min_k": float(T[below].min()),
        "below_fraction": float(np.mean(under[below])),
        "n_over": int(np.count_nonzero(over)),
        "outside_fraction": float(np.count_nonzero(over | under) / np.count_nonzero(over | below)),
        "rms_k": float(np.sqrt(np.mean((T[below] - 0.5 * sum(window)) ** 2))),
        "starts": _score_starts(layers, window),
    }


def _score_starts(layers: Sequence[LayerResult], window: tuple[float, float]) -> dict[str, Any]:
    """The worst of all layers; no number of ticks if a start never reached the floor."""
    found = list[dict[str, Any]]()
    for layer in layers:
        low, high = (np.full(len(layer.temperature), bound) for bound in window)
        found.append(score_starts(layer.temperature, layer.above, layer.below, low, high))
    ticks = [each["ticks_to_floor"] for each in found]
    return {
        "over_k": max(each["over_k"] or 0.0 for each in found),
        "ticks_to_floor": None if None in ticks else max(ticks),
    }


def measure_miss(scores: dict[str, Any], process: Process) -> float:
    """How far a course is from holding the window; up to 1 it holds."""
    over = scores["t_max_k"] - process.window[1]
    return float(max(over / most_over(process), scores["outside_fraction"] / OUTSIDE, 0.0))


def most_over(process: Process) -> float:
    """K above the ceiling that no tick of a plan that holds may exceed."""
    return OVER * (process.window[1] - process.ambient)


def _join(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(list(parts))
