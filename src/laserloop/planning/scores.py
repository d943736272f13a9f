"""Scores of a plan and the verdict on it: whether the plant holds the window, and what to try if it does not.

Above the ceiling every lit tick counts, below the floor those in which full power could have reached it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.paths import ScanPath
from laserloop.planning.commands import PlanSettings
from laserloop.planning.window import show_window
from laserloop.predict.twin import Counted, find_counted, score_starts
from laserloop.process import Process

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

OVER = 0.02  # of the rise from ambient to the ceiling that a tick may lie above the ceiling,
OUTSIDE = 0.01  # and share of the ticks that count that may lie outside, if a plan is to hold
NEAR = 1.25  # times what the twin itself expects to miss: from there on the commands are to blame, not it


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
    return float(max(over / _most_over(process), scores["outside_fraction"] / OUTSIDE, 0.0))


def _most_over(process: Process) -> float:
    """K above the ceiling that no tick of a plan that holds may exceed."""
    return OVER * (process.window[1] - process.ambient)


def _join(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(list(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of the simulation."""

    holds: bool | None  # None: not simulated
    miss: float = 0.0  # see `measure_miss`
    scores: dict[str, Any] | None = None  # of the plant
    mark: str = ""  # for the head of the file; empty if there is nothing to warn of
    notes: tuple[str, ...] = ()  # sentences without their full stop


def judge_plan(
    process: Process,
    settings: PlanSettings,
    planned: Sequence[LayerResult],
    found: Sequence[LayerResult] | None,
    problem: str = "",
) -> Verdict:
    """Whether the layers that were simulated hold the window; `problem` is why a simulation ended early."""
    expected = score_layers(planned, process.window)
    if found is None:
        mark = f"NOT SIMULATED: the twin expects {_show(expected)} in a window of {show_window(process)}"
        told = "the plan was not simulated, so that nobody knows whether it holds"
        if measure_miss(expected, process) > 1:
            outside = _percent(expected["outside_fraction"])
            told += f"; the twin itself expects {_show(expected)}, {outside} outside"
        return Verdict(holds=None, mark=mark, notes=(told,))
    if not found:
        told = f"it could not be simulated ({problem.rstrip('.')})"
        return _refuse(None, float("inf"), told, "", "change the process, the window or the path")
    scores = {"plant": "graded"} | score_layers(found, process.window)
    partly = _tell_rest(planned, found)
    miss = measure_miss(scores, process)
    if miss <= 1:
        mark = "" if not partly else f"{partly}; they hold {show_window(process)}"
        notes = (f"not all of the plan is simulated: {partly}; the rest is NOT VERIFIED",) if partly else ()
        return Verdict(holds=True, miss=miss, scores=scores, mark=mark, notes=notes)
    told = _tell_miss(scores, process)
    cure = _advise(scores, measure_miss(expected, process), miss, settings)
    return _refuse(scores, miss, told, partly, cure)


def _refuse(scores: dict[str, Any] | None, miss: float, told: str, partly: str, cure: str) -> Verdict:
    return Verdict(
        holds=False,
        miss=miss,
        scores=scores,
        mark=f"DOES NOT HOLD: {told}" + (f"; {partly}" if partly else ""),
        notes=(
            *((f"not all of the plan is simulated: {partly}",) if partly else ()),
            f"the plan does not hold: {told}; {cure}",
        ),
    )


def _tell_rest(planned: Sequence[LayerResult], found: Sequence[LayerResult]) -> str:
    """What was not simulated; empty if all was."""
    whole = sum(
        len(layer.temperature) >= len(plan.temperature) - 1  # a written file may be a tick shorter
        for plan, layer in zip(planned, found, strict=False)
    )
    if whole == len(planned):
        return ""
    done, total = (sum(len(layer.temperature) for layer in layers) for layers in (found, planned))
    layers = f", all of {whole} of {len(planned)} layers" if len(planned) > 1 else ""
    return f"only the first {done} of {total} ticks are simulated{layers}"


def _tell_miss(scores: dict[str, Any], process: Process) -> str:
    """What is wrong."""
    over, share = scores["t_max_k"] - process.window[1], scores["outside_fraction"]
    told = f"simulated T_max is {_show(scores)}, {_percent(share)} of the ticks that count lie outside "
    told += show_window(process)
    if over > _most_over(process):
        told += f", and the hottest {over:.0f} K above the ceiling (at most {_most_over(process):.0f} K)"
    return told


def _advise(scores: dict[str, Any], expected: float, miss: float, settings: PlanSettings) -> str:
    """What to try."""
    if settings.speeds is not None and scores["below_fraction"] > scores["n_over"] / scores["ticks"]:
        return "allow slower speeds, or take a stronger laser or a lower window"
    if expected > 1 and miss <= NEAR * expected and settings.by != "point":
        return "try --by point" + ("" if settings.by == "vector" else ", or a smaller --segment-mm")
    if expected > 1 and scores["below_fraction"] > 0:
        return "the laser may be too weak or the window too narrow: laserloop check says what it takes"
    return "try a wider window or a slower beam; laserloop check says if the tick fits"


def _show(scores: dict[str, Any]) -> str:
    return f"{scores['t_min_k']:.0f} – {scores['t_max_k']:.0f} K"


def _percent(share: float) -> str:
    percent = 100 * share
    return "none" if share == 0 else f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"
