"""Questions as they come up in closed loops, kept to be asked again of any solver."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question, Solution, Solver
from laserloop.loop.case import choose_camera
from laserloop.loop.controllers import make_solver
from laserloop.loop.run import run_closed_loop
from laserloop.paths import find_path
from laserloop.plant import Camera, make_plant
from laserloop.predict.networks import Model, NetworkPredictor


class Recorder:
    """A solver that keeps the questions it passes on."""

    def __init__(self, solver: Solver) -> None:
        self.name = solver.name
        self.questions: list[Question] = []
        self._solver = solver

    def reset(self) -> None:
        """Forget what the solver learned, not the questions."""
        self._solver.reset()

    def solve(self, question: Question) -> Solution:
        """Keep the question and pass it on."""
        self.questions.append(question)
        return self._solver.solve(question)


def collect_questions(
    model: Model, problem: MpcProblem, paths: Sequence[str], ticks: int, *, controller: str = "ipopt"
) -> list[Question]:
    """All questions of closed loops along some paths on the paper plant."""
    recorder = Recorder(make_solver(controller, model, problem))
    for name in paths:
        path = find_path(name, ticks=ticks)
        plant = make_plant("paper", path)
        camera = Camera(choose_camera(plant, model))
        asking = MpcController(NetworkPredictor(model), recorder, problem)
        run_closed_loop(plant, camera, asking, path, power_bounds=problem.power)
    return recorder.questions


def vary_questions(
    questions: Sequence[Question], problem: MpcProblem, count: int, rng: np.random.Generator
) -> list[Question]:
    """As many random states around some questions: hotter and colder, other last powers, other places."""
    drawn = []
    low, high = problem.power
    for _ in range(count):
        base = questions[int(rng.integers(len(questions)))]
        shift = rng.uniform(-150.0, 60.0)
        power = float(rng.uniform(low, high))
        known = base.network(problem.horizon)
        noise = rng.normal(0.0, 5.0, len(known.temps))
        temps = np.maximum(known.temps + shift * (known.temps - 300.0) / 480.0 + noise, 290.0)
        varied = replace(known, temps=temps, previous=power)
        drawn.append(replace(base, forecast=varied, start=np.full(problem.horizon, power)))
    return drawn
