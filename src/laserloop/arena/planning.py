"""Any predictor as a contestant: the generic solver with what everybody is asked for."""

from dataclasses import replace

from laserloop.control.action import Controller
from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem
from laserloop.control.sqp import SqpSolver
from laserloop.predict.predictor import Predictor

ONE_QP, ROUNDS = 1, 4  # of an affine predictor, and of others


def plan_with(
    predictor: Predictor, problem: MpcProblem, *, name: str | None = None, search: bool = False
) -> Controller:
    """The predictor's plan over its own horizon, with little search or with as much as helps."""
    own = replace(problem, horizon=predictor.horizon)
    few = SqpSolver(own, max_iterations=ONE_QP if predictor.affine else ROUNDS, halvings=0)
    solver = SqpSolver(own) if search else few
    return MpcController(predictor, solver, own, resume=True, until_dark=True, name=name or predictor.name)
