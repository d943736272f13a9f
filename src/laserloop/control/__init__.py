"""WHAT WE DO: the problem, the controllers and their solvers, and what each of them is asked and answers.

May import process, paths, predict and of the plant the camera: a controller sees what a camera sees.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.control.controller import Action, Controller, Guarded, Status, read_prediction
    from laserloop.control.mpc import MpcController, plan_with
    from laserloop.control.policy import (
        INPUTS,
        LIMIT,
        SIZE,
        SPOTS,
        Observer,
        Policy,
        PolicyController,
        Scales,
        Vector,
        find_policy,
        fingerprint,
    )
    from laserloop.control.problem import MpcProblem, Question, Solution, Solver, make_twin_problem
    from laserloop.control.simple import (
        ConstantController,
        Gains,
        PiController,
        PiGains,
        find_gains,
    )
    from laserloop.paths.path import Preview

__all__ = [
    "INPUTS",
    "LIMIT",
    "SIZE",
    "SPOTS",
    "Action",
    "ConstantController",
    "Controller",
    "Gains",
    "Guarded",
    "MpcController",
    "MpcProblem",
    "Observer",
    "PiController",
    "PiGains",
    "Policy",
    "PolicyController",
    "Preview",
    "Question",
    "Scales",
    "Solution",
    "Solver",
    "Status",
    "Vector",
    "find_gains",
    "find_policy",
    "fingerprint",
    "make_twin_problem",
    "plan_with",
    "read_prediction",
]

__getattr__ = fetch_from(__name__)
