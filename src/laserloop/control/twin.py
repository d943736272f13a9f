"""What the physics twin is asked for: the middle of the window, at no price of power."""

from dataclasses import replace

from laserloop.control.problem import MpcProblem

TRACKING = 100.0  # price of leaving the middle: 1 K weighs as much as a move of 3 W out of 20


def make_twin_problem(problem: MpcProblem, tracking: float | None = None) -> MpcProblem:
    """The same window, power and margins; `tracking` instead of the twin's own price of the middle."""
    price = TRACKING if tracking is None else tracking
    return replace(problem, tracking_cost=price, power_cost=0.0)
