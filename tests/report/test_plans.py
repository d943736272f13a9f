"""Figures of plans: one layer over time, all layers at a glance, in the looks of the other figures."""

from typing import Any

import numpy as np
from matplotlib.colors import to_hex

from laserloop.report.figures import BAND, COLD, INK
from laserloop.report.plans import draw_layers, draw_plan

TOLD: dict[str, Any] = {
    **{"path": "parts/part.gcode", "window_k": [760.0, 800.0], "holds": True},
    **{"t_min_k": 779.0, "t_max_k": 781.0, "verified": {"t_min_k": 777.0, "t_max_k": 785.0}},
}
LAYER: dict[str, Any] = {"t_min_k": 778.0, "t_max_k": 782.0, "power_mean_w": 9.0}


def find(figure: Any, gid: str) -> Any:
    (found,) = [artist for axes in figure.axes for artist in axes.get_children() if artist.get_gid() == gid]
    return found


def test_a_layer_shows_plan_and_simulation_in_the_colours_of_runs() -> None:
    n = 40
    series = {
        "t_s": 125e-6 * np.arange(1, n + 1),
        "lit": (np.arange(n) % 20 < 15).astype(np.float64),
        "power_w": np.full(n, 11.0),
        "t_planned_k": np.full(n, 780.0),
    }
    figure = draw_plan(TOLD, series, np.full(n - 5, 781.0))
    upper, lower = figure.axes
    assert (find(figure, "planned").get_color(), find(figure, "simulated").get_color()) == (COLD, INK)
    assert to_hex(upper.patches[0].get_facecolor()) == BAND
    assert upper.get_title(loc="left") == "part.gcode: 777 to 785 K, it holds"
    assert np.isnan(find(figure, "simulated").get_ydata()[15:20]).all()  # the laser is off
    assert (lower.get_xlabel(), lower.get_ylabel()) == ("time, ms", "power, W")
    low, high = upper.get_ylim()
    assert low < 760
    assert high > 800


def test_many_layers_are_one_figure_with_a_bar_and_a_power_each() -> None:
    layers = [
        LAYER | {"power_mean_w": 9.0 + k, "verified": LAYER | {"t_max_k": 790.0 + k}} for k in range(30)
    ]
    figure = draw_layers(TOLD | {"layers": layers, "holds": False})
    assert len(find(figure, "simulated").get_segments()) == 30
    assert find(figure, "simulated").get_segments()[29].tolist()[1][1] == 819.0
    assert find(figure, "power").get_ydata().tolist() == [9.0 + k for k in range(30)]
    assert "does NOT hold" in figure.axes[0].get_title(loc="left")
    assert figure.axes[0].get_ylim()[1] > 819.0


def test_layers_that_were_not_simulated_have_no_bar_for_it() -> None:
    layers = [LAYER | {"verified": LAYER}, LAYER]  # the second is beyond what is simulated
    figure = draw_layers(TOLD | {"layers": layers})
    assert len(find(figure, "simulated").get_segments()) == 1
    assert len(find(figure, "planned").get_segments()) == 2
