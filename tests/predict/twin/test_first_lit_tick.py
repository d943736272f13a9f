"""The peak that a plan makes: near the beam, and the same whatever was asked before."""

import numpy as np
import pytest

from laserloop.paths.path import Preview
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process

TICK, HOP = 1.25e-4, 38e-6


def forecast_beside_old_heat(hops: int) -> tuple[TwinPredictor, Preview]:
    """A vector has just ended; the next one begins so many hops of the beam away to the side."""
    twin, powers = TwinPredictor(Process()), np.full(30, 11.0)
    way = np.outer(np.arange(31), (HOP, 0.0))
    ahead = way[0] + (0.0, hops * HOP) + np.outer(np.arange(6), (HOP, 0.0)) + way[-1]
    for k in range(1, 31):
        past = min(k, twin.memory)
        seen = Preview(
            time=k * TICK,
            tick=TICK,
            positions=np.concatenate((way[k - past : k + 1] if k < 30 else way[30 - past : 30], ahead)),
            powers=powers[:past],
        )
        twin.observe(None, seen)
    return twin, seen


@pytest.mark.parametrize("hops", [2, 4, 6])
def test_what_a_plan_leads_to_does_not_depend_on_the_plans_before(hops: int) -> None:
    twin, seen = forecast_beside_old_heat(hops)
    plan = np.array([20.0, 13.0, 11.0, 11.0, 11.0])
    fresh = twin.observe(None, seen).predict(plan)
    told = twin.observe(None, seen)
    for before in (np.zeros(5), np.full(5, 2.0)):
        told.predict(before)
        told.linearise(before)
    assert told.predict(plan) == pytest.approx(fresh, abs=1e-9)


def test_without_light_the_peak_stays_near_the_beam() -> None:
    twin, seen = forecast_beside_old_heat(6)
    told = twin.observe(None, seen)
    told.predict(np.zeros(5))
    off = np.hypot(*(told.points - seen.ahead[1:]).T)
    assert off.max() <= 1.5001 * twin.body.sigma
