"""Figures of the paper's story show what the numbers say."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from laserloop.report.figures import COLD, HOT
from laserloop.studies.halilovic.figures import (
    SolverTime,
    draw_decisions,
    draw_plants,
    draw_solver_times,
    draw_story,
)

Record = dict[str, Any]


def find(figure: Figure, gid: str) -> Any:
    return next(artist for artist in figure.findobj() if artist.get_gid() == gid)


def test_the_story_marks_every_tick_that_was_too_hot_in_time_and_place(mpc: Record, constant: Record) -> None:
    figure = draw_story([mpc, constant], ["mpc", "constant"])
    for i, record in enumerate((mpc, constant)):
        assert len(find(figure, f"over-{i}").get_xdata()) == record["n_over"]
        assert len(find(figure, f"where-{i}").get_offsets()) == record["n_over"]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert any(title.startswith(f"constant: {constant['n_over']} ticks above 800 K") for title in titles)


def test_hotter_places_get_larger_dots(constant: Record) -> None:
    dots = find(draw_story([constant], ["constant"]), "where-0")
    assert dots.get_sizes().max() == pytest.approx(6 + 1.6 * constant["overshoot_k"])


def test_a_solver_inside_the_tick_has_another_colour() -> None:
    times = [SolverTime("slow", 37e3, 60e3, 70e3), SolverTime("fast", 24.0, 110.0, 150.0)]
    figure = draw_solver_times(times, 125.0, 41e3)
    assert [find(figure, f"median-{y}").get_color() for y in (0, 1)] == [HOT, COLD]
    assert find(figure, "published").get_xdata() == pytest.approx([41e3])
    axes: Axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    assert "fast: 24 µs, 1542 times faster" in [text.get_text() for text in axes.texts]


def test_plants_are_drawn_by_angle() -> None:
    line = {"node": [760.0, 770.0], "peak": [780.0, 781.0]}
    lines = {name: {"0": line, "45": line} for name in ("paper", "graded")}
    figure = draw_plants(lines, {"0": 898.0, "45": 899.0}, [1.0, 1.1])
    assert len(figure.axes) == 2
    assert np.array_equal(find(figure, "paper-45").get_ydata(), line["node"])


def test_decisions_name_their_median() -> None:
    figure = draw_decisions({"IPOPT": [10.0, 30.0, 20.0]}, 0.125)
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert labels[0] == "IPOPT: median 20 ms"
