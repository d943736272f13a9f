"""Figures of the paper's other results, from plain numbers: plants, the ladder to real time, inputs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from laserloop.report.figures import BAND, COLD, FAINT, HOT, INK, STYLE, WIDTH
from laserloop.report.run_figures import LOOKS
from laserloop.report.run_story import show_ms

ORANGE = "#e69f00"


class Rung(NamedTuple):
    """One solver on the ladder to real time."""

    name: str
    median: float  # µs
    p99: float
    p999: float


@mpl.rc_context(STYLE)
def draw_plants(
    lines: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    limits: Mapping[str, float],
    distance: Sequence[float],
) -> Figure:
    """T_max along straight lines at constant power, by plant and angle; `limits`: what fine grids tend "
    "to, K."""
    figure = Figure(figsize=(WIDTH, 3.3))
    panels = np.atleast_1d(figure.subplots(1, len(limits), sharey=True))
    for axes, (angle, limit) in zip(panels, limits.items(), strict=True):
        axes.axhline(limit, color=FAINT, linewidth=3.5, alpha=0.7)
        axes.plot(distance, lines["graded"][angle]["peak"], color=COLD, linewidth=1.4, gid=f"graded-{angle}")
        axes.plot(distance, lines["paper"][angle]["peak"], color=ORANGE, linewidth=1.0, linestyle="--")
        axes.plot(distance, lines["paper"][angle]["node"], color=HOT, linewidth=1.4, gid=f"paper-{angle}")
        axes.set_title(f"{angle}° to the grid")
        axes.set_xlabel("mm")
    panels[0].set_ylabel("Tₘₐₓ at constant power, K")
    handles = [
        Line2D([], [], color=FAINT, linewidth=3.5, alpha=0.7, label="limit of fine grids"),
        Line2D([], [], color=COLD, linewidth=1.4, label="graded plant"),
        Line2D([], [], color=HOT, linewidth=1.4, label="paper's plant: hottest node"),
        Line2D([], [], color=ORANGE, linewidth=1.0, linestyle="--", label="paper's plant: between nodes"),
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, columnspacing=1.2)
    return figure


