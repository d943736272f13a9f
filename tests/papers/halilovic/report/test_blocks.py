"""Ours beside the paper's: how far apart is what is written, not what was rounded away."""

import pytest

from laserloop.papers.halilovic.report.blocks import FAR, NEAR, Cell, Measure, Table
from laserloop.papers.halilovic.study import claim


@pytest.mark.parametrize(
    ("ours", "paper", "drift"),
    [
        (10.0, 10.0, 0),
        (12.4, 10.0, 0),
        (12.6, 10.0, 1),
        (15.1, 10.0, 2),
        (8.1, 10.0, 0),
        (7.9, 10.0, -1),
        (6.6, 10.0, -2),
        (0.04, 0.0, 0),
        (0.06, 0.0, 2),
    ],
)
def test_a_ratio_decides_how_far_apart_two_figures_are(ours: float, paper: float, drift: int) -> None:
    assert Measure(".1f").show(ours, paper).drift == drift


@pytest.mark.parametrize(
    ("ours", "drift"), [(13.85, 0), (14.10, 0), (14.11, 1), (14.35, 1), (14.36, 2), (13.59, -1)]
)
def test_steps_decide_where_a_ratio_says_nothing(ours: float, drift: int) -> None:
    assert Measure(".2f", 0.25).show(ours, 13.85).drift == drift


def test_a_missing_figure_is_not_compared() -> None:
    assert Measure(".1f").show(None, 3.0) == Cell("–", "3.0", None)
    assert Measure(".1f").show(3.04) == Cell("3.0")


def test_tables_and_claims_mean_the_same_by_near_and_far() -> None:
    assert (NEAR, FAR) == (claim.STEADY, claim.FACTOR)


def test_rows_with_the_same_first_cell_form_a_group() -> None:
    table = Table(("a", "b"), [("x", "1"), ("x", "2"), ("y", "3")], grouped=True)
    assert [(name, [row[0].text for row in rows]) for name, rows in table.groups()] == [
        ("x", ["1", "2"]),
        ("y", ["3"]),
    ]
    assert not table.compares
