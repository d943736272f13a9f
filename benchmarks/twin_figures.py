"""Figures of the page about the twin."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from laserloop.paths.shapes import FAMILIES
from laserloop.report.figures import BAND, COLD, FAINT, HOT, INK, STYLE

Row = dict[str, Any]
WINDOW = (760.0, 800.0)


@mpl.rc_context(STYLE)
def draw_unseen(exact: Sequence[Row], shaken: Sequence[Row], setting: str) -> Figure:
    """A line for each path from its lowest to its highest T_max, family by family."""
    figure = Figure(figsize=(8.0, 4.4))
    panels = figure.subplots(2, 1, sharex=True)
    for axes, rows, colour, what, band in (
        (panels[0], exact, INK, "exact camera", (775.0, 785.0)),
        (panels[1], shaken, COLD, "5 K noise, one tick late, absorptivity ±10 %", (770.0, 790.0)),
    ):
        axes.axhspan(*band, color=BAND, alpha=0.16, linewidth=0)
        for n, family in enumerate(FAMILIES):
            some = [row for row in rows if row["path"].partition(":")[0] == family]
            x = n + np.linspace(-0.38, 0.38, max(len(some), 2))[: len(some)]
            axes.vlines(
                x, [r["lowest_k"] for r in some], [r["highest_k"] for r in some], color=colour, linewidth=1.4
            )
        axes.set_ylim(
            min(766.0, *(r["lowest_k"] - 1 for r in rows)), max(794.0, *(r["highest_k"] + 1 for r in rows))
        )
        axes.set_ylabel("Tₘₐₓ, K")
        axes.set_title(f"{len(rows)} unseen paths, {what}; shaded {band[0]:g}–{band[1]:g} K")
    panels[1].set_xticks(range(len(FAMILIES)), list(FAMILIES))
    figure.suptitle(setting.replace("`", ""), fontsize=8, ha="left", x=0.02)
    return figure


@mpl.rc_context(STYLE)
def draw_widest(rows: Sequence[Row], setting: str) -> Figure:
    """T_max over time in some runs, with the tick that is farthest from the middle."""
    figure = Figure(figsize=(8.0, 1.8 * len(rows) + 0.6))
    for axes, row in zip(np.atleast_1d(figure.subplots(len(rows), 1)), rows, strict=True):
        t, T = 1e3 * np.array(row["series"]["t_s"]), np.array(row["series"]["t_true_k"])
        k = row["worst"]["tick"]
        axes.axhspan(*WINDOW, color=BAND, alpha=0.16, linewidth=0)
        axes.plot(t, T, color=INK, linewidth=1.0)
        axes.plot(t[k], T[k], "o", color=HOT, markersize=5, markerfacecolor="none")
        axes.set_ylim(755.0, 805.0)
        axes.set_xlim(0.0, t[-1])
        axes.set_ylabel("Tₘₐₓ, K")
        axes.set_title(f"{row['path']}, {row['row']}: {T[k]:.1f} K at {t[k]:.2f} ms")
    axes.set_xlabel("time, ms")
    figure.suptitle(setting.replace("`", ""), fontsize=8, ha="left", x=0.02)
    return figure


@mpl.rc_context(STYLE)
def draw_disturbances(spans: Mapping[str, Mapping[str, tuple[float, float]]], setting: str) -> Figure:
    """A bar from lowest to highest T_max for each disturbance, twin above PI."""
    labels = [label for label, pair in spans.items() if pair]
    figure = Figure(figsize=(8.0, 0.24 * len(labels) + 1.2))
    axes: Axes = figure.subplots()
    axes.axvspan(*WINDOW, color=BAND, alpha=0.16, linewidth=0, label="window")
    for name, colour, shift in (("twin", INK, -0.18), ("pi", HOT, 0.18)):
        rows = [(n + shift, *spans[label][name]) for n, label in enumerate(labels) if name in spans[label]]
        y, low, high = np.array(rows).reshape(-1, 3).T
        axes.barh(y, high - low, left=low, height=0.3, color=colour, label=name.replace("pi", "PI"))
    axes.axvline(780.0, color=FAINT, linewidth=0.7)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel("Tₘₐₓ, K, lowest to highest over all paths")
    axes.legend(loc="lower right", ncols=3)
    figure.suptitle(setting.replace("`", ""), fontsize=8, ha="left", x=0.02)
    return figure