@mpl.rc_context(STYLE)
def draw_ladder(rungs: Sequence[Rung], interval: float, published: float) -> Figure:
    """Time of an answer on a log axis, a rung for each solver; `interval`, `published`: the paper's mean, "
    "µs."""
    figure = Figure(figsize=(WIDTH, 0.52 * len(rungs) + 1.25))
    axes = figure.subplots()
    for y, rung in enumerate(rungs):
        late = rung.median > interval
        colour = HOT if late else COLD
        axes.plot((rung.median, rung.p999), (y, y), color=colour, linewidth=2.2, alpha=0.45)
        axes.plot(rung.median, y, "o", color=colour, markersize=6, gid=f"median-{y}")
        axes.plot((rung.p99,) * 2, (y - 0.14, y + 0.14), color=colour, linewidth=1.6)
        axes.plot((interval,) * 2, (y - 0.22, y + 0.22), color=INK, linewidth=1.4, gid=f"interval-{y}")
        gain = rungs[0].median / rung.median
        faster = (
            f", {gain:.0f} times faster" if y and gain >= 10 else f", {gain:.1f} times faster" if y else ""
        )
        axes.annotate(
            f"{rung.name}: {_show_us(rung.median)}{faster}",
            (0.0, y - 0.26),
            xycoords=("axes fraction", "data"),
            va="bottom",
            fontsize=8,
        )
    axes.plot(published, 0, "D", color=INK, markersize=5, markerfacecolor="none", gid="published")
    axes.set_xscale("log")
    low = min(5.0, *(rung.median / 2 for rung in rungs))
    axes.set_xlim(low, 2 * max(published, *(rung.p999 for rung in rungs)))
    axes.axvspan(low, interval, color=BAND, alpha=0.14, linewidth=0)
    axes.set_ylim(len(rungs) - 0.6, -0.75)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda us, _: _show_us(us)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    handles = [
        Line2D([], [], color=FAINT, marker="o", markersize=5, linestyle="", label="median"),
        Line2D([], [], color=FAINT, marker="|", markersize=8, markeredgewidth=1.6, linestyle="", label="p99"),
        Line2D([], [], color=FAINT, linewidth=2.2, alpha=0.6, label="to p99.9"),
        Line2D([], [], color=INK, marker="D", markersize=5, markerfacecolor="none", linestyle="",
               label=f"the paper's mean, {_show_us(published)}"),
        Patch(color=BAND, alpha=0.25, linewidth=0, label=f"inside the tick of {_show_us(interval)}"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower left", ncols=3, columnspacing=1.2)
    return figure


@mpl.rc_context(STYLE)
def draw_decisions(series: Mapping[str, Sequence[float]], interval: float) -> Figure:
    """How long each decision of a run took, tick by tick, against the control interval; ms."""
    figure = Figure(figsize=(WIDTH, 3.2))
    axes = figure.subplots()
    for (name, times), look in zip(series.items(), LOOKS, strict=False):
        label = f"{name}: median {show_ms(float(np.median(times)))}"
        axes.plot(np.arange(len(times)), times, look[2], color=look[0], markersize=2, label=label)
    axes.set_yscale("log")
    axes.axhline(interval, color=HOT, linewidth=1.2, label=f"{show_ms(interval)}: the next tick begins")
    axes.axhspan(interval, axes.get_ylim()[1], color=HOT, alpha=0.08, linewidth=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ms, _: show_ms(ms)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("tick")
    axes.set_title("How long a decision took")
    figure.legend(loc="outside lower left", ncols=1)
    return figure


@mpl.rc_context(STYLE)
def draw_paths(paths: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Scan paths side by side: title → points, mm; a ring where each begins."""
    figure = Figure(figsize=(WIDTH, 4.7))
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (title, points) in zip(panels.flat, paths.items(), strict=False):
        x, y = np.asarray(points, dtype=np.float64).T
        axes.plot(x, y, color=HOT if "unseen" in title else COLD, linewidth=1.3)
        axes.plot(x[0], y[0], "o", color=INK, markersize=6, markerfacecolor="none")
        axes.set_aspect("equal")
        axes.set_title(title)
    for axes in panels[-1]:
        axes.set_xlabel("x, mm")
    for axes in panels[:, 0]:
        axes.set_ylabel("y, mm")
    return figure


@mpl.rc_context(STYLE)
def draw_excitations(powers: Mapping[str, Sequence[float]]) -> Figure:
    """Power profiles, a panel for each class, W over ticks."""
    figure = Figure(figsize=(WIDTH, 3.6))
    panels = np.atleast_1d(figure.subplots(len(powers), 1, sharex=True, sharey=True))
    for axes, (kind, power) in zip(panels, powers.items(), strict=True):
        axes.stairs(np.asarray(power), color=INK, linewidth=0.9)
        axes.set_title(kind)
    panels[len(panels) // 2].set_ylabel("power, W")
    panels[-1].set_xlabel("tick")
    return figure


@mpl.rc_context(STYLE)
def draw_material(curves: Mapping[str, Any], temperature: Sequence[float]) -> Figure:
    """Properties against temperature, a panel each."""
    figure = Figure(figsize=(WIDTH, 4.2))
    panels = np.atleast_1d(figure.subplots(len(curves), 1, sharex=True))
    for axes, (title, values) in zip(panels, curves.items(), strict=True):
        axes.plot(temperature, values, color=COLD, linewidth=1.5)
        axes.set_title(title)
    panels[-1].set_xlabel("temperature, K")
    return figure


def _show_us(us: float) -> str:
    """Three digits at most, in µs, ms or s."""
    return f"{us:.3g} µs" if us < 999.5 else f"{us / 1e3:.3g} ms" if us < 999.5e3 else f"{us / 1e6:.3g} s"
