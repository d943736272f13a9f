"""A process fitted to a recording: its table and its figure."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from laserloop.report.figures import COLD, FAINT, INK, STYLE, WIDTH

ROWS = {
    "absorptivity": ("absorptivity", ".4f"),
    "diffusivity_factor": ("diffusivity, × the alloy's", ".4f"),
    "sigma_um": ("beam σ, µm", ".2f"),
    "gain": ("gain of the readings", ".4f"),
    "delay_ticks": ("camera's delay, ticks", ".2f"),
    "laser_lag_us": ("laser's lag, µs", ".1f"),
    "scanner_late_ticks": ("scanner late by, ticks", ".2f"),
    "offset_x_um": ("images' offset in x, µm", ".1f"),
    "offset_y_um": ("images' offset in y, µm", ".1f"),
}


def tabulate_fit(record: Mapping[str, Any]) -> Table:
    """Values and intervals."""
    caption = (
        f"{record['readings']} readings of {record['log']}; residual {record['residual_rms_k']:.1f} K RMS, "
        f"noise of a pixel {record['noise_k']:.1f} K; {record['plant_runs']} simulations on the graded plant."
    )
    table = Table(box=SIMPLE_HEAD, caption=Text(caption), caption_justify="left")
    for heading in ("", "value", "95 % interval"):
        table.add_column(heading, justify="left" if not heading else "right")
    for key, (label, digits) in ROWS.items():
        if key in record:
            found = record[key]
            if not found.get("told", True):
                table.add_row(Text(label), Text("not told"), Text(""))
                continue
            ends = f"{found['low']:{digits}} – {found['high']:{digits}}"
            table.add_row(Text(label), Text(f"{found['value']:{digits}}"), Text(ends))
    return table


@mpl.rc_context(STYLE)
def draw_fit(record: Mapping[str, Any]) -> Figure:
    """Readings, fit and residuals over time."""
    t = 1e3 * np.array(record["series"]["t_s"])
    measured, fitted = (np.array(record["series"][name]) for name in ("t_measured_k", "t_fitted_k"))
    figure = Figure(figsize=(WIDTH, 0.75 * WIDTH), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True, height_ratios=(2, 1))
    upper.plot(t, measured, ".", color=COLD, markersize=3, label="reading")
    upper.plot(t, fitted, color=INK, label="fitted process on the graded plant")
    upper.set_ylabel("peak, K")
    upper.legend(loc="lower right")
    rms, process = record["residual_rms_k"], record["process"]["name"]
    upper.set_title(f"{record['log']}: {process}, residual {rms:.1f} K RMS", loc="left")
    lower.axhline(0.0, color=FAINT)
    lower.plot(t, measured - fitted, ".", color=COLD, markersize=3)
    lower.set_ylabel("residual, K")
    lower.set_xlabel("time of arrival, ms")
    return figure
