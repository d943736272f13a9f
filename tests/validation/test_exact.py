"""Exact solutions that only tests need: each is checked against the equation it claims to solve."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from tests.validation.exact import Manufactured, cosine_decay

FloatArray = NDArray[np.float64]

PATIENT = settings(deadline=None, max_examples=40)  # the machine may be busy


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


# ---- the rod ----


@PATIENT
@given(st.floats(0.1, 0.9), st.floats(0.01, 1), st.integers(1, 4))
def test_the_insulated_rod_obeys_the_heat_equation_and_keeps_its_heat(x: float, t: float, mode: int) -> None:
    rod: dict[str, Any] = {"length": 1.0, "amplitude": 5.0, "diffusivity": 0.1, "mode": mode}

    def rise(event: FloatArray) -> float:
        return float(cosine_decay(event[0], event[1], **rod))

    along, later = np.array([5e-3, 0.0]), np.array([0.0, 1e-3])
    event, scale = np.array([x, t]), 5.0 * (mode * np.pi) ** 2 * 0.1
    assert slope(rise, event, later) == pytest.approx(0.1 * curvature(rise, event, along), abs=1e-4 * scale)
    for end in (0.0, 1.0):
        assert slope(rise, np.array([end, t]), along) == pytest.approx(0, abs=1e-9)
    cells = (np.arange(64) + 0.5) / 64
    assert cosine_decay(
        cells, t, length=1.0, amplitude=5.0, diffusivity=0.1, mode=mode
    ).sum() == pytest.approx(0, abs=1e-9)


# ---- the manufactured plate ----

SIZE = (1e-3, 8e-4, 5e-4)
RHO_C = Polynomial([7984.1, -0.26506, -1.158e-4]) * Polynomial([469.4, 0.1348])
PLATE = Manufactured(
    conductivity=Polynomial([8.116, 1.618e-2]),
    capacity=RHO_C,
    size=SIZE,
    ambient=700.0,
    amplitude=300.0,
    time_constant=2e-3,
    modes=(2, 1),
)
STEPS = np.diag([2e-6, 2e-6, 2e-6, 1e-5])  # m, m, m, s
INSIDE = st.tuples(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4), st.floats(0.1, 0.9)).map(
    lambda p: np.array(p) * np.array(SIZE)
)


def warmth(event: FloatArray) -> float:
    x, y, z, t = event
    return float(PLATE.temperature(x, y, z, t))


def flux(event: FloatArray, axis: int) -> float:
    """k ∂T/∂n along an axis."""
    return float(PLATE.conductivity(warmth(event))) * slope(warmth, event, STEPS[axis])


@PATIENT
@given(INSIDE, st.floats(1e-4, 5e-3))
def test_the_manufactured_plate_obeys_the_nonlinear_heat_equation(point: FloatArray, t: float) -> None:
    event = at_time(point, t)
    divergence = np.sum([slope(partial(flux, axis=axis), event, STEPS[axis]) for axis in range(3)])
    stored = float(RHO_C(warmth(event))) * slope(warmth, event, STEPS[3])
    scale = 20.0 * 300 * (2 * np.pi / SIZE[0]) ** 2
    source = float(PLATE.volumetric_source(point[0], point[1], point[2], t))
    assert source == pytest.approx(stored - divergence, abs=1e-6 * scale)


@PATIENT
@given(INSIDE, st.floats(0, 5e-3))
def test_the_manufactured_plate_has_insulated_sides_and_a_bottom_at_ambient(
    point: FloatArray, t: float
) -> None:
    x, y, z = point
    for side in (-0.5, 0.5):
        assert flux(np.array([side * SIZE[0], y, z, t]), axis=0) == pytest.approx(0, abs=1e-3)
        assert flux(np.array([x, side * SIZE[1], z, t]), axis=1) == pytest.approx(0, abs=1e-3)
    assert warmth(np.array([x, y, 0.0, t])) == 700.0
    assert warmth(at_time(point, 0.0)) == 700.0


@PATIENT
@given(INSIDE, st.floats(1e-4, 5e-3))
def test_the_surface_flux_of_the_manufactured_plate_is_the_slope_at_its_top(
    point: FloatArray, t: float
) -> None:
    inward = flux(np.array([point[0], point[1], SIZE[2], t]), axis=2)
    assert float(PLATE.surface_flux(point[0], point[1], t)) == pytest.approx(inward, rel=1e-6, abs=1e-2)


def test_the_manufactured_plate_takes_grids() -> None:
    x, y, z = np.zeros((1, 1, 4)), np.zeros((1, 3, 1)), np.zeros((2, 1, 1))
    assert PLATE.temperature(x, y, z, 1e-3).shape == (2, 3, 4)
    assert PLATE.volumetric_source(x, y, z, 1e-3).shape == (2, 3, 4)
    assert PLATE.surface_flux(x[0], y[0], 1e-3).shape == (3, 4)
