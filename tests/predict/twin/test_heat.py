"""The twin's field against the exact integrals, and its images against a plant of constant properties."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.paths.path import ScanPath
from laserloop.plant import Plant, graded_settings
from laserloop.plant.exact import moving_gaussian, quasi_steady_gaussian
from laserloop.predict.twin.heat import Body
from laserloop.predict.twin.history import SHARES, History
from laserloop.predict.twin.moments import Moments
from laserloop.predict.twin.pulse import make_rule
from laserloop.process import Material, Process

SIGMA, K, RHO, CP = 1e-4, 15.0, 7900.0, 520.0
ALPHA = K / (RHO * CP)
THICK = (1.0, 1.0, 1.0)  # m; a half-space for all that happens here
AROUND = SIGMA * np.array([[0.0, 0.0], [-0.7, 0.0], [-2.0, 0.3], [0.5, 0.0], [0.0, 1.0]])
FloatArray = NDArray[np.float64]


def heat(
    ends: FloatArray, tick: float, watts: float, points: FloatArray, plate: tuple[float, float, float]
) -> FloatArray:
    """u over k, K, after a beam went along `ends`."""
    body = Body(sigma=SIGMA, alpha=ALPHA, plate=plate)
    hop = float(np.hypot(*np.diff(ends, axis=0).T).max())
    rule = make_rule(tick, hop, SIGMA, ALPHA)
    history = History(body, tick, 0.02 * K / SHARES, rule.lags + 1)
    for k in range(len(ends) - 1):
        history.add(k + 1, watts * tick, ends[k : k + 2])
    count = len(ends) - 1
    now = Moments(body, rule, history, tick=tick, ends=ends, first=0, moments=np.array([count]))
    return now.driven(np.full(count, watts)).at(points) / K


def line(speed: float, tick: float, ticks: int) -> FloatArray:
    return np.outer(speed * tick * np.arange(ticks + 1), [0.6, 0.8])


@pytest.mark.parametrize("speed", [0.0, 0.304, 1.5])
@pytest.mark.parametrize(("tick", "ticks"), [(1e-6, 300), (1.25e-4, 30), (1e-3, 12)])
def test_the_transient_field_is_the_exact_integral(speed: float, tick: float, ticks: int) -> None:
    ends = line(speed, tick, ticks)
    points = ends[-1] + AROUND
    exact = moving_gaussian(
        np.column_stack((points, np.zeros(len(points)))),
        ticks * tick,
        power=10.0,
        velocity=(0.6 * speed, 0.8 * speed),
        sigma=SIGMA,
        conductivity=K,
        diffusivity=ALPHA,
    )
    assert heat(ends, tick, 10.0, points, THICK) == pytest.approx(exact, abs=1e-3 * exact.max())


@pytest.mark.parametrize("speed", [0.1, 0.304, 1.0])
def test_long_after_the_start_it_is_the_quasi_steady_field(speed: float) -> None:
    ends = line(speed, 1.25e-4, 400)
    frame = np.column_stack((AROUND, np.zeros(len(AROUND))))
    exact = quasi_steady_gaussian(
        frame, power=10.0, speed=speed, sigma=SIGMA, conductivity=K, diffusivity=ALPHA
    )
    turned = AROUND @ np.array([[0.6, 0.8], [-0.8, 0.6]])  # the frame's axes: along the way and to its left
    found = heat(ends, 1.25e-4, 10.0, ends[-1] + turned, THICK)
    assert found == pytest.approx(exact, abs=1e-3 * exact.max())


@pytest.mark.parametrize(
    ("plate", "start", "step"),
    [
        ((6e-3, 4e-3, 0.2e-3), (-1e-3, 0.0), (5e-6, 0.0)),  # thin
        ((6e-3, 4e-3, 2e-3), (-1e-3, 1.7e-3), (1e-6, 0.0)),  # along an edge, 0.3 mm from it
        ((6e-3, 4e-3, 2e-3), (2.5e-3, 1.7e-3), (1e-6, 0.0)),  # into a corner
    ],
    ids=["thin", "edge", "corner"],
)
def test_images_stand_for_the_bottom_and_the_sides(
    plate: tuple[float, float, float], start: tuple[float, float], step: tuple[float, float]
) -> None:
    process = Process(material=Material.constant(k=K, rho=RHO, cp=CP), plate=plate)
    ends = np.array(start) + np.outer(np.arange(161), step)
    path = ScanPath(name="test", positions=ends)
    low, high = ends.min(axis=0), ends.max(axis=0)
    plant = Plant(graded_settings(process, region=(low[0], high[0], low[1], high[1]), refine=1.5))
    plant.reset()
    for k in range(len(path)):
        surface = plant.step(6.0, path.spot(k))
    peak = surface.peak
    point = np.array([[peak.x, peak.y]])
    rise = heat(ends, process.tick, 6.0, point, plate)[0]
    free = heat(ends, process.tick, 6.0, point, THICK)[0]
    assert rise == pytest.approx(peak.temperature - process.ambient, rel=0.01)
    assert abs(rise - free) > 0.015 * free  # the plate's size matters here
