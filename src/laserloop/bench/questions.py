"""Questions as they come up in closed loops, kept to be asked again of any solver."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, Question, Solution, Solver
from laserloop.loop.scenario import Scenario, prepare


class Recorder:
    """A solver that keeps the questions it passes on."""

    def __init__(self, solver: Solver, questions: list[Question]) -> None:
        self.name = solver.name
        self.questions = questions
        self._solver = solver

    def reset(self) -> None:
        """Forget what the solver learned, not the questions."""
        self._solver.reset()

    def solve(self, question: Question) -> Solution:
        """Keep the question and pass it on."""
        self.questions.append(question)
        return self._solver.solve(question)


def collect_questions(
    model: str, paths: Sequence[str], ticks: int, *, controller: str = "ipopt"
) -> list[Question]:
    """All questions of closed loops along some paths on the paper plant, without a margin."""
    questions: list[Question] = []
    for path in paths:
        loop = prepare(Scenario(path=path, controller=controller, model=model, ticks=ticks)).loop()
        asking = loop.controller.inner
        assert isinstance(asking, MpcController)
        asking.solver = Recorder(asking.solver, questions)
        loop.run()
    return questions


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
