"""Changes in mid-run: who aims at a window follows it, scores follow it, and less light takes more power."""

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.loop.case import Hooks, LoopCase, Prepared, prepare, record, run_prepared
from laserloop.loop.run import Run, StopRun, Tick
from laserloop.loop.steer import Steering

CHANGE = 60  # tick
BEFORE, AFTER = (760.0, 800.0), (840.0, 880.0)


def drive(controller: str, ticks: int = 130, *, absorbed: float = 1.0) -> tuple[Run, Prepared]:
    """A straight line whose window, and perhaps absorptivity, changes on the way."""
    case = LoopCase(path="diagonal", controller=controller, plant="graded", ticks=ticks, delta_k=None)
    steering = Steering(BEFORE)

    def watch(k: int, tick: Tick) -> None:
        if k == CHANGE and absorbed == 1.0:
            steering.aim(*AFTER)
        elif k == CHANGE:
            steering.absorb(absorbed)

    hooks = Hooks(wrap=steering.wrap, drift=steering.drift, watch=watch)
    ready = prepare(case, hooks)
    return run_prepared(ready, hooks), ready


@pytest.mark.parametrize("controller", ["twin", "pi"])
def test_a_controller_follows_its_window_in_mid_run(controller: str) -> None:
    run, _ = drive(controller)
    assert run.windows is not None
    assert run.windows[CHANGE].tolist() == list(BEFORE)
    assert run.windows[CHANGE + 1].tolist() == list(AFTER)
    early, late = run.t_max[40:CHANGE], run.t_max[CHANGE + 30 :]
    assert ((early > BEFORE[0]) & (early < BEFORE[1])).mean() > 0.6
    assert ((late > AFTER[0]) & (late < AFTER[1])).mean() > 0.6


def test_scores_follow_the_window() -> None:
    run, ready = drive("twin")
    told = record(run, ready.problem, model=None)
    assert told["n_over"] == 0  # though 70 ticks were hotter than the first window's top
    assert told["overshoot_k"] == 0.0
    assert told["t_max_k"] > BEFORE[1]
    assert (run.t_max > BEFORE[1]).sum() >= 65
    slow, ready = drive("constant", 90)
    assert slow.windows is not None
    below = slow.settled & (slow.t_max < slow.windows[:, 0])
    assert below[CHANGE + 1]
    assert record(slow, ready.problem, model=None)["below_fraction"] == below.sum() / slow.settled.sum()
    assert told["series"]["window_low_k"][CHANGE : CHANGE + 2] == [BEFORE[0], AFTER[0]]


def test_less_light_on_the_plate_takes_more_power() -> None:
    run, _ = drive("twin", absorbed=0.8)
    before, after = np.median(run.power[40:CHANGE]), np.median(run.power[CHANGE + 20 :])
    assert after / before == pytest.approx(1 / 0.8, rel=0.06)
    assert run.t_max[CHANGE + 1] < run.t_max[CHANGE] - 5.0


def test_who_watches_may_end_the_run() -> None:
    def watch(k: int, tick: Tick) -> None:
        if k == 4:
            raise StopRun("stopped by hand")

    case = LoopCase(path="diagonal", plant="graded", ticks=60, delta_k=None)
    hooks = Hooks(watch=watch)
    run = run_prepared(prepare(case, hooks), hooks)
    assert (len(run), run.ending) == (5, "stopped by hand")


def test_absorptivity_stays_within_reason() -> None:
    with pytest.raises(BadInput, match="by a factor of"):
        Steering(BEFORE).absorb(0.0)
