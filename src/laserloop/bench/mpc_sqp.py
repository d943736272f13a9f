"""CasADi's own SQP on the folded network: what a compiled solver has to be better than to be worth its code.

P̄ = P/P_max      ε̄ = ε/ε_max      x = (P̄, ε̄)
p = (a, C, c, P̄ before the plan), see predict/window.py
"""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.control.ipopt import embed_folded
from laserloop.control.problem import MpcProblem, Question, Solution
from laserloop.predict.model import Model
from laserloop.predict.window import SMOOTHING, Folding

FloatArray = NDArray[np.float64]

ROUNDING = 1e-3  # K, as for IPOPT


class CasadiSqpSolver:
    """`sqpmethod` with DAQP and default settings; no tracking, nothing committed.

    Of the bundled QP solvers qrqp fails on two questions of three, and qpOASES prints and is no faster.
    """

    name = "sqp"

    def __init__(self, model: Model, problem: MpcProblem) -> None:
        if problem.tracking_cost:
            raise BadInput("the sqp of the bench knows no tracking: use ipopt or realtime")
        import casadi

        self._problem, self._folder = problem, Folding(model, smoothing=SMOOTHING)
        width, horizon = self._folder.A.shape
        predict = embed_folded(self._folder, smoothing=SMOOTHING)
        a, C, c = casadi.MX.sym("a", width), casadi.MX.sym("C", horizon, width), casadi.MX.sym("c", horizon)
        before, plan, slack = casadi.MX.sym("b"), casadi.MX.sym("P", horizon), casadi.MX.sym("s", horizon)
        T = predict(problem.power[1] * plan, a, C, c)
        cost = (
            problem.power_cost * casadi.sumsqr(plan)
            + problem.move_cost * casadi.sumsqr(casadi.diff(casadi.vertcat(before, plan)))
            + problem.slack_cost * casadi.sum1(slack)
        )
        nlp: Any = {
            "x": casadi.vertcat(plan, slack),
            "p": casadi.vertcat(a, casadi.vec(C), c, before),
            "f": cost,
            "g": casadi.vertcat(T, T + problem.slack_scale * slack),
        }
        quiet = {"print_header": False, "print_iteration": False, "print_status": False, "print_time": False}
        options: Any = {
            **quiet,
            "qpsol": "daqp",
            "qpsol_options": {"error_on_fail": False},
            "hessian_approximation": "limited-memory",
            "error_on_fail": False,
        }
        self._nlp: Any = casadi.nlpsol("sqp", "sqpmethod", nlp, options)
        self._predict: Any = predict

    def reset(self) -> None:
        """Nothing to forget."""

    def solve(self, question: Question) -> Solution:
        """The plan at which it stops."""
        began = perf_counter()
        problem = self._problem
        (low, high), horizon = problem.power, problem.horizon
        asked = question.network(horizon)
        folded = self._folder.fold(asked.kinematics, asked.temps, asked.location)
        known = folded.a, folded.C.ravel(order="F"), folded.c, [question.previous / high]
        slack = max(0.0, problem.floor - asked.temps[0]) / problem.slack_scale
        answer = self._nlp(
            x0=np.concatenate((question.start / high, np.full(horizon, slack))),
            p=np.concatenate(known),
            lbx=np.concatenate((np.full(horizon, low / high), np.zeros(horizon))),
            ubx=np.concatenate((np.ones(horizon), np.full(horizon, np.inf))),
            lbg=np.repeat((-np.inf, problem.floor), horizon),
            ubg=np.repeat((problem.ceiling, np.inf), horizon),
        )
        found = np.nan_to_num(np.asarray(answer["x"]).ravel()[:horizon] * high)
        plan = np.clip(found, low, high)
        predicted = np.asarray(self._predict(plan, folded.a, folded.C, folded.c)).ravel()
        solved = self._nlp.stats()["success"] and bool((predicted <= problem.ceiling + ROUNDING).all())
        return Solution(
            plan=plan,
            predicted=predicted,
            status=Status.SOLVED if solved else Status.STOPPED,
            iterations=int(self._nlp.stats()["iter_count"]),
            solve_s=perf_counter() - began,
        )
