"""Figures of plans: planned and simulated temperature, and the power, over time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = NDArray[np.float64]


def draw_plan(
    series: Mapping[str, FloatArray], window: tuple[float, float], truth: FloatArray | None = None
) -> "Figure":
    """Temperature above, power below; `series` has t_s, lit, power_w and t_planned_k of each tick."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    t, lit = 1e3 * series["t_s"], series["lit"] > 0
    above.axhspan(*window, color="0.92", zorder=0)
    if truth is not None:
        above.plot(t, np.where(lit, truth, np.nan), color="tab:red", label="simulated on graded")
    above.plot(t, np.where(lit, series["t_planned_k"], np.nan), color="tab:blue", lw=1, label="planned")
    middle, half = 0.5 * sum(window), 0.5 * (window[1] - window[0])
    above.set_ylim(middle - 2.5 * half, middle + 2.5 * half)
    above.set_ylabel("T_max, K")
    above.legend(loc="lower right", fontsize="small")
    below.step(t, series["power_w"], where="pre", color="0.2", lw=0.8)
    below.set_ylabel("power, W")
    below.set_xlabel("time, ms")
    return figure
