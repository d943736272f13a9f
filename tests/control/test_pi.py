"""PI: proportional, integral, and no wind-up."""

import numpy as np

from laserloop.control.controller import Status
from laserloop.control.simple import PiController, PiGains
from laserloop.paths.path import Preview
from laserloop.plant import Hottest, Image

GAINS = PiGains(setpoint=780.0, bias=14.0, gain=0.1, reset_time=1e-3)
TICK = 1e-4


def see(temperature: float, k: int = 0) -> Image:
    x = np.linspace(0.0, 3e-4, 4)
    frame = np.full((4, 4), 300.0 + 1e-6 * k)
    frame[1, 1] = temperature
    return Image(time=k * TICK, x=x, y=x, temperature=frame, peak=Hottest(temperature, 1e-4, 1e-4))


def look(k: int = 0, *, lit: bool = True) -> Preview:
    return Preview(
        time=k * TICK, tick=TICK, positions=np.zeros((2, 2)), powers=np.empty(0), lit=np.array([lit])
    )


def test_at_the_set_point_it_gives_its_bias() -> None:
    assert PiController(GAINS, (0.0, 20.0)).act(see(780.0), look()).power == 14.0


def test_too_cold_gives_more_power_and_goes_on_to() -> None:
    controller = PiController(GAINS, (0.0, 20.0))
    powers = [controller.act(see(770.0, k), look(k)).power for k in range(3)]
    assert np.allclose(powers, [14.0 + 0.1 * (10.0 + (k + 1) * 10.0 * TICK / 1e-3) for k in range(3)])


def test_a_long_heating_up_winds_nothing_up() -> None:
    controller = PiController(GAINS, (0.0, 20.0))
    for k in range(100):
        assert controller.act(see(400.0, k), look(k)).power == 20.0
    assert controller.act(see(780.0, 101), look(101)).power == 14.0


def test_the_dark_winds_nothing_up() -> None:
    controller = PiController(GAINS, (0.0, 20.0))
    for k in range(50):
        controller.act(see(750.0, k), look(k, lit=False))
    assert controller.act(see(780.0, 51), look(51)).power == 14.0


def test_blind_it_holds_and_at_the_start_gives_nothing() -> None:
    controller = PiController(GAINS, (0.0, 20.0))
    assert controller.act(None, look()).status is Status.EXHAUSTED
    held = controller.act(see(770.0), look()).power
    action = controller.act(None, look(1))
    assert (action.power, action.status) == (held, Status.BLIND)
