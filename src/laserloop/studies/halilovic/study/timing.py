"""Timing: a forecast against five plant steps, and where the time of an IPOPT tick goes."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from laserloop.control.ipopt import IpoptSolver
from laserloop.control.problem import MpcProblem, Question
from laserloop.loop.record import spread
from laserloop.paths import find_path
from laserloop.plant import make_plant
from laserloop.predict.compiled import make_predictor
from laserloop.predict.model import Model

WARM_UP = 60  # ticks until the plate is as warm as in a run


def time_forward(model: Model, *, repeats: int = 400) -> dict[str, float]:
    """One forecast of the whole horizon, in NumPy and compiled, and the plant's own; medians."""
    horizon = model.architecture.horizon
    path = find_path("spiral", ticks=WARM_UP + horizon)
    plant = make_plant("paper")
    surface = plant.reset()
    for k in range(WARM_UP):
        surface = plant.step(14.0, path.spot(k))
    kinematics = np.concatenate((path.positions, path.velocities), axis=1)[WARM_UP : WARM_UP + horizon]
    branch = np.concatenate((np.full((horizon, 1), 14.0), kinematics), axis=1)
    temps = np.full(1 + horizon, surface.node.temperature)
    location = np.array([surface.node.x, surface.node.y])
    compiled = make_predictor(model)
    compiled(branch, temps, location)
    now = plant.snapshot()

    def step() -> None:
        for k in range(WARM_UP, WARM_UP + horizon):
            plant.step(14.0, path.spot(k))

    laps: dict[str, list[float]] = {"numpy": [], "numba": [], "plant": []}
    for n in range(repeats):
        laps["numpy"].append(_time(lambda: model.predict(branch[None], temps[None], location[None])))
        laps["numba"].append(_time(lambda: compiled(branch, temps, location)))
        if n % 10 == 0:
            laps["plant"].append(_time(step))
            plant.restore(now)
    numpy_s, numba_s, plant_s = (float(np.median(laps[name])) for name in ("numpy", "numba", "plant"))
    return {
        "numpy_us": 1e6 * numpy_s,
        "numba_us": 1e6 * numba_s,
        "plant_5_steps_ms": 1e3 * plant_s,
        "ratio_numpy": plant_s / numpy_s,
        "ratio_numba": plant_s / numba_s,
    }


def time_solvers(model: Model, questions: Sequence[Question]) -> dict[str, Any]:
    """Both graphs on the same questions, in turn: solve time, whole time and its shares, iterations."""
    problem = MpcProblem(horizon=model.architecture.horizon)
    solvers = {graph: IpoptSolver(model, problem, graph=graph) for graph in ("folded", "plain")}
    laps: dict[str, list[tuple[float, float, float, int]]] = {graph: [] for graph in solvers}
    for question in questions:
        for graph, solver in solvers.items():
            began = perf_counter()
            answer = solver.solve(question)
            whole = perf_counter() - began
            laps[graph].append((answer.solve_s, whole, solver.last_times.functions, answer.iterations))
    found = {}
    for graph, rows in laps.items():
        solve, whole, functions, iterations = np.array(rows).T
        found[graph] = {
            "questions": len(rows),
            "solve_ms": spread(1e3 * solve),
            "tick_ms": spread(1e3 * whole),
            "evaluation_share": float(functions.sum() / whole.sum()),
            "solver_share": float((solve - functions).sum() / whole.sum()),
            "iterations": {"mean": float(iterations.mean()), "max": int(iterations.max())},
        }
    return found


def _time(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began
