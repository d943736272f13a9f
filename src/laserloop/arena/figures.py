"""The picture of a contest: how far everybody is from the oracle, level by level."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from laserloop.report.figures import COLD, HOT, INK, STYLE, WIDTH
from laserloop.report.figures import FAINT as SOFT

LOOKS = {"off": (COLD, "o"), "nominal": (INK, "s"), "hard": (HOT, "^")}  # told apart by form in grey
LEAST = 0.03  # K; below, a gap has no place on a log axis


@mpl.rc_context(STYLE)
def draw_standings(standings: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Figure:
    """Mean gap, or RMS where none is known, with its interval; the worst path as a thin line."""
    known = {
        name: s for name, s in standings.items() if s["all"]["gap_mean_k"] is not None and name != "oracle"
    }
    measure = "gap" if known else "rms"
    shown = known or {name: s for name, s in standings.items() if name != "oracle"}
    figure = Figure(figsize=(1.35 * WIDTH, 0.36 * len(shown) + 1.2))
    axes = figure.subplots()
    for place, levels in enumerate(shown.values()):
        for shift, (level, (colour, marker)) in enumerate(LOOKS.items()):
            if level in levels:
                _plot(axes, place + 0.22 * (shift - 1), levels[level], measure, colour, marker)
    axes.set_yticks(range(len(shown)), list(shown))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("RMS from the middle beyond the oracle's, K" if known else "RMS from the middle, K")
    axes.grid(axis="x", color=SOFT, linewidth=0.3)
    seen = {level for levels in shown.values() for level in levels}
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=f"disturbances {level}")
        for level, (colour, marker) in LOOKS.items()
        if level in seen
    ]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(handles))
    return figure


def _plot(
    axes: Any, place: float, standing: Mapping[str, Any], measure: str, colour: str, marker: str
) -> None:
    mean, worst = (max(standing[f"{measure}_{name}_k"], LEAST) for name in ("mean", "worst"))
    axes.plot([mean, worst], [place, place], color=colour, linewidth=0.5)
    if standing[f"{measure}_low_k"] is not None:
        ends = [max(standing[f"{measure}_{name}_k"], LEAST) for name in ("low", "high")]
        axes.plot(ends, [place, place], color=colour, linewidth=2.4, alpha=0.6)
    axes.plot(mean, place, marker, color=colour, markersize=4)
    axes.plot(worst, place, "|", color=colour, markersize=5)
