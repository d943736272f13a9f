"""Figures of the ablations: what is drawn is what was measured."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from laserloop.studies.halilovic.figures import PANELS, draw_ablations, draw_error_growth


def point(axis: str, value: str, seen: float, paper: float | None = None) -> dict[str, Any]:
    return {
        "axis": axis,
        "value": value,
        "seen": seen,
        "seen_std": 0.5,
        "unseen": 2 * seen,
        "paper_seen": paper,
        "paper_unseen": None,
        "unseen_per_step": [seen * step for step in range(1, 6)],
    }


POINTS = [
    *(point("horizon", value, float(value), 6.1 if value == "5" else None) for value in ("3", "5", "10")),
    point("structure", "one-shot", 5.0),
    point("structure", "SS-AR", 20.0),
]


def find(figure: Figure, panel: int, gid: str) -> Line2D:
    return next(line for line in figure.axes[panel].get_lines() if line.get_gid() == gid)


def test_every_axis_has_its_panel_and_says_if_nothing_is_there() -> None:
    figure = draw_ablations(POINTS)
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(PANELS.values())
    empty = [bool(axes.texts) for axes in figure.axes]
    assert empty == [axis not in ("horizon", "structure") for axis in PANELS]


def test_ours_and_the_papers_stand_over_their_value() -> None:
    figure = draw_ablations(POINTS)
    assert list(np.asarray(find(figure, 0, "seen").get_ydata())) == [3.0, 5.0, 10.0]
    assert list(np.asarray(find(figure, 0, "unseen").get_ydata())) == [6.0, 10.0, 20.0]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["3", "5", "10"]
    paper = find(figure, 0, "paper seen")
    heights = np.asarray(paper.get_ydata())
    assert heights[1] == 6.1
    assert np.isnan(heights[[0, 2]]).all()
    assert np.asarray(paper.get_xdata())[1] == pytest.approx(1.0, abs=0.1)


def test_the_growth_is_drawn_step_by_step_beside_the_papers_ends() -> None:
    figure = draw_error_growth(POINTS, {"SS-AR": (29.0, 80.0)})
    assert list(np.asarray(find(figure, 0, "SS-AR").get_ydata())) == [20.0, 40.0, 60.0, 80.0, 100.0]
    assert np.asarray(find(figure, 0, "paper SS-AR").get_xydata()).tolist() == [[1.0, 29.0], [5.0, 80.0]]
    assert not [line for line in figure.axes[0].get_lines() if line.get_gid() == "paper one-shot"]
