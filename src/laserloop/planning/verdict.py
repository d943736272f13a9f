"""The verdict on a plan: whether the plant holds the window with it, and what to try if it does not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from laserloop.planning.scores import LayerResult, measure_miss, most_over, score_layers
from laserloop.planning.settings import PlanSettings
from laserloop.planning.window import show_window
from laserloop.process import Process

NEAR = (
    1.25  # times what the twin itself expects to miss: from there on the commands are to blame, not the twin
)


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
    if over > most_over(process):
        told += f", and the hottest {over:.0f} K above the ceiling (at most {most_over(process):.0f} K)"
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
