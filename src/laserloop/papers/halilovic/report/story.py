"""The picture that tells the paper's story: one unseen path under several models."""

from collections.abc import Sequence
from itertools import cycle

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from laserloop.report.figures import BAND, COLD, FAINT, HOT, INK, STYLE, WIDTH, mark_turns
from laserloop.report.run_figures import LOOKS, Look
from laserloop.report.run_record import (
    Record,
    find_sharp_turns,
    mark_judged,
    mark_over,
    read,
    read_margin,
    read_window,
)

MAP = 0.26  # width of a map, in that of a history
DOT = 1.6  # points², area of a dot for a kelvin of excess


@mpl.rc_context(STYLE)
def draw_story(records: Sequence[Record], names: Sequence[str]) -> Figure:
    """T_max against the window, a panel for each run; beside it where the plate was too hot; below the "
    "powers."""
    n = len(records)
    figure = Figure(figsize=(WIDTH, 1.22 * n + 1.75))
    axes = figure.subplots(
        n + 1, 2, sharex="col", width_ratios=(1, MAP), height_ratios=(*[1.0] * n, 0.9), squeeze=False
    )
    limits = _find_limits(records)
    for i, (record, name, look) in enumerate(zip(records, names, cycle(LOOKS), strict=False)):
        _plot_history(axes[i, 0], record, look, i)
        axes[i, 0].set_ylim(limits)
        axes[i, 0].set_yticks(read_window(record))
        axes[i, 0].set_title(f"{name}: {_judge(record)}")
        _plot_map(axes[i, 1], record, i)
        _plot_power(axes[n, 0], record, look, i)
    axes[n // 2, 0].set_ylabel("Tₘₐₓ, K")
    lowest = axes[n, 0]
    lowest.set(xlabel="time, ms", ylabel="power, W", xlim=(0, max(read(r, "t_s")[-1] for r in records) * 1e3))
    axes[n, 1].set_axis_off()
    _add_key(axes[n, 1], names)
    figure.legend(handles=_legend(records), loc="outside lower left", ncols=3, columnspacing=1.2)
    return figure


def _plot_history(axes: Axes, record: Record, look: Look, i: int) -> None:
    t, T = read(record, "t_s") * 1e3, read(record, "t_true_k")
    (low, high), settled = read_window(record), mark_judged(record)
    axes.axhspan(low, high, color=BAND, alpha=0.16, linewidth=0)
    axes.fill_between(t, T, high, where=(high < T).tolist(), interpolate=True, color=HOT, alpha=0.75, lw=0)
    axes.fill_between(t, T, low, where=(low > T).tolist(), interpolate=True, color=COLD, alpha=0.2, lw=0)
    axes.axhline(high, color=HOT, linewidth=0.9)
    if margin := read_margin(record):
        axes.axhline(high - margin, color=INK, linewidth=0.9, linestyle=":", gid=f"tightened-{i}")
    axes.plot(t, T, color=look[0], linewidth=1.1, gid=f"truth-{i}")
    over = mark_over(record)
    axes.plot(t[over], T[over], "o", color=HOT, markersize=2.6, gid=f"over-{i}")
    if not settled.all() and settled.any():
        axes.axvspan(0, t[settled][0], color=FAINT, alpha=0.25, linewidth=0)
    mark_turns(axes, t[find_sharp_turns(record)], f"turns-{i}")


def _plot_map(axes: Axes, record: Record, i: int) -> None:
    """The path, and a dot as large as the excess wherever the plate was too hot."""
    x, y, over = read(record, "x_mm"), read(record, "y_mm"), mark_over(record)
    excess = (read(record, "t_true_k") - read_window(record)[1])[over]
    axes.plot(x, y, color=FAINT, linewidth=1.0)
    axes.scatter(
        x[over], y[over], s=6 + DOT * excess, color=HOT, alpha=0.8, linewidth=0, zorder=3, gid=f"where-{i}"
    )
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.set_axis_off()


def _plot_power(axes: Axes, record: Record, look: Look, i: int) -> None:
    t, power = read(record, "t_s") * 1e3, read(record, "power_w")
    axes.plot(
        t, power, color=look[0], linestyle=look[1], linewidth=0.9, drawstyle="steps-pre", gid=f"power-{i}"
    )
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.08 * float(power.max(initial=1.0))))


def _add_key(axes: Axes, names: Sequence[str]) -> None:
    handles = [
        Line2D([], [], color=look[0], linestyle=look[1], linewidth=1.1, label=name)
        for name, look in zip(names, cycle(LOOKS), strict=False)
    ]
    axes.legend(handles=handles, loc="center left", fontsize=7, handlelength=1.6, borderaxespad=0.0)


def _find_limits(records: Sequence[Record]) -> tuple[float, float]:
    """Every settled truth and the window, K."""
    parts = [np.array(read_window(record)) for record in records]
    parts += [read(record, "t_true_k")[mark_judged(record)] for record in records]
    together = np.concatenate(parts)
    low, high = float(together.min()), float(together.max())
    return low - 0.1 * (high - low), high + 0.2 * (high - low)


def _judge(record: Record) -> str:
    over, top = record["n_over"], read_window(record)[1]
    if not over:
        return f"never above {top:g} K"
    return f"{over} tick{'s' * (over != 1)} above {top:g} K, by up to {record['overshoot_k']:.1f} K"


def _legend(records: Sequence[Record]) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = [
        Patch(color=BAND, alpha=0.25, linewidth=0, label="window"),
        Patch(color=HOT, alpha=0.75, linewidth=0, label="too hot (map: where)"),
        Patch(color=COLD, alpha=0.3, linewidth=0, label="too cold"),
        Line2D([], [], color=INK, marker="v", markersize=4, linestyle="", label="sharp turn"),
        Patch(color=FAINT, alpha=0.35, linewidth=0, label="heating up, not counted"),
    ]
    margins = [read_margin(record) for record in records if read_margin(record)]
    if margins:
        label = f"bound − δ, δ = {margins[0]:.3g} K"
        handles.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=":", label=label))
    return handles
