"""The controller of the physics twin: nothing trained, the middle of the window tracked."""

from dataclasses import replace

from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem
from laserloop.control.sqp import SqpSolver
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.process import Process

TRACKING = 100.0  # price of leaving the middle: 1 K weighs as much as a move of 3 W out of 20
ROUNDS = 4  # most QPs a tick; two is usual


def make_twin(problem: MpcProblem, process: Process, settings: TwinSettings | None = None) -> MpcController:
    """Plans by the twin of a process, over the twin's own horizon."""
    predictor = TwinPredictor(process, settings)
    own = replace(problem, horizon=predictor.horizon)
    solver = SqpSolver(own, max_iterations=ROUNDS, halvings=0)
    return MpcController(predictor, solver, own, resume=True, name="twin")
