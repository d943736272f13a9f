"""Deadlines: who is late follows the plan he has."""

from dataclasses import replace

import numpy as np
import pytest

from laserloop import BadInput
from laserloop.control.controller import Action, Status
from laserloop.loop.disturbances import DeadlineController
from laserloop.paths.path import Preview
from laserloop.plant import Image

TICK = 1e-4


class Planner:
    """Plans 10k, 10k + 1, … W at its k-th question, asked at tick k."""

    name = "planner"
    horizon = 5
    memory = 0

    def reset(self) -> None:
        self.asked: list[int] = []

    def act(self, image: Image | None, preview: Preview) -> Action:
        k = round(preview.time / TICK)
        self.asked.append(k)
        plan = 10.0 * k + np.arange(5.0)
        return Action(power=plan[0], status=Status.SOLVED, plan=plan, predicted=700.0 + plan)


def drive(controller: DeadlineController, ticks: int) -> list[Action]:
    controller.reset()
    way, powers = np.zeros((6, 2)), np.empty(0)
    previews = (Preview(time=k * TICK, tick=TICK, positions=way, powers=powers) for k in range(ticks))
    return [controller.act(None, preview) for preview in previews]


def charge(ticks: float) -> DeadlineController:
    return DeadlineController(Planner(), charge=lambda _: ticks * TICK, nominal=5.0)


@pytest.mark.parametrize("cost", [0.0, 0.5, 1.0])
def test_an_answer_within_its_tick_is_given_at_once(cost: float) -> None:
    actions = drive(charge(cost), 4)
    assert [a.power for a in actions] == [0.0, 10.0, 20.0, 30.0]
    assert {a.status for a in actions} == {Status.SOLVED}


def test_a_late_answer_is_entered_where_it_stands_by_then() -> None:
    actions = drive(charge(2.5), 7)
    assert [a.power for a in actions] == [5.0, 5.0, 2.0, 3.0, 4.0, 32.0, 33.0]
    assert {a.status for a in actions} == {Status.LATE}


def test_it_may_be_entered_from_its_beginning() -> None:
    late = DeadlineController(Planner(), charge=lambda _: 2.5 * TICK, policy="late", nominal=5.0)
    assert [a.power for a in drive(late, 6)] == [5.0, 5.0, 0.0, 1.0, 2.0, 30.0]


def test_a_plan_that_has_run_out_is_held() -> None:
    assert [a.power for a in drive(charge(8.0), 9)] == [5.0] * 7 + [4.0, 4.0]


def test_a_plan_may_be_followed_for_some_ticks_on_purpose() -> None:
    planner = Planner()
    actions = drive(DeadlineController(planner, charge=lambda _: 0.0, every=3), 7)
    assert [a.power for a in actions] == [0.0, 1.0, 2.0, 30.0, 31.0, 32.0, 60.0]
    assert [a.status for a in actions[:3]] == [Status.SOLVED, Status.FOLLOWED, Status.FOLLOWED]
    assert planner.asked == [0, 3, 6]


def test_a_prediction_belongs_to_the_power_that_is_given() -> None:
    actions = drive(charge(2.5), 5)
    assert all(len(a.predicted) == 0 or a.predicted[0] == 700.0 + a.power for a in actions[2:])
    assert actions[3].predicted[0] == 703.0


def test_without_a_charge_the_clock_is_real() -> None:
    actions = drive(DeadlineController(Planner()), 3)
    assert all(a.power in {10.0 * k + j for k in range(3) for j in range(5)} for a in actions[1:])


@pytest.mark.parametrize("wrong", [{"policy": "never"}, {"every": 0}])
def test_a_senseless_deadline_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        DeadlineController(Planner(), **wrong)  # type: ignore[arg-type]


def test_margins_and_window_of_a_plan_are_told_as_long_as_it_is_followed() -> None:
    class Telling(Planner):
        def act(self, image: Image | None, preview: Preview) -> Action:
            k = round(preview.time / TICK)
            return replace(super().act(image, preview), margins=(k + 1.0, 2.0), window=(700.0, 800.0 + k))

    late = DeadlineController(Telling(), charge=lambda _: 2.5 * TICK)
    actions = drive(late, 7)
    assert [a.margins for a in actions] == [None] * 2 + [(1.0, 2.0)] * 3 + [(4.0, 2.0)] * 2
    assert [a.window for a in actions] == [None] * 2 + [(700.0, 800.0)] * 3 + [(700.0, 803.0)] * 2


def test_an_own_class_needs_act_alone_and_may_answer_bare_powers() -> None:
    class Mine:
        def act(self, image: Image | None, preview: Preview) -> float:
            return 7.5 if preview.time < 2.5 * TICK else float("nan")

    controller = DeadlineController(Mine(), charge=lambda _: 0.0)  # type: ignore[arg-type]  # as users do
    assert (controller.name, controller.horizon, controller.memory) == ("Mine", 1, 0)
    actions = drive(controller, 4)
    assert [a.power for a in actions] == [7.5, 7.5, 7.5, 0.0]
    assert [a.status for a in actions] == [Status.BARE] * 3 + [Status.NOT_FINITE]
