"""Figures of closed-loop runs: one function each, from records to a matplotlib Figure."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.report.figures import (
    COLD,
    FAINT,
    HOT,
    INK,
    STYLE,
    WIDTH,
    FloatArray,
    Window,
    add_bar,
    explain_turns,
    explain_window,
    frame,
    mark_turns,
    plot_against,
)
from laserloop.report.record import (
    Record,
    capitalise,
    find_interval,
    find_residual,
    find_sharp_turns,
    mark_counted,
    mark_judged,
    mark_over,
    name_runs,
    predicts,
    read,
    read_margin,
    read_window,
    show_ms,
)

Look = tuple[str, Literal["-", "--", "-.", ":"], str]  # colour, line, marker

LOOKS: tuple[Look, ...] = (  # Okabe and Ito's; lines and markers tell them apart in grey
    (INK, "-", "o"),
    (COLD, "--", "s"),
    ("#cc79a7", "-.", "^"),
    ("#e69f00", ":", "D"),
    ("#56b4e9", "-", "v"),
)
RESIDUALS = LinearSegmentedColormap.from_list(  # the dangerous end, hotter than predicted, is darkest in grey
    "residual", ["#9c3600", "#d98a5c", "#bcc2c8", "#7dbbe2", "#1f86c2"]
)
LEAST_SCALE = 1.0  # K; smaller residuals are no reason for a full colour
FARTHEST = 100.0  # K beyond the truth that a prediction may stretch the axis
LONGEST_HEAD = 58  # characters that fit over a figure
LONGEST_HALF = 44  # over a panel that has another one beside it
LEGEND = 78  # characters that fit under it
HANDLE = 7  # characters that the sign before a label is worth
FASTEST = 1e-4  # ms; a time of zero has no place on a log axis


@mpl.rc_context(STYLE)
def draw_run(record: Record) -> Figure:
    """The truth and its prediction one tick ahead against the window, and the power that was given."""
    figure = Figure(figsize=(WIDTH, 3.9))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.1))
    _plot_temperature(upper, record, INK, "run")
    if predicts(record):
        t, predicted = read(record, "t_s") * 1e3, read(record, "t_predicted_k")
        upper.plot(t, predicted, color=COLD, linewidth=0.8, gid="predicted")
    _scale(upper, _find_limits([record], with_prediction=True), read_window(record))
    upper.set_ylabel("Tₘₐₓ, K")
    upper.set_title(_head(_title([record])[0], _verdict(record)))
    _plot_power(lower, record, LOOKS[0], "power")
    lower.set_xlabel("time, ms")
    lower.set_ylabel("power, W")
    _add_legend(figure, _run_legend(record))
    return figure


@mpl.rc_context(STYLE)
def draw_residual_map(record: Record) -> Figure:
    """The path, coloured by the residual prediction − truth, with its worst place."""
    residual = find_residual(record)
    known = np.flatnonzero(np.isfinite(residual))
    if not len(known):
        raise BadInput(
            f"a residual map needs predictions, but the controller {record['controller']!r} made none "
            "in ticks that count; draw a run that predicts."
        )
    figure = Figure(figsize=(WIDTH, 4.8))
    axes = figure.subplots()
    points = np.column_stack((read(record, "x_mm"), read(record, "y_mm")))
    axes.plot(*points.T, color=FAINT, linewidth=0.8, gid="path")
    order = known[np.argsort(np.abs(residual[known]))]  # where the beam comes by twice, the worse is seen
    lines = _colour_path(axes, points, residual, order)
    frame(axes, points, 0.45)  # mm, room for a note beyond the path
    _note_worst(axes, points, residual, read(record, "t_s"), int(order[-1]))
    axes.set_title(_head(_title([record])[0], "prediction − truth"))
    add_bar(lines, [axes], "residual, K (vermilion: hotter than predicted; thin: not counted)")
    return figure


@mpl.rc_context(STYLE)
def draw_comparison(records: Sequence[Record]) -> Figure:
    """T_max under several controllers, a panel each, and their powers together."""
    if not records:
        raise BadInput("a comparison needs at least one run, but got none; control one first.")
    n = len(records)
    figure = Figure(figsize=(WIDTH, 1.3 * n + 2.0))
    *panels, lowest = figure.subplots(n + 1, 1, sharex=True, height_ratios=(*[1.0] * n, 1.05))
    titles = _plot_panels(figure, panels, records, LONGEST_HEAD)
    for i, (record, look) in enumerate(zip(records, cycle(LOOKS), strict=False)):
        _plot_power(lowest, record, look, f"power-{i}")
    panels[n // 2].set_ylabel("Tₘₐₓ, K")
    lowest.set_xlim(0, max((_end(record) for record in records), default=1.0))
    lowest.set_ylabel("power, W")
    lowest.set_xlabel("time, ms")
    handles = [
        Line2D([], [], color=look[0], linestyle=look[1], linewidth=1.3, label=_legible(title))
        for title, look in zip(titles, cycle(LOOKS), strict=False)
    ]
    _add_legend(figure, [*handles, *_list_signs()])
    return figure


@mpl.rc_context(STYLE)
def draw_side_by_side(records: Sequence[Record]) -> Figure:
    """T_max under several controllers in two columns, as wide as a page."""
    rows = (len(records) + 1) // 2
    figure = Figure(figsize=(2 * WIDTH - 1.6, 1.75 * rows + 0.9))
    panels = list(figure.subplots(rows, 2, sharex=True, squeeze=False).ravel())
    _plot_panels(figure, panels, records, LONGEST_HALF)
    for axes in panels[: len(records) : 2]:
        axes.set_ylabel("Tₘₐₓ, K")
    for axes in panels[-2:]:
        axes.set_xlabel("time, ms")
    for axes in panels[len(records) :]:
        axes.set_visible(False)
    figure.legend(handles=_list_signs(), loc="outside lower left", ncols=5, columnspacing=1.2)
    return figure


def _plot_panels(
    figure: Figure, panels: Sequence[Axes], records: Sequence[Record], longest: int
) -> list[str]:
    """T_max of each run in a panel of its own, all on one scale, under what they share; their names."""
    limits, titles = _find_limits(records), _title(records)
    for i, (axes, record, look) in enumerate(zip(panels, records, cycle(LOOKS), strict=False)):
        _plot_temperature(axes, record, look[0], str(i))
        _scale(axes, limits, read_window(record))
        axes.set_title(_head(titles[i], _verdict(record), longest))
    figure.suptitle(_name_setting(records), fontsize=STYLE["axes.titlesize"], ha="left", x=0.02)
    return titles


@mpl.rc_context(STYLE)
def draw_tick_times(records: Sequence[Record]) -> Figure:
    """How long each decision took, and how much of that the solver, against the control interval."""
    interval = max((find_interval(record) for record in records), default=0.0) * 1e3
    if not interval:
        raise BadInput("a figure of tick times needs at least one tick, but got none; control a run first.")
    figure = Figure(figsize=(WIDTH, 3.5))
    axes = figure.subplots()
    handles = []
    for i, (title, record, look) in enumerate(zip(_title(records), records, cycle(LOOKS), strict=False)):
        _plot_times(axes, record, look, i)
        label = _legible(f"{title}: median {show_ms(record['tick_ms']['median'])}")
        handles.append(Line2D([], [], color=look[0], marker=look[2], markersize=3, linestyle="", label=label))
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, interval / 3), max(high, interval * 3))
    axes.axhspan(interval, axes.get_ylim()[1], color=HOT, alpha=0.1, linewidth=0)
    axes.axhline(interval, color=HOT, linewidth=1.2, gid="interval")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ms, _: show_ms(ms)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(0, max(_end(record) for record in records))
    axes.set_xlabel("time along the path, ms")
    axes.set_title("How long a decision takes")
    if any(np.any(read(record, "solve_ms") > 0) for record in records):
        handles.append(Line2D([], [], color=INK, linewidth=0.7, alpha=0.7, label="line: the solver alone"))
    label = f"{show_ms(interval)}: the next tick begins"
    _add_legend(figure, [*handles, Line2D([], [], color=HOT, linewidth=1.2, label=label)])
    return figure


def _plot_temperature(axes: Axes, record: Record, colour: str, name: str) -> None:
    """The truth against the window; what is too hot is filled and, if it counts, dotted."""
    t, T = read(record, "t_s") * 1e3, read(record, "t_true_k")
    window, over = read_window(record), mark_over(record)
    plot_against(axes, window, t, T, colour=colour, gid=f"truth-{name}")
    if margin := read_margin(record):
        axes.axhline(window[1] - margin, color=INK, linewidth=0.9, linestyle=":", gid=f"tightened-{name}")
    axes.plot(t[over], T[over], "o", color=HOT, markersize=2.4, gid=f"over-{name}")
    _mark_settling(axes, record, name)
    axes.set_xlim(0, _end(record))
    mark_turns(axes, t[find_sharp_turns(record)], f"turns-{name}")


def _mark_settling(axes: Axes, record: Record, name: str) -> None:
    """Shade where T_max may be below the window: heating up at the start and after dark moves, and these."""
    _, settled = mark_counted(record)
    if not settled.any():
        return
    t = np.concatenate(([0.0], read(record, "t_s") * 1e3))
    changes = np.flatnonzero(np.diff(np.concatenate(([False], ~settled, [False]))))
    for first, last in changes.reshape(-1, 2):
        ends = t[min(last + 1, len(settled))]
        axes.axvspan(t[first], ends, color=FAINT, alpha=0.25, linewidth=0)
        axes.axvline(ends, color=FAINT, linewidth=0.8, gid=f"settled-{name}")


def _plot_power(axes: Axes, record: Record, look: Look, gid: str) -> None:
    t, power = read(record, "t_s") * 1e3, read(record, "power_w")
    if not len(t):
        return
    edges = np.concatenate(([t[0] - find_interval(record) * 1e3], t))
    axes.plot(
        edges,
        np.concatenate((power[:1], power)),
        color=look[0],
        linestyle=look[1],
        linewidth=1.0,
        drawstyle="steps-pre",
        gid=gid,
    )
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.08 * power.max(), 1.0))


def _plot_times(axes: Axes, record: Record, look: Look, i: int) -> None:
    t = read(record, "t_s") * 1e3
    whole, solver = read(record, "tick_ms"), read(record, "solve_ms")
    axes.plot(t, np.maximum(whole, FASTEST), look[2], color=look[0], markersize=1.8, gid=f"tick-{i}")
    if np.any(solver > 0):
        axes.plot(t, np.maximum(solver, FASTEST), color=look[0], linewidth=0.7, alpha=0.7, gid=f"solve-{i}")


def _colour_path(
    axes: Axes, points: FloatArray, values: FloatArray, order: NDArray[np.intp]
) -> LineCollection:
    """The ticks of `order` as hops in colours symmetric about 0; of the first only its end is known."""
    before = np.vstack((points[:1], points[:-1]))
    half = max(float(np.abs(values[order]).max()), LEAST_SCALE)
    lines = LineCollection(
        list(np.stack((before, points), axis=1)[order]),
        cmap=RESIDUALS,
        norm=Normalize(-half, half),
        linewidth=4,
        gid="residual",
    )
    lines.set_array(values[order])
    lines.set_capstyle("round")
    axes.add_collection(lines)
    return lines


def _note_worst(axes: Axes, points: FloatArray, residual: FloatArray, t: FloatArray, k: int) -> None:
    """The worst place, with its value, place and time where the path leaves room for them."""
    x, y = points[k]
    axes.plot(x, y, "o", color=INK, markersize=11, markerfacecolor="none", markeredgewidth=1.3, gid="worst")
    text = f"worst {residual[k]:+.1f} K\nat ({x:.2f}, {y:.2f}) mm\nt = {t[k] * 1e3:.2f} ms"
    axes.annotate(
        text.replace("-", "−"),
        (x, y),
        xytext=_find_room(points, points[k], *axes.get_xlim(), *axes.get_ylim()),
        ha="center",
        va="center",
        arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.7, "shrinkB": 6},
        gid="note",
    )


def _find_room(
    points: FloatArray, worst: FloatArray, left: float, right: float, low: float, high: float
) -> tuple[float, float]:
    """The centre of a note that covers no point of the path, as near to the worst one as can be."""
    box = np.array([0.20, 0.11]) * (right - left)  # half of the note's size
    x, y = np.meshgrid(
        np.linspace(left + box[0], right - box[0], 25), np.linspace(low + box[1], high - box[1], 25)
    )
    places = np.column_stack((x.ravel(), y.ravel()))
    outside = np.max(np.abs(points[None] - places[:, None]) / box, axis=2).min(axis=1)  # < 1: covers a point
    away = np.hypot(*(places - worst).T) / (right - left)
    x_best, y_best = places[np.argmin(away + 10 * np.maximum(1 - outside, 0))]
    return float(x_best), float(y_best)


def _scale(axes: Axes, limits: tuple[float, float], window: Window) -> None:
    """An axis whose ticks name the window."""
    axes.set_ylim(limits)
    step = 20.0 if np.ptp(limits) < 120 else 50.0 if np.ptp(limits) < 400 else 200.0
    others = np.arange(np.ceil(limits[0] / step), limits[1] / step) * step
    apart = np.minimum(np.abs(others - window[0]), np.abs(others - window[1])) > 0.6 * step
    beside = others[apart & ((others < window[0]) | (others > window[1]))]
    crowded = np.ptp(window) < 0.1 * np.ptp(limits)
    axes.set_yticks(sorted({*(window[1:] if crowded else window), *beside}))


def _find_limits(records: Sequence[Record], *, with_prediction: bool = False) -> tuple[float, float]:
    """An axis that shows the window and every truth that counts, and a prediction that is not absurd, K."""
    values = [np.array(read_window(record)) for record in records]
    values += [read(record, "t_true_k")[mark_judged(record)] for record in records]
    together = np.concatenate(values)
    low, high = float(np.nanmin(together)), float(np.nanmax(together))
    if with_prediction:
        predicted = np.concatenate([read(record, "t_predicted_k")[mark_judged(record)] for record in records])
        near = np.clip(predicted[np.isfinite(predicted)], low - FARTHEST, high + FARTHEST)
        low, high = min(low, *near, high), max(low, *near, high)
    return low - 0.12 * (high - low), high + 0.15 * (high - low)


def _verdict(record: Record) -> str:
    """A few words for a title."""
    if record["t_max_k"] is None:
        return "no tick counts"
    over = record["n_over"]
    what = f"{over} tick{'s' * (over != 1)} too hot" if over else "never too hot"
    lowest = np.nanmin(read(record, "t_true_k")[mark_counted(record)[1]])  # older records do not tell
    return f"{lowest:.0f} to {record['t_max_k']:.0f} K, {what}"


def _name_setting(records: Sequence[Record]) -> str:
    """Path, plant and window, each as far as all runs share it."""
    paths = {Path(record["path"]).name for record in records}
    plants = {record["plant"] for record in records}
    windows = {read_window(record) for record in records}
    words = [f"path {next(iter(paths))}"] if len(paths) == 1 else []
    words += [f"plant {next(iter(plants))}"] if len(plants) == 1 else []
    words += ["Tₘₐₓ wanted in {:g}–{:g} K".format(*window) for window in windows if len(windows) == 1]
    return ", ".join(words)


def _title(records: Sequence[Record]) -> list[str]:
    return [capitalise(name) for name in name_runs(records)]


def _head(title: str, rest: str, longest: int = LONGEST_HEAD) -> str:
    """A heading, on two lines if one is too short."""
    return f"{title}: {rest}" if len(title) + len(rest) < longest else f"{title}:\n{rest}"


def _legible(label: str) -> str:
    """A label that a legend shows: matplotlib hides those that begin with an underscore."""
    return f" {label}" if label.startswith("_") else label


def _add_legend(figure: Figure, handles: Sequence[Line2D | Patch]) -> None:
    """Under the figure, in as many columns as its width has room for."""
    lengths = np.array([len(str(handle.get_label())) + HANDLE for handle in handles])

    def is_narrow(columns: int) -> bool:
        return sum(int(part.max()) for part in np.array_split(lengths, columns)) <= LEGEND

    columns = next((n for n in (3, 2) if n <= len(handles) and is_narrow(n)), 1)
    figure.legend(handles=handles, loc="outside lower left", ncols=columns, columnspacing=1.2)


def _run_legend(record: Record) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = [Line2D([], [], color=INK, linewidth=1.3, label="truth")]
    if predicts(record):
        label = "predicted one tick ahead"
        handles.append(Line2D([], [], color=COLD, linewidth=0.8, label=label))
    if margin := read_margin(record):
        label = f"bound − δ, δ = {margin:.3g} K"
        handles.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=":", label=label))
    return [*handles, *_list_signs()]


def _list_signs() -> list[Line2D | Patch]:
    dark = Patch(color=FAINT, alpha=0.35, linewidth=0, label="heating up or dark")
    return [*explain_window(), dark, explain_turns()]


def _end(record: Record) -> float:
    """When the last tick ends, ms."""
    t = read(record, "t_s")
    return float(t[-1]) * 1e3 if len(t) else 1.0
