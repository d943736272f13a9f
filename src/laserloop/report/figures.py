"""Figures of an episode: one function each, from data to a matplotlib Figure that belongs to nobody else."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure, FigureBase
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.episode import WINDOW, Episode
from laserloop.report.record import describe_power
from laserloop.store import save

FloatArray = NDArray[np.float64]
Window = tuple[float, float]  # K

FORMATS = (".png", ".svg", ".pdf")

INK = "#1f2933"  # text, frames and whatever lies inside the window
FAINT = "#8a94a0"
HOT = "#d55e00"  # Okabe and Ito's vermilion and blue differ for every kind of colour vision
COLD = "#0072b2"
BAND = "#009e73"
STYLE: Any = {
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "text.parse_math": False,  # the name of a file may hold $
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.solid_capstyle": "round",
    "figure.constrained_layout.use": True,
}
WIDTH = 4.8  # inch; on a telephone's screen the type then keeps its size
MARGIN = 4.0  # beam widths shown around the path
ZOOM = 4.0  # beam widths shown around the hottest point
FEW_TURNS = 12  # more of them get no line down through the figure


def save_figure(file: Path, figure: Figure, *, dpi: int = 200) -> None:
    """Save a figure in the format that the name ends in."""
    check_format(file)
    stream = io.BytesIO()
    figure.savefig(stream, format=file.suffix.lower()[1:], dpi=dpi)
    save(file, stream.getvalue())


def check_format(file: Path) -> None:
    """Refuse an ending that is no figure format."""
    if file.suffix.lower() not in FORMATS:
        raise BadInput(f"a figure's file must end in {', '.join(FORMATS)}, but got {file.name!r}; rename it.")


@mpl.rc_context(STYLE)
def draw_history(episode: Episode, *, window: Window = WINDOW) -> Figure:
    """T_max over time against the window."""
    figure = Figure(figsize=(WIDTH, 3.3 if _varies(episode) else 2.7))
    _plot_history(figure, episode, window, legend_columns=3)
    return figure


@mpl.rc_context(STYLE)
def draw_overview(episode: Episode, *, window: Window = WINDOW) -> Figure:
    """All of an episode on one sheet."""
    figure = Figure(figsize=(2 * WIDTH, 6.6))
    (top,), (bottom,) = figure.subfigures(2, 1, squeeze=False, height_ratios=(2.9, 3.7))
    _plot_history(top, episode, window, legend_columns=6)
    ((left, right),) = bottom.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.25))
    _plot_path(left.subplots(), episode, window)
    whole, close = right.subplots(1, 2)
    _plot_surface(whole, close, episode, window)
    return figure


def _find_limits(episode: Episode, window: Window) -> tuple[float, float]:
    """An axis of temperature that shows the window and every T_max that counts, K."""
    summary = episode.summarise(window)
    low, high = min(window[0], summary.lowest), max(window[1], summary.highest)
    return low - 0.12 * (high - low), high + 0.12 * (high - low)


def _plot_history(
    figure: FigureBase,
    episode: Episode,
    window: Window,
    *,
    legend_columns: int,
) -> None:
    if _varies(episode):
        axes, lowest = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        _plot_power(lowest, episode)
    else:
        axes = lowest = figure.subplots()
    _plot_temperature(axes, episode, window)
    axes.set_ylim(_find_limits(episode, window))
    lowest.set_xlabel("time, ms")
    figure.legend(
        handles=_history_legend(episode), loc="outside lower left", ncols=legend_columns, columnspacing=1.2
    )


def _plot_temperature(axes: Axes, episode: Episode, window: Window) -> None:
    t = episode.t * 1e3
    other = episode.t_max if episode.settings.subgrid else episode.t_peak
    axes.plot(t, other, color=FAINT, linewidth=0.8, gid="other")
    plot_against(axes, window, t, episode.temperature, width=1.5, gid="t_max")
    axes.set_xlim(0, t[-1])
    mark_turns(axes, t[episode.turns])
    axes.set_ylabel("Tₘₐₓ, K")
    axes.set_title(f"Tₘₐₓ on the {episode.plant} plant, {describe_power(episode)}")


def plot_against(
    axes: Axes,
    window: Sequence[float],
    t: FloatArray,
    T: FloatArray,
    *,
    colour: str = INK,
    width: float = 1.3,
    gid: str,
) -> None:
    """A temperature over time against its window; what lies outside is filled."""
    low, high = window
    axes.axhspan(low, high, color=BAND, alpha=0.16, linewidth=0)
    for bound, outside, fill in ((high, high < T, HOT), (low, low > T, COLD)):
        axes.fill_between(t, T, bound, where=outside.tolist(), interpolate=True, color=fill, alpha=0.35, lw=0)
    axes.plot(t, T, color=colour, linewidth=width, gid=gid)


def explain_window() -> list[Line2D | Patch]:
    """What a legend says of `plot_against`."""
    return [
        Patch(color=BAND, alpha=0.25, linewidth=0, label="window"),
        Patch(color=HOT, alpha=0.5, linewidth=0, label="too hot"),
        Patch(color=COLD, alpha=0.5, linewidth=0, label="too cold"),
    ]


def explain_turns() -> Line2D:
    """What a legend says of `mark_turns`."""
    return Line2D([], [], color=INK, marker="v", markersize=4, linestyle="", label="sharp turn")


def mark_turns(axes: Axes, times: FloatArray, gid: str = "turns") -> None:
    """Triangles along the top at some times, ms."""
    top = axes.get_xaxis_transform()
    axes.plot(
        times,
        np.full(len(times), 0.975),
        "v",
        color=INK,
        markersize=4,
        transform=top,
        linestyle="",
        gid=gid,
    )
    if len(times) <= FEW_TURNS:
        for time in times:
            axes.axvline(time, color=INK, linewidth=0.6, alpha=0.5, linestyle=(0, (1, 2)), zorder=0.5)


def _plot_power(axes: Axes, episode: Episode) -> None:
    edges = np.concatenate(([0.0], episode.t)) * 1e3
    axes.stairs(episode.power, edges, color=INK, linewidth=0.8)
    axes.set_ylim(0, 1.08 * episode.power.max())
    axes.set_ylabel("power, W")


def _history_legend(episode: Episode) -> list[Line2D | Patch]:
    node, peak = "hottest node", "peak between nodes"
    own, other = (peak, node) if episode.settings.subgrid else (node, peak)
    return [
        Line2D([], [], color=INK, linewidth=1.5, label=f"Tₘₐₓ: {own}"),
        Line2D([], [], color=FAINT, linewidth=0.8, label=other),
        explain_turns(),
        *explain_window(),
    ]


def _plot_path(axes: Axes, episode: Episode, window: Window) -> None:
    points = np.vstack((episode.start, episode.positions)) * 1e3
    scale = _scale_around(episode, window)
    lines = LineCollection(
        list(np.stack((points[:-1], points[1:]), axis=1)),
        cmap=scale.cmap,
        norm=scale.norm,
        linewidth=4,
        gid="path",
    )
    lines.set_array(episode.temperature)
    lines.set_capstyle("round")
    axes.add_collection(lines)
    axes.plot(*points[0], "o", color=INK, markersize=7, markerfacecolor="none", gid="start")
    axes.annotate("start", points[0], xytext=(7, 0), textcoords="offset points", va="center")
    hottest = points[episode.hottest_tick + 1]
    axes.plot(*hottest, "x", color=INK, markersize=6, gid="hottest")
    frame(axes, points)
    axes.set_title(f"Where: {Path(episode.path).name} on the {episode.plant} plant")
    add_bar(lines, [axes], "Tₘₐₓ, K (grey: inside the window; ×: hottest)", extend="both")


def _scale_around(episode: Episode, window: Window) -> ScalarMappable:
    """Colours centred on the window: blue below, grey inside, vermilion above."""
    middle, half_window = (window[0] + window[1]) / 2, (window[1] - window[0]) / 2
    summary = episode.summarise(window)
    half = max(summary.highest - middle, middle - summary.lowest, 2 * half_window)
    low, high = 0.5 - 0.5 * half_window / half, 0.5 + 0.5 * half_window / half
    stops = [
        (0.0, COLD),
        (low, "#8fc1e0"),
        (low, "#a3a9ae"),
        (high, "#a3a9ae"),
        (high, "#f3b98f"),
        (1.0, HOT),
    ]
    colours = LinearSegmentedColormap.from_list("around the window", stops)
    return ScalarMappable(Normalize(middle - half, middle + half), colours)


def _plot_surface(whole: Axes, close: Axes, episode: Episode, window: Window) -> None:
    surface, sigma = episode.hottest, episode.settings.process.beam.sigma
    x, y, T = surface.x * 1e3, surface.y * 1e3, surface.temperature
    points = np.vstack((episode.start, episode.positions)) * 1e3
    beam = episode.positions[episode.hottest_tick] * 1e3
    centre = episode.peak_positions[episode.hottest_tick] * 1e3
    for name, axes in (("whole", whole), ("close", close)):
        mesh = axes.pcolormesh(
            x,
            y,
            T,
            cmap="inferno",
            vmin=episode.settings.process.ambient,
            vmax=T.max(),
            shading="nearest",
            rasterized=True,
        )
        axes.plot(*points.T, color="white", linewidth=0.7, alpha=0.55)
        levels = [level for level in window if T.min() < level < T.max()]
        if levels:
            styles = ["--" if level == window[0] else "-" for level in levels]
            axes.contour(x, y, T, levels=levels, colors="#56b4e9", linewidths=1.3, linestyles=styles)
        axes.plot(*beam, "+", color="white", markersize=9, markeredgewidth=1.6, gid=f"beam-{name}")
    frame(whole, points, MARGIN * sigma * 1e3)
    frame(close, centre[None, :], ZOOM * sigma * 1e3)
    close.set_ylabel("")
    whole.set_title(f"Surface at {surface.time * 1e3:.1f} ms")
    close.set_title(f"{episode.plant}, node by node")
    add_bar(mesh, [whole, close], f"K (lines: – – {window[0]:g} K, —— {window[1]:g} K; +: beam)")


def add_bar(mappable: ScalarMappable, axes: list[Axes], label: str, *, extend: str = "neither") -> None:
    """A bar of colours under some axes."""
    bar = axes[0].figure.colorbar(
        mappable, ax=axes, location="bottom", fraction=0.05, aspect=45, pad=0.02, extend=extend
    )
    bar.set_label(label)
    bar.outline.set_visible(False)


def frame(axes: Axes, points: FloatArray, margin: float = 0.15) -> None:
    """A square in mm around some points."""
    low, high = points.min(axis=0), points.max(axis=0)
    (x, y), half = (low + high) / 2, np.max(high - low) / 2 + margin
    axes.set_xlim(x - half, x + half)
    axes.set_ylim(y - half, y + half)
    axes.set_aspect("equal")
    axes.set_xlabel("x, mm")
    axes.set_ylabel("y, mm")
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def _varies(episode: Episode) -> bool:
    return float(np.ptp(episode.power)) > 0
