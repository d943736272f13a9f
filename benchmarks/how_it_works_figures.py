"""The pictures of docs/how-it-works.md, each from plain numbers."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from laserloop import ScanPath
from laserloop.report.figures import BAND, COLD, FAINT, HOT, INK, STYLE

TICK_MS = 0.125
TURN = 39.5  # ticks, until the first turn of the diagonal
WIDE = 7.2  # inch
WINDOW = (760.0, 800.0)


@mpl.rc_context(STYLE)
def draw_ages(found: dict[str, Any]) -> Figure:
    """Which heat makes the peak: on a straight line, and after a turn."""
    figure = Figure(figsize=(WIDE, 2.7))
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("On the straight line", "Just after a sharp turn")
    for axes, title, (now, shares) in zip(panels, titles, found["ages_k"].items(), strict=True):
        age = TICK_MS * (np.arange(len(shares) - 1) + 0.5)
        before = np.arange(len(shares) - 1) > int(now) - TURN
        turned = bool(int(now) > TURN)
        colours = [HOT if turned and old else COLD for old in before]
        axes.bar(age, shares[:-1], width=0.8 * TICK_MS, color=colours)
        axes.set_title(title)
        axes.set_xlabel("age of the heat, ms")
        if turned:
            back = sum(share for share, old in zip(shares, [*before, True], strict=True) if old)
            axes.text(
                0.98, 0.8, f"before the turn: {back:.0f} K", color=HOT, ha="right", transform=axes.transAxes
            )
        axes.text(0.98, 0.92, f"all together: {sum(shares):.0f} K", ha="right", transform=axes.transAxes)
    panels[0].set_ylabel("part of the rise at the peak, K")
    return figure


@mpl.rc_context(STYLE)
def draw_path(path: ScanPath) -> Figure:
    """A path on the plate, and where it turns."""
    figure = Figure(figsize=(WIDE / 2, WIDE / 2.3), layout="constrained")
    axes = figure.subplots()
    x, y = 1e3 * path.positions.T
    axes.plot(x, y, color=INK, linewidth=1.5)
    axes.plot(x[0], y[0], "o", color=COLD, label="begin")
    turns = np.diff(np.unwrap(np.arctan2(np.diff(y), np.diff(x))))
    sharp = np.flatnonzero(np.abs(turns) > 1.2) + 1
    axes.plot(x[sharp], y[sharp], "v", color=HOT, label="sharp turn")
    axes.set_aspect("equal")
    axes.set_xlabel("x, mm")
    axes.set_ylabel("y, mm")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


@mpl.rc_context(STYLE)
def draw_loop(found: dict[str, Any]) -> Figure:
    """Constant power, plate and twin; then the loop closed, and its power."""
    figure = Figure(figsize=(WIDE, 4.6))
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 1.6))
    loop = found["loop"]
    time = TICK_MS * np.arange(1, len(found["plate_k"]) + 1)
    for axes in (top, middle):
        axes.axhspan(*WINDOW, color=BAND, alpha=0.2, linewidth=0)
        axes.set_ylabel("Tₘₐₓ, K")
    top.plot(time, found["plate_k"], color=INK, label="the plate, simulated")
    top.plot(time, found["twin_k"], "--", color=HOT, label="the twin, without any measurement")
    top.set_title(f"Constant {found['power_w']:.0f} W: the turn is seen coming")
    top.set_ylim(650, 900)
    top.legend(loc="upper right")
    middle.plot(time, loop["t_max_k"], color=INK)
    middle.set_ylim(730, 830)
    middle.set_title(
        f"Planned power: {loop['score']['t_min_k']:.0f} to {loop['score']['t_max_k']:.0f} K once heated up"
    )
    bottom.step(time, loop["power_w"], where="pre", color=COLD)
    bottom.axhline(found["power_w"], color=FAINT, linewidth=0.8)
    bottom.set(ylabel="power, W", xlabel="time, ms", ylim=(0, 21))
    return figure


@mpl.rc_context(STYLE)
def draw_grid(found: dict[str, Any], plant: dict[str, Any]) -> Figure:
    """The hot spot under the paper's nodes, and T_max along a line at constant power."""
    figure = Figure(figsize=(WIDE, 3.2))
    spot, line = figure.subplots(1, 2, width_ratios=(1, 1.35))
    seen = found["hot_spot"]
    x0, y0 = seen["peak_um"]
    half = seen["half_um"]
    extent = (x0 - half, x0 + half, y0 - half, y0 + half)
    image = spot.imshow(seen["t_k"], extent=extent, origin="lower", cmap="inferno", interpolation="bilinear")
    nodes = np.stack(np.meshgrid(seen["x_um"], seen["y_um"]), axis=-1).reshape(-1, 2)
    spot.plot(*nodes.T, "+", color="#ffffff", markersize=5)
    spot.plot(x0, y0, "o", color="#0072b2", markersize=5)
    hottest = np.max(seen["nodes_k"])
    spot.set_title(f"Peak {seen['peak_k']:.0f} K, hottest node {hottest:.0f} K", fontsize=8.5)
    spot.set(xticks=[], yticks=[], xlabel=f"{2 * half:.0f} µm; crosses: nodes 100 µm apart")
    figure.colorbar(image, ax=spot, label="K", shrink=0.85)
    distance = plant["distance_mm"]
    line.axhline(
        plant["reference"]["45"]["limit_k"],
        color=FAINT,
        linewidth=4,
        alpha=0.6,
        label="limit of ever finer grids",
    )
    line.plot(distance, plant["lines"]["graded"]["45"]["peak"], color=COLD, label="graded")
    line.plot(
        distance, plant["lines"]["paper"]["45"]["node"], color=HOT, label="100 µm grid (paper), hottest node"
    )
    line.set(xlabel="way along a 45° line, mm", ylabel="Tₘₐₓ, K", ylim=(700, 960))
    line.set_title("14 W, constant", fontsize=8.5)
    line.legend(loc="upper left", ncols=1)
    return figure


@mpl.rc_context(STYLE)
def draw_margins(found: dict[str, Any]) -> Figure:
    """Each run's farthest excursion, the promise, and what becomes of it when the plant drifts."""
    figure = Figure(figsize=(WIDE, 3.1))
    panels = figure.subplots(1, 2, sharey=True)
    margin = found["margins"]["above_k"]
    titles = {"plain": "Runs like those of the calibration", "drift": "The laser grows slower, unknown"}
    for axes, (name, title) in zip(panels, titles.items(), strict=True):
        scores, follow = (np.array(found[name][key])[:, 0] for key in ("scores_k", "follow_k"))
        runs, kept = np.arange(1, len(scores) + 1), scores <= margin
        axes.plot(
            runs[kept], scores[kept], ".", color=FAINT, markersize=5, label="a run that kept the margin"
        )
        axes.plot(runs[~kept], scores[~kept], "x", color=HOT, markersize=5, label="a run that did not")
        axes.axhline(
            margin, color=COLD, label=f"margin, promised for {found['margins']['level']:.0%} of runs"
        )
        axes.plot(runs, follow, color=BAND, drawstyle="steps-post", label="margin that follows the runs")
        axes.set_title(f"{title}: {np.mean(kept):.0%} kept")
        axes.set_xlabel("run")
    panels[0].set_ylabel("farthest above its prediction, K")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
    return figure
