"""Changes in mid-run: who aims at a window follows it, scores follow it, and less light takes more power."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.loop.controllers import make_controller
from laserloop.loop.disturbances import Fault
from laserloop.loop.record import Run
from laserloop.loop.run import StopRun, Tick, look_ahead
from laserloop.loop.scenario import Scenario, prepare
from laserloop.native.twin import TwinController
from laserloop.paths import find_path
from laserloop.plant import Camera, make_plant
from laserloop.predict.model import find_model
from laserloop.process import Process

CHANGE = 60  # tick
BEFORE, AFTER = (760.0, 800.0), (840.0, 880.0)


def drive(controller: str, ticks: int = 130, *, absorbed: float = 1.0) -> Run:
    """A straight line whose window, and perhaps absorptivity, changes on the way."""
    case = Scenario(path="diagonal", controller=controller, plant="graded", ticks=ticks, delta_k=None)
    loop = prepare(case).loop()
    loop.window = BEFORE

    def watch(k: int, tick: Tick) -> None:
        if k == CHANGE and absorbed == 1.0:
            loop.set_window(*AFTER)
        elif k == CHANGE:
            loop.set_absorbed(absorbed)

    return loop.run(watch=watch)


@pytest.mark.parametrize("controller", ["twin", "pi"])
def test_a_controller_follows_its_window_in_mid_run(controller: str) -> None:
    run = drive(controller)
    assert run.windows is not None
    assert run.windows[CHANGE].tolist() == list(BEFORE)
    assert run.windows[CHANGE + 1].tolist() == list(AFTER)
    early, late = run.t_max[40:CHANGE], run.t_max[CHANGE + 30 :]
    assert ((early > BEFORE[0]) & (early < BEFORE[1])).mean() > 0.6
    assert ((late > AFTER[0]) & (late < AFTER[1])).mean() > 0.6


@pytest.mark.parametrize("controller", ["realtime", "sqp"])
def test_a_planner_with_a_network_takes_another_window(controller: str) -> None:
    problem = MpcProblem(margin_above=13.0)
    planner: Any = make_controller(controller, problem, plant=None, model=find_model("paper-corner"))
    path = find_path("diagonal", ticks=20)
    image = Camera().see(make_plant("paper").reset())
    predicted = []
    for window in (BEFORE, (400.0, 420.0), BEFORE):
        planner.set_window(*window)
        planner.reset()
        predicted.append(
            planner.act(image, look_ahead(path, 0, [], planner.horizon, planner.memory)).predicted
        )
    assert predicted[0].max() > 500.0  # on its way up
    assert predicted[1].max() < 421.0
    assert np.array_equal(predicted[0], predicted[2])


def test_a_planner_that_was_built_for_one_window_says_so() -> None:
    planner: Any = make_controller("ipopt", MpcProblem(), plant=None, model=find_model("paper-corner"))
    with pytest.raises(BadInput, match="keeps the window that it was built with"):
        planner.set_window(*AFTER)


def test_margins_shrink_in_a_narrow_window_and_come_back() -> None:
    wide = MpcProblem(window=BEFORE, margin_above=15.0, margin_below=5.0)
    narrow = wide.aim((780.0, 790.0))
    assert (narrow.margin_above, narrow.margin_below) == (4.5, 4.5)
    twin = make_controller("twin", wide, plant=None, process=Process())
    assert isinstance(twin, TwinController)
    twin.set_window(780.0, 790.0)
    assert twin.problem.margin_above == 4.5
    twin.set_window(*BEFORE)
    assert twin.problem.margin_above == 15.0


def test_scores_follow_the_window() -> None:
    run = drive("twin")
    told = run.to_json()
    assert told["n_over"] == 0  # though 70 ticks were hotter than the first window's top
    assert told["overshoot_k"] == 0.0
    assert told["t_max_k"] > BEFORE[1]
    assert (run.t_max > BEFORE[1]).sum() >= 65
    slow = drive("constant", 90)
    assert slow.windows is not None
    counted = slow.counted.below
    below = counted & (slow.t_max < slow.windows[:, 0])
    assert below[CHANGE + 1]
    assert slow.to_json()["below_fraction"] == below.sum() / counted.sum()
    assert told["series"]["window_low_k"][CHANGE : CHANGE + 2] == [BEFORE[0], AFTER[0]]


def test_less_light_on_the_plate_takes_more_power() -> None:
    run = drive("twin", absorbed=0.8)
    before, after = np.median(run.power[40:CHANGE]), np.median(run.power[CHANGE + 20 :])
    assert after / before == pytest.approx(1 / 0.8, rel=0.06)
    assert run.t_max[CHANGE + 1] < run.t_max[CHANGE] - 5.0


def test_a_hand_on_absorptivity_adds_to_the_faults_of_the_case() -> None:
    faults = (Fault(kind="absorbed", factor=0.5), Fault(kind="drop"))
    case = Scenario(path="diagonal", controller="constant", plant="graded", ticks=12, faults=faults)
    loop = prepare(case).loop()
    loop.set_absorbed(0.8)
    watched = loop.run()
    told = replace(case, faults=(*faults, Fault(kind="absorbed", factor=0.8)))
    assert watched.t_max.tolist() == prepare(told).run().t_max.tolist()
    assert np.isnan(watched.measured).all()


def test_who_watches_may_end_the_run() -> None:
    def watch(k: int, tick: Tick) -> None:
        if k == 4:
            raise StopRun("stopped by hand")

    case = Scenario(path="diagonal", plant="graded", ticks=60, delta_k=None)
    run = prepare(case).run(watch=watch)
    assert (len(run), run.ending) == (5, "stopped by hand")


def test_absorptivity_stays_within_reason() -> None:
    with pytest.raises(BadInput, match="by a factor of"):
        prepare(Scenario(path="diagonal", ticks=2, controller="constant")).loop().set_absorbed(0.0)
