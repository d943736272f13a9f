"""The graded plant against the exact quasi-steady moving Gaussian, constant properties."""

import numpy as np
import pytest

from laserloop.plant import make_plant
from laserloop.predict.twin.exact import Peak, quasi_steady_peak
from laserloop.process import Material, Process


def graded_and_exact(speed: float) -> tuple[float, Peak]:
    """Peak rise of the graded plant, K, at the end of a line, and the exact one; the lag is checked here."""
    k, rho, cp, power = 20.0, 7800.0, 550.0, 14.0
    length = 3.2e-3 if speed > 0.2 else 2.4e-3
    process = Process(material=Material.constant(k=k, rho=rho, cp=cp), speed=speed)
    plant = make_plant("graded", process)
    ticks = int(length / (speed * process.tick))
    x = -length / 2 + speed * process.tick * np.arange(ticks + 1)
    for n in range(ticks):
        surface = plant.step(power, np.stack((x[n : n + 2], np.zeros(2)), axis=1))
    exact = quasi_steady_peak(
        power=power, speed=speed, sigma=1e-4, conductivity=k, diffusivity=k / (rho * cp)
    )
    assert x[-1] - surface.peak.x == pytest.approx(exact.behind, abs=2e-6)
    return surface.peak.temperature - 300.0, exact


@pytest.mark.parametrize(("speed", "share"), [(0.1, 2e-3), (0.304, 1e-3), (1.0, 8e-3)])
def test_the_graded_peak_is_that_of_the_exact_integral(speed: float, share: float) -> None:
    """At 1 m/s heat gets no deeper than a cell while the beam goes by."""
    rise, exact = graded_and_exact(speed)
    assert rise == pytest.approx(exact.rise, rel=share)
