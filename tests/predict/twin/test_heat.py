"""The twin's field against the exact integrals, and its images against a plant of constant properties."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.paths.path import ScanPath
from laserloop.plant import make_plant
from laserloop.predict.twin.exact import moving_gaussian, quasi_steady_gaussian
from laserloop.predict.twin.heat import LAGS, POINTS, SHARES, HeatSum, Medium, ThermalHistory, make_quadrature
from laserloop.process import Material, Process

SIGMA, K, RHO, CP = 1e-4, 15.0, 7900.0, 520.0
ALPHA = K / (RHO * CP)
THICK = (1.0, 1.0, 1.0)  # m; a half-space for all that happens here
AROUND = SIGMA * np.array([[0.0, 0.0], [-0.7, 0.0], [-2.0, 0.3], [0.5, 0.0], [0.0, 1.0]])
FloatArray = NDArray[np.float64]


def heat(
    ends: FloatArray,
    tick: float,
    watts: float,
    points: FloatArray,
    plate: tuple[float, float, float],
    lags: int = LAGS,
) -> FloatArray:
    """u over k, K, after a beam went along `ends`."""
    body = Medium(sigma=SIGMA, alpha=ALPHA, plate=plate)
    hop = float(np.hypot(*np.diff(ends, axis=0).T).max())
    rule = make_quadrature(tick, hop, SIGMA, ALPHA, lags)
    history = ThermalHistory(body, tick, 0.02 * K / SHARES, rule.lags + 1)
    for k in range(len(ends) - 1):
        history.add(k + 1, watts * tick, ends[k : k + 2])
    count = len(ends) - 1
    now = HeatSum(body, rule, history, tick=tick, ends=ends, first=0, moments=np.array([count]))
    return now.powered(np.full(count, watts)).at(points) / K


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
    ("plate", "start", "step", "ticks"),
    [
        ((6e-3, 4e-3, 0.2e-3), (-1e-3, 0.0), (5e-6, 0.0), 160),  # thin
        ((6e-3, 4e-3, 2e-3), (-1e-3, 1.7e-3), (1e-6, 0.0), 160),  # along an edge, 0.3 mm from it
        ((6e-3, 4e-3, 2e-3), (2.5e-3, 1.7e-3), (1e-6, 0.0), 160),  # into a corner
        ((1e-3, 0.8e-3, 2e-3), (-0.1e-3, 0.05e-3), (1e-7, 0.0), 600),  # smaller than the heat
        ((0.8e-3, 4e-3, 2e-3), (0.1e-3, -1.6e-3), (-1e-7, 0.0), 600),  # narrower, near an end
    ],
    ids=["thin", "edge", "corner", "small", "narrow"],
)
def test_images_stand_for_the_bottom_and_the_sides(
    plate: tuple[float, float, float], start: tuple[float, float], step: tuple[float, float], ticks: int
) -> None:
    process = Process(material=Material.constant(k=K, rho=RHO, cp=CP), plate=plate)
    ends = np.array(start) + np.outer(np.arange(ticks + 1), step)
    path = ScanPath(name="test", positions=ends)
    plant = make_plant("graded", process, refine=1.5)
    plant.reset()
    for k in range(len(path)):
        surface = plant.step(6.0, path.spot(k))
    peak = surface.peak
    point = np.array([[peak.x, peak.y]])
    rise = heat(ends, process.tick, 6.0, point, plate)[0]
    free = heat(ends, process.tick, 6.0, point, THICK)[0]
    assert rise == pytest.approx(peak.temperature - process.ambient, rel=0.01)
    assert abs(rise - free) > 0.015 * free  # the plate's size matters here


@pytest.mark.parametrize("lags", [8, 9, 10, 32, 100])
@pytest.mark.parametrize("hop", [0.0, 0.4 * SIGMA, 25 * SIGMA])
def test_a_rule_keeps_all_energy_and_has_room_in_c_however_far_it_looks(lags: int, hop: float) -> None:
    rule = make_quadrature(1.25e-4, hop, SIGMA, ALPHA, lags)
    assert len(rule.lag) <= POINTS
    assert rule.lags == lags
    shares = np.bincount(rule.lag, rule.share)
    assert shares == pytest.approx(np.ones(lags), rel=1e-12)


def test_a_rule_that_looks_ten_ticks_ahead_is_as_exact_over_long_hops() -> None:
    ends, tick = line(6.0, 1.25e-4, 14), 1.25e-4  # 7.5 σ in a tick
    points = ends[-1] + AROUND
    usual = heat(ends, tick, 10.0, points, THICK)
    assert heat(ends, tick, 10.0, points, THICK, 10) == pytest.approx(usual, abs=1e-3 * usual.max())
