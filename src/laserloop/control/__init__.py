"""WHAT WE DO: the problem, one controller per file, and what each of them is asked and answers."""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.control.controller import Action, Controller, Status
    from laserloop.control.mpc import MpcController
    from laserloop.control.problem import MpcProblem, Question, Solution, Solver
    from laserloop.paths.path import Preview

__all__ = [
    "Action",
    "Controller",
    "MpcController",
    "MpcProblem",
    "Preview",
    "Question",
    "Solution",
    "Solver",
    "Status",
]

__getattr__ = fetch_from(
    __name__,
    {
        "controller": ("Preview", "Action", "Controller", "Status"),
        "mpc": ("MpcController",),
        "problem": ("MpcProblem", "Question", "Solution", "Solver"),
    },
)
