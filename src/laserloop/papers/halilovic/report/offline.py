"""The figure of offline validation: blind predictions against the truth they were not shown."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from laserloop.report.figures import COLD, HOT, INK, STYLE

TICK_MS = 0.125


@mpl.rc_context(STYLE)
def draw_tracking(rows: Sequence[Mapping[str, Any]], *, title: str) -> Figure:
    """T_max of the plant and of the model, one panel for each trajectory; dots are where windows begin."""
    figure = Figure(figsize=(7.2, 1.7 * len(rows) + 0.6))
    panels = np.atleast_1d(figure.subplots(len(rows), 1, sharex=True))
    for panel, row in zip(panels, rows, strict=True):
        time = TICK_MS * np.asarray(row["tick"])
        true, predicted = np.asarray(row["true_k"]), np.asarray(row["predicted_k"])
        panel.plot(time, true, color=INK, linewidth=1.1, label="plant")
        panel.plot(time, predicted, color=HOT, linewidth=0.9, linestyle="--", label="blind prediction")
        begin = slice(None, None, row["horizon"])
        panel.plot(time[begin], true[begin], ".", color=COLD, markersize=2.5, label="window begins")
        rmse = float(np.sqrt(np.mean((predicted - true) ** 2)))
        panel.set_title(f"{row['path']}, {row['excitation']}: RMSE {rmse:.1f} K")
        panel.set_ylabel("T_max, K")
    panels[-1].set_xlabel("time, ms")
    panels[0].legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 0.98), borderaxespad=0.0)
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return figure
