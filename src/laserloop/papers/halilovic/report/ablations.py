"""Figures of the offline ablations, from plain points: an axis, a value on it, our errors and the paper's."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from laserloop.report.figures import COLD, FAINT, HOT, INK, STYLE, WIDTH

Points = Sequence[Mapping[str, Any]]

PANELS = {
    "horizon": "Horizon, ticks",
    "trunk": "What the trunk sees",
    "basis": "Basis functions",
    "width": "Width of a hidden layer",
    "noise": "Noise on each temperature, K",
    "shared noise": "One noise for all of them, K",
    "noise on loc": "Noise, trunk loc, K",
    "structure": "Structure",
}
COLOURS = {"seen": COLD, "unseen": HOT}
SHIFT = 0.08  # of the paper's marks, so that equal figures can both be seen


@mpl.rc_context(STYLE)
def draw_ablations(points: Points) -> Figure:
    """Horizon RMSE on seen and unseen paths along every axis; crosses are the paper's."""
    figure = Figure(figsize=(2.4 * WIDTH, 5.6))
    panels = figure.subplots(2, 4)
    for axes, (axis, title) in zip(panels.flat, PANELS.items(), strict=True):
        _plot_axis(axes, [point for point in points if point["axis"] == axis])
        axes.set_title(title)
    for axes in panels[:, 0]:
        axes.set_ylabel("horizon RMSE, K")
    figure.legend(handles=_legend(), loc="outside lower left", ncols=3, columnspacing=1.2)
    return figure


@mpl.rc_context(STYLE)
def draw_error_growth(points: Points, published: Mapping[str, Sequence[float]]) -> Figure:
    """The error of each step on the unseen path; `published`: first and last of the paper's, by value."""
    figure = Figure(figsize=(WIDTH, 3.3))
    axes = figure.subplots()
    chosen = [point for point in points if point["axis"] == "structure"]
    for point, colour in zip(chosen, (COLD, HOT, INK), strict=False):
        value, steps = point["value"], point["unseen_per_step"]
        ticks = np.arange(1, len(steps) + 1)
        axes.plot(ticks, steps, "o-", color=colour, markersize=4, label=value, gid=value)
        if value in published:
            ends = published[value]
            axes.plot((1, len(steps)), ends, "x--", color=colour, alpha=0.6, gid=f"paper {value}")
            axes.annotate(
                "paper", (len(steps), ends[-1]), xytext=(6, 0), textcoords="offset points", color=FAINT
            )
        axes.set_xticks(ticks)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("step of the horizon")
    axes.set_ylabel("RMSE on the unseen diagonal, K")
    axes.set_title("Does the error grow along the horizon?")
    if chosen:
        axes.legend(loc="upper left")
    return figure


def _plot_axis(axes: Axes, points: Points) -> None:
    if not points:
        axes.text(0.5, 0.5, "not trained yet", transform=axes.transAxes, ha="center", color=FAINT)
        axes.set(xticks=[], yticks=[])
        return
    places = np.arange(len(points))
    for where, colour in COLOURS.items():
        spread = [point["seen_std"] for point in points] if where == "seen" else None
        ours = [point[where] for point in points]
        bars = axes.errorbar(places, ours, spread, fmt="o-", color=colour, markersize=4, capsize=3, lw=1.2)
        bars[0].set_gid(where)
        paper = np.array([point[f"paper_{where}"] for point in points], dtype=np.float64)  # None becomes NaN
        axes.plot(places + SHIFT, paper, "x", color=colour, markersize=6, gid=f"paper {where}")
    axes.set_xticks(places, [point["value"] for point in points])
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.set_ylim(bottom=0)


def _legend() -> list[Line2D]:
    return [
        Line2D([], [], color=COLD, marker="o", markersize=4, label="seen: mean and spread of three paths"),
        Line2D([], [], color=HOT, marker="o", markersize=4, label="unseen: the diagonal"),
        Line2D([], [], color=INK, marker="x", markersize=6, linestyle="", label="the paper's"),
    ]
