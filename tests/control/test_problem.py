"""The problem: what a plan costs, and which wishes make no sense."""

import numpy as np
import pytest

from laserloop import BadInput
from laserloop.control.problem import MpcProblem


def test_the_cost_is_the_papers_formula() -> None:
    problem = MpcProblem(horizon=2)
    plan, predicted = np.array([10.0, 14.0]), np.array([750.0, 790.0])
    power = 0.5**2 + 0.7**2
    moves = 10 * ((0.5 - 0.6) ** 2 + (0.7 - 0.5) ** 2)
    slack = 1e6 * (760 - 750) / 500
    assert problem.cost(plan, predicted, 12.0) == pytest.approx(power + moves + slack)


def test_tracking_prices_the_distance_from_the_middle() -> None:
    problem = MpcProblem(horizon=1, tracking_cost=3.0, power_cost=0.0, move_cost=0.0)
    assert problem.cost(np.array([5.0]), np.array([790.0]), 0.0) == pytest.approx(3.0 * 0.5**2)


def test_margins_narrow_the_window_from_both_sides() -> None:
    problem = MpcProblem(margin_above=13.0, margin_below=4.0)
    assert (problem.floor, problem.ceiling) == (764.0, 787.0)


@pytest.mark.parametrize(
    ("wish", "word"),
    [
        ({"horizon": 0}, "horizon"),
        ({"horizon": True}, "horizon"),
        ({"window": (800.0, 760.0)}, "window"),
        ({"window": (760.0, float("nan"))}, "window"),
        ({"power": (-1.0, 20.0)}, "power"),
        ({"power": (20.0, 0.0)}, "^the power must"),
        ({"margin_above": 25.0, "margin_below": 15.0}, "margins"),
        ({"margin_above": -1.0}, "margin"),
        ({"move_cost": float("inf")}, "move cost"),
        ({"slack_scale": 0.0}, "slack scale"),
    ],
)
def test_a_senseless_wish_is_refused_in_one_sentence(wish: dict[str, object], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        MpcProblem(**wish)  # type: ignore[arg-type]
