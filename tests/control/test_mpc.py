"""The receding-horizon controller around any solver: what it asks, and what it does with the answer."""

import numpy as np
import pytest

from laserloop.control.controller import Status
from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, Question, Solution
from laserloop.paths.path import Preview
from laserloop.plant import Hottest, Image
from laserloop.predict.model import find_model
from laserloop.predict.window import WindowPredictor

TICK = 1e-4


class Scripted:
    """A solver that plans 1, 2, 3 … W and keeps what it was asked."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.status = Status.SOLVED

    def reset(self) -> None:
        self.asked.clear()

    def solve(self, question: Question) -> Solution:
        self.asked.append(question)
        free = np.arange(1.0, 6.0 - len(question.committed))
        return Solution(
            plan=np.concatenate((question.committed, free)),
            predicted=np.full(5, 780.0),
            status=self.status,
            iterations=3,
            solve_s=1e-3,
        )


def see(k: int) -> Image:
    """A surface that is 300 K + 1 K per pixel column + k, so that samples tell where they were taken."""
    x, y = np.linspace(0.0, 39e-5, 40), np.linspace(0.0, 4e-5, 5)
    temperature = 300.0 + k + np.tile(np.arange(40.0), (5, 1))
    return Image(time=k * TICK, x=x, y=y, temperature=temperature, peak=Hottest(400.0 + k, 39e-5, 0.0))


def look(k: int, powers: list[float], lit: list[bool] | None = None) -> Preview:
    """`lit`: of all ticks from the start to the end of the preview."""
    past = min(k, 10)
    seen = np.array(lit or [True] * (k + 5))
    x = np.arange(k - past, k + 6) * 1e-5
    return Preview(
        time=k * TICK,
        tick=TICK,
        positions=np.stack((x, np.zeros_like(x)), axis=1),
        powers=np.array(powers[k - past : k]),
        lit=seen[k : k + 5],
        was_lit=seen[k - past : k],
    )


@pytest.fixture
def solver() -> Scripted:
    return Scripted()


@pytest.fixture
def controller(solver: Scripted) -> MpcController:
    return MpcController(WindowPredictor(find_model("paper-corner")), solver, MpcProblem())


def test_the_question_holds_the_peak_the_surface_ahead_and_the_last_power(
    controller: MpcController, solver: Scripted
) -> None:
    action = controller.act(see(2), look(2, [7.0, 8.0]))
    asked = solver.asked[0]
    known = asked.network(5)
    assert np.allclose(known.temps, [402.0, *(300.0 + 2 + np.arange(3, 8))])
    assert asked.previous == 8.0
    assert np.allclose(asked.start, 8.0)
    assert np.allclose(known.kinematics[:, 0], np.arange(2, 7) * 1e-5)
    assert (action.power, action.status) == (1.0, Status.SOLVED)


def test_the_first_search_begins_in_the_middle(controller: MpcController, solver: Scripted) -> None:
    controller.act(see(0), look(0, []))
    assert np.allclose(solver.asked[0].start, 10.0)
    assert solver.asked[0].previous == 0.0


def test_an_old_image_is_planned_from_with_the_powers_since_then_fixed(
    controller: MpcController, solver: Scripted
) -> None:
    action = controller.act(see(2), look(4, [6.0, 7.0, 8.0, 9.0]))
    asked = solver.asked[0]
    assert np.allclose(asked.committed, [8.0, 9.0])
    assert asked.previous == 7.0
    assert np.allclose(asked.network(5).kinematics[0, :2], [2e-5, 0])
    assert action.power == 1.0
    assert len(action.plan) == 3


def test_the_solver_knows_which_ticks_are_dark_also_those_since_the_image(
    controller: MpcController, solver: Scripted
) -> None:
    dark = [True, False, False, True, True, False, True, True, True]
    controller.act(see(3), look(4, [6.0, 0.0, 0.0, 9.0], dark))
    asked = solver.asked[0]
    assert asked.lit.tolist() == dark[3:8]
    assert asked.resumes  # tick 2 was dark
    assert asked.free.tolist() == [False, True, False, True, True]
    controller.act(see(4), look(4, [6.0, 0.0, 0.0, 9.0], dark))
    assert not solver.asked[1].resumes


def test_without_compensation_every_image_is_taken_for_one_of_now(solver: Scripted) -> None:
    predictor = WindowPredictor(find_model("paper-corner"))
    controller = MpcController(predictor, solver, MpcProblem(), compensate=False)
    controller.act(see(2), look(4, [6.0, 7.0, 8.0, 9.0]))
    assert len(solver.asked[0].committed) == 0
    assert np.allclose(solver.asked[0].network(5).kinematics[0, :2], [4e-5, 0])


def test_a_lost_image_is_replaced_by_the_last_good_one_until_the_horizon_ends(
    controller: MpcController,
) -> None:
    powers = [5.0] * 10
    seen = [controller.act(see(0) if k == 0 else None, look(k, powers)) for k in range(7)]
    assert [a.status for a in seen[1:5]] == [Status.BLIND] * 4
    assert [a.status for a in seen[5:]] == [Status.EXHAUSTED] * 2
    assert all(a.power == 0.0 for a in seen[5:])


def test_a_silent_model_lets_the_plan_go_on_and_then_the_least_power(
    controller: MpcController, solver: Scripted
) -> None:
    powers = [5.0] * 10
    controller.act(see(0), look(0, powers))
    solver.status = Status.NO_PREDICTION
    after = [controller.act(see(k), look(k, powers)) for k in range(1, 7)]
    assert [a.power for a in after] == [2.0, 3.0, 4.0, 5.0, 0.0, 0.0]
    assert [a.status for a in after] == [Status.NO_PREDICTION] * 4 + [Status.EXHAUSTED] * 2


def test_before_the_first_image_there_is_no_power(controller: MpcController, solver: Scripted) -> None:
    action = controller.act(None, look(0, []))
    assert (action.power, action.status) == (0.0, Status.EXHAUSTED)
    assert not solver.asked


def test_a_mended_image_is_told(controller: MpcController) -> None:
    image = see(1)
    broken = image.temperature.copy()
    broken[2, 20] = np.nan
    bad = Image(time=image.time, x=image.x, y=image.y, temperature=broken, peak=image.peak)
    assert controller.act(bad, look(1, [5.0])).status is Status.MENDED
