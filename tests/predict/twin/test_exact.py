"""Exact solutions of a moving beam, against the equation that they solve, or against a simpler one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.predict.twin.exact import (
    moving_gaussian,
    quasi_steady_gaussian,
    quasi_steady_peak,
)
from laserloop.process.material import find_material

FloatArray = NDArray[np.float64]

POWER, SIGMA, K, ALPHA, SPEED = 14.0, 1e-4, 20.0, 4.5e-6, 0.3
STEEL: dict[str, Any] = {"power": POWER, "sigma": SIGMA, "conductivity": K, "diffusivity": ALPHA}
CAPACITY = K / ALPHA  # ρc
AT_REST = POWER / (np.sqrt(8 * np.pi) * K * SIGMA)

PATIENT = settings(deadline=None, max_examples=40)  # the machine may be busy
POINT = st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.5, 3)).map(lambda p: np.array(p) * SIGMA)


def slope(f: Callable[[FloatArray], float], at: FloatArray, step: FloatArray) -> float:
    """df/ds along `step`, to fourth order."""
    return (8 * (f(at + step) - f(at - step)) - (f(at + 2 * step) - f(at - 2 * step))) / (
        12 * float(step.max())
    )


def curvature(f: Callable[[FloatArray], float], at: FloatArray, step: FloatArray) -> float:
    """d²f/ds² along `step`, to fourth order."""
    near, far = f(at + step) + f(at - step), f(at + 2 * step) + f(at - 2 * step)
    return (16 * near - far - 30 * f(at)) / (12 * float(step.max()) ** 2)


def at_time(point: FloatArray, time: float) -> FloatArray:
    """The event (x, y, z, t)."""
    return np.append(point, time)


# ---- the moving Gaussian ----


@settings(max_examples=6, deadline=None)
@given(POINT, st.floats(2e-4, 2e-3), st.sampled_from([None, 4e-4]))
def test_the_moving_gaussian_obeys_the_heat_equation(
    point: FloatArray, time: float, thickness: float | None
) -> None:
    def rise(event: FloatArray) -> float:
        beam: dict[str, Any] = {"velocity": (0.24, 0.18), "start": (-1e-4, 5e-5), "thickness": thickness}
        return float(moving_gaussian(event[:3], float(event[3]), **beam, **STEEL))

    event, steps = at_time(point, time), np.diag([0.03 * SIGMA] * 3 + [1e-6])
    laplacian = np.sum([curvature(rise, event, step) for step in steps[:3]])
    rate = slope(rise, event, steps[3])
    assert rate == pytest.approx(ALPHA * laplacian, abs=1e-4 * ALPHA * AT_REST / SIGMA**2)


def test_the_heat_in_the_half_space_is_the_work_of_the_laser() -> None:
    time = 1e-3
    nodes, weights = np.polynomial.legendre.leggauss(22)
    x, wx = 0.5 * time * SPEED + 8e-4 * nodes, 8e-4 * weights
    half, w_half = 7e-4 * (nodes + 1) / 2, 7e-4 * weights / 2
    grid = np.stack(np.meshgrid(x, half, half, indexing="ij"), axis=-1)
    rise = moving_gaussian(grid, time, velocity=(SPEED, 0.0), **STEEL)
    heat = 2 * CAPACITY * np.einsum("ijk,i,j,k->", rise, wx, w_half, w_half)
    assert heat == pytest.approx(POWER * time, rel=1e-6)


def test_the_flux_into_the_surface_is_the_gaussian_beam() -> None:
    time, (x, y) = 1e-3, (0.8 * SIGMA, -0.5 * SIGMA)
    centre = np.array([SPEED * time, 0.0])
    d = 0.02 * SIGMA * np.arange(5)
    points = np.stack([np.full(5, centre[0] + x), np.full(5, y), d], axis=-1)
    T = moving_gaussian(points, time, velocity=(SPEED, 0.0), **STEEL)
    outward = np.dot([-25, 48, -36, 16, -3], T) / (12 * d[1])
    beam = POWER / (2 * np.pi * SIGMA**2) * np.exp(-(x**2 + y**2) / (2 * SIGMA**2))
    assert -K * outward == pytest.approx(beam, rel=1e-4)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 10))
def test_under_a_beam_at_rest_the_centre_warms_as_an_arctangent(time: float) -> None:
    rise = moving_gaussian([0.0, 0.0, 0.0], time, velocity=(0.0, 0.0), **STEEL)
    expected = AT_REST * 2 / np.pi * np.arctan(np.sqrt(2 * ALPHA * time) / SIGMA)
    assert float(rise) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(POINT, st.floats(0, 2 * np.pi), st.floats(1e-5, 1e-2))
def test_turning_the_path_turns_the_temperature_field(point: FloatArray, angle: float, time: float) -> None:
    c, s = np.cos(angle), np.sin(angle)
    turned = np.array([c * point[0] - s * point[1], s * point[0] + c * point[1], point[2]])
    straight = moving_gaussian(point, time, velocity=(SPEED, 0.0), **STEEL)
    oblique = moving_gaussian(turned, time, velocity=(SPEED * c, SPEED * s), **STEEL)
    assert float(oblique) == pytest.approx(float(straight), rel=1e-7, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(POINT, min_size=1, max_size=5), st.floats(0.01, 3))
def test_long_after_the_start_the_field_is_quasi_steady(points: list[FloatArray], speed: float) -> None:
    time = 200 * max(SIGMA / speed, ALPHA / speed**2)
    there = np.array(points) + np.array([speed * time, 0.0, 0.0])
    moving = moving_gaussian(there, time, velocity=(speed, 0.0), **STEEL)
    np.testing.assert_allclose(
        moving, quasi_steady_gaussian(points, speed=speed, **STEEL), atol=1e-6 * AT_REST
    )


@pytest.mark.parametrize("behind", [1e-2, 1e-1, 1.0])
def test_far_behind_the_beam_the_field_is_that_of_a_moving_point(behind: float) -> None:
    rise = quasi_steady_gaussian([[-behind, 0.0, 0.0]], speed=SPEED, **STEEL)
    width = SIGMA**2 * SPEED / (4 * ALPHA * behind)  # first correction for the size of the beam
    assert float(rise[0]) == pytest.approx(
        POWER / (2 * np.pi * K * behind) * (1 - width), rel=3 * width**2 + 1e-6
    )


def test_a_steady_beam_at_rest_warms_its_centre_by_p_over_root_8_pi_k_sigma() -> None:
    peak = quasi_steady_peak(speed=0.0, **STEEL)
    assert peak.rise == pytest.approx(AT_REST, rel=1e-12)
    assert peak.behind == 0


@settings(max_examples=10, deadline=None)
@given(st.floats(1e-3, 100))
def test_the_peak_is_hotter_than_every_other_point_and_lies_less_than_a_sigma_behind(speed: float) -> None:
    peak = quasi_steady_peak(speed=speed, **STEEL)
    assert 0 < peak.behind < 0.766 * SIGMA
    x = SIGMA * np.linspace(-2, 1, 61)
    line = np.stack([x, 0 * x, 0 * x], axis=-1)
    assert quasi_steady_gaussian(line, speed=speed, **STEEL).max() <= peak.rise * (1 + 1e-9) < AT_REST


def test_the_peak_of_the_papers_beam_is_bracketed_by_frozen_properties() -> None:
    steel, peaks = find_material("304"), []
    for T in (770.0, 540.0):
        k = float(steel.conductivity(T))
        alpha = k / float(steel.density(T) * steel.heat_capacity(T))
        peaks.append(
            300 + quasi_steady_peak(power=14.0, speed=0.3, sigma=1e-4, conductivity=k, diffusivity=alpha).rise
        )
    assert peaks == pytest.approx([856, 936], abs=4)


# ---- the plate ----


def test_the_lower_face_of_a_plate_stays_at_ambient() -> None:
    h = 3e-4
    faces = np.array([[-2e-4, 1e-4, h], [-1e-3, 0.0, h], [0.0, 0.0, h]])
    np.testing.assert_allclose(quasi_steady_gaussian(faces, speed=0.05, thickness=h, **STEEL), 0, atol=1e-9)


def test_images_and_modes_agree_where_one_takes_over_from_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.array([[0.0, 0.0, 0.0], [-3e-4, 1e-4, 1e-4]])
    rises = []
    for short in (0.05, 0.1, 0.2):
        monkeypatch.setattr("laserloop.predict.twin.exact.SHORT", short)
        rises.append(quasi_steady_gaussian(points, speed=0.0, thickness=3e-4, **STEEL))
    np.testing.assert_allclose(rises[0], rises[1], rtol=1e-8)
    np.testing.assert_allclose(rises[2], rises[1], rtol=1e-8)


def test_a_wide_beam_on_a_thin_plate_heats_it_as_a_wall() -> None:
    h, sigma = 1e-5, 1e-2
    peak = quasi_steady_peak(
        power=POWER, speed=0.0, sigma=sigma, conductivity=K, diffusivity=ALPHA, thickness=h
    )
    assert peak.rise == pytest.approx(POWER / (2 * np.pi * sigma**2) * h / K, rel=1e-5)


def test_a_cold_bottom_matters_less_the_thicker_the_plate() -> None:
    point = [[-1e-3, 0.0, 0.0]]
    half_space = quasi_steady_gaussian(point, speed=0.1, **STEEL)
    lost = [
        half_space - quasi_steady_gaussian(point, speed=0.1, thickness=h, **STEEL)
        for h in (2e-4, 4e-4, 1e-3, 1e-2)
    ]
    assert np.all(np.diff(lost, axis=0) < 0)
    assert abs(lost[-1]) < 1e-9


# ---- bad input ----


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sigma": 0.0}, "sigma must be finite and positive, got 0.0"),
        ({"conductivity": -1.0}, "conductivity must be finite and positive, got -1.0"),
        ({"diffusivity": np.nan}, "diffusivity must be finite and positive, got nan"),
        ({"thickness": 0.0}, "thickness must be finite and positive, got 0.0"),
        ({"power": np.inf}, "power and speed must be finite"),
        ({"velocity": (np.nan, 0.0)}, "power and speed must be finite"),
        ({"time": -1.0}, "time must be finite and not negative, got -1.0"),
        ({"points": [1.0, 2.0]}, r"points must have shape \(…, 3\), got \(2,\)"),
        ({"points": [0.0, 0.0, -1e-6]}, "depths from 0 to inf m, got depths -1e-06"),
        ({"points": [0.0, 0.0, 2e-3], "thickness": 1e-3}, "depths from 0 to 0.001 m, got depths 0.002"),
        ({"points": [np.nan, 0.0, 0.0]}, "points must be finite"),
    ],
)
def test_a_beam_or_body_that_cannot_be_is_refused(change: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"points": [0.0, 0.0, 0.0], "time": 1e-3, "velocity": (SPEED, 0.0), **STEEL}
    with pytest.raises(BadInput, match=words):
        moving_gaussian(**(good | change))


def test_a_quasi_steady_beam_does_not_move_backwards() -> None:
    with pytest.raises(BadInput, match=r"the speed not negative, got 14\.0 W and -0\.3 m/s"):
        quasi_steady_peak(speed=-0.3, **STEEL)
