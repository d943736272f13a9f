"""Figures of plans, one layer over time or all layers of a file at a glance, and of fits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from laserloop.report.figures import BAND, COLD, FAINT, HOT, INK, STYLE, WIDTH

FloatArray = NDArray[np.float64]
Record = Mapping[str, Any]

HOLDS = {True: "it holds", False: "it does NOT hold", None: "not simulated"}
BESIDE = 0.14  # of a layer, from its middle to its bars


@mpl.rc_context(STYLE)
def draw_plan(record: Record, series: Mapping[str, FloatArray], truth: FloatArray | None = None) -> Figure:
    """One layer: T_max as planned and as simulated above, the power below.

    `record` is the account of the plan; `series` has t_s, lit, power_w and t_planned_k of each tick; `truth`,
    K, may end before them.
    """
    figure, upper, lower = _begin(record)
    t, lit = 1e3 * series["t_s"], series["lit"] > 0
    planned = np.where(lit, series["t_planned_k"], np.nan)
    window, shown = record["window_k"], [planned]
    handles = [Line2D([], [], color=COLD, linewidth=0.8, label="planned")]
    if truth is not None:
        n = len(truth)
        simulated = np.where(lit[:n], truth, np.nan)
        shown.append(simulated)
        with np.errstate(invalid="ignore"):
            hot = (simulated > window[1]).tolist()
        upper.fill_between(t[:n], simulated, window[1], where=hot, color=HOT, alpha=0.35, lw=0)
        upper.plot(t[:n], simulated, color=INK, linewidth=1.3, gid="simulated")
        handles.insert(0, Line2D([], [], color=INK, linewidth=1.3, label="simulated"))
    upper.plot(t, planned, color=COLD, linewidth=0.8, gid="planned")
    _scale(upper, window, shown)
    lower.step(t, series["power_w"], where="pre", color=INK, linewidth=1.0, gid="power")
    lower.set_xlim(0.0, t[-1])
    lower.set_xlabel("time, ms")
    return _finish(figure, lower, handles)


@mpl.rc_context(STYLE)
def draw_layers(record: Record) -> Figure:
    """All layers of a file: from the lowest to the highest T_max of each above, its mean power below."""
    figure, upper, lower = _begin(record)
    layers: Sequence[Record] = record["layers"]
    planned = [(k, layer) for k, layer in enumerate(layers, start=1)]
    simulated = [(k, layer["verified"]) for k, layer in planned if "verified" in layer]
    looks = [("simulated", INK, -BESIDE, simulated), ("planned", COLD, BESIDE, planned)]
    width, shown, handles = max(1.0, min(4.0, 60 / len(layers))), list[FloatArray](), list[Line2D]()
    for name, colour, beside, ranges in looks if simulated else looks[1:]:
        ends = np.array([(one["t_min_k"], one["t_max_k"]) for _, one in ranges])
        upper.vlines([k + beside for k, _ in ranges], *ends.T, color=colour, linewidth=width, gid=name)
        shown.append(ends)
        handles.append(Line2D([], [], color=colour, linewidth=3, label=name))
    _scale(upper, record["window_k"], shown)
    means = [layer["power_mean_w"] for layer in layers]
    lower.plot([k for k, _ in planned], means, ".-", color=INK, linewidth=1.0, gid="power")
    lower.set_xlim(0.5, len(layers) + 0.5)
    lower.xaxis.set_major_locator(MaxNLocator(integer=True))
    lower.set_xlabel("layer")
    lower.set_ylabel("mean\npower, W")
    return _finish(figure, lower, handles)


def _begin(record: Record) -> tuple[Figure, Axes, Axes]:
    """Two panels over each other, and what came of it as their title."""
    figure = Figure(figsize=(WIDTH, 3.9))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.1))
    scores = record.get("verified", record)
    upper.set_title(
        f"{Path(record['path']).name}: {scores['t_min_k']:.0f} to {scores['t_max_k']:.0f} K, "
        f"{HOLDS[record['holds']]}"
    )
    upper.set_ylabel("Tₘₐₓ, K")
    lower.set_ylabel("power, W")
    upper.axhspan(*record["window_k"], color=BAND, alpha=0.16, linewidth=0)
    return figure, upper, lower


def _scale(axes: Axes, window: Sequence[float], shown: Sequence[FloatArray]) -> None:
    """An axis that shows the window and all courses; a cold start may leave it below."""
    low, high = window
    most = max(high, *(float(np.nanmax(values)) for values in shown))
    least = min(low, *(float(np.nanmin(values)) for values in shown))
    least = max(least, low - 2.0 * (most - low))
    axes.set_ylim(least - 0.1 * (most - least), most + 0.1 * (most - least))


def _finish(figure: Figure, lower: Axes, handles: list[Line2D]) -> Figure:
    lower.set_ylim(0.0, max(1.0, 1.08 * lower.dataLim.y1))
    signs = [*handles, Patch(color=BAND, alpha=0.16, label="window")]
    figure.legend(handles=signs, loc="outside lower left", ncols=len(signs), columnspacing=1.2)
    return figure


@mpl.rc_context(STYLE)
def draw_fit(record: Record) -> Figure:
    """Readings and fit, and residuals over time, power and temperature."""
    t = 1e3 * np.array(record["series"]["t_s"])
    names = ("t_measured_k", "t_fitted_k", "power_w")
    measured, fitted, power = (np.array(record["series"][name]) for name in names)
    figure = Figure(figsize=(WIDTH, 0.9 * WIDTH), layout="constrained")
    upper, *lower = figure.subplot_mosaic("aaa;bcd", height_ratios=(2, 1)).values()
    upper.plot(t, measured, ".", color=COLD, markersize=3, label="reading")
    upper.plot(t, fitted, color=INK, label="fitted process on the graded plant")
    upper.set_ylabel("peak, K")
    upper.set_xlabel("time of arrival, ms")
    upper.legend(loc="lower right")
    rms, process = record["residual_rms_k"], record["process"]["name"]
    holds = "holds" if record["holds"] else "does not hold"
    upper.set_title(f"{record['log']}: {process}, residual {rms:.1f} K RMS, {holds}", loc="left")
    along = {"time of arrival, ms": t, "power, W": power, "fitted peak, K": fitted}
    for axes, (name, values) in zip(lower, along.items(), strict=True):
        axes.axhline(0.0, color=FAINT)
        axes.plot(values, measured - fitted, ".", color=COLD, markersize=3)
        axes.set_xlabel(name)
        axes.sharey(lower[0])
    lower[0].set_ylabel("residual, K")
    return figure
