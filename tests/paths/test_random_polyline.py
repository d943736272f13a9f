import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import draw_polyline

EDGE = 1.5e-3
SEEDS = st.integers(0, 2**32 - 1)


def draw(seed: int, length: float = 15.2e-3) -> NDArray[np.float64]:
    return draw_polyline(np.random.default_rng(seed), length=length)


def signed_turns(vertices: NDArray[np.float64]) -> NDArray[np.float64]:
    headings = np.arctan2(*np.diff(vertices, axis=0).T[::-1])
    return np.asarray(np.degrees(np.angle(np.exp(1j * np.diff(headings)))))


def is_inside(vertices: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.abs(vertices).max(axis=1) < EDGE)


@settings(deadline=None, max_examples=50)
@given(SEEDS)
def test_a_reflected_polyline_stays_inside_the_scan_area(seed: int) -> None:
    vertices = draw(seed, 50e-3)
    assert np.abs(vertices).max() <= EDGE
    assert np.hypot(*np.diff(vertices, axis=0).T).sum() >= 50e-3


def test_a_polyline_reflects_like_a_billiard_ball() -> None:
    vertices = draw(0, 0.3)
    at_edge = np.flatnonzero(~is_inside(vertices[1:-1])) + 1
    assert len(at_edge) > 50
    before = np.diff(vertices, axis=0)[at_edge - 1]
    after = np.diff(vertices, axis=0)[at_edge]
    before /= np.hypot(*before.T)[:, np.newaxis]
    after /= np.hypot(*after.T)[:, np.newaxis]
    on_x_edge = np.abs(vertices[at_edge, 0]) == EDGE
    mirror = np.where(on_x_edge[:, np.newaxis], [-1, 1], [1, -1])
    np.testing.assert_allclose(after, before * mirror, atol=1e-6)


def test_segments_between_inner_vertices_are_as_long_as_the_paper_says() -> None:
    vertices = draw(1, 0.5)
    inner = is_inside(vertices)
    lengths = np.hypot(*np.diff(vertices, axis=0).T)[inner[1:] & inner[:-1]]
    assert lengths.min() >= 0.12e-3 - 1e-12
    assert lengths.max() <= 0.25e-3 + 1e-12
    assert lengths.mean() == pytest.approx(0.185e-3, abs=0.005e-3)
    assert lengths.std() == pytest.approx(0.13e-3 / np.sqrt(12), rel=0.05)


def test_half_of_the_turns_are_near_reversals() -> None:
    vertices = draw(2, 0.5)
    turns = signed_turns(vertices)[is_inside(vertices)[1:-1]]
    size = np.abs(turns)
    assert size.min() >= 30 - 1e-6
    assert size.max() <= 170 + 1e-6
    assert (size > 120).mean() == pytest.approx(0.5, abs=0.03)
    assert size[size > 120].mean() == pytest.approx(145, abs=1.5)
    assert size[size < 120].mean() == pytest.approx(75, abs=2.5)
    assert (turns > 0).mean() == pytest.approx(0.5, abs=0.03)


def test_starts_are_spread_over_the_area_and_all_headings() -> None:
    paths = [draw(seed, 1e-4) for seed in range(500)]
    starts = np.array([path[0] for path in paths])
    first = np.array([path[1] - path[0] for path in paths])
    quadrants = np.bincount(2 * (starts[:, 0] > 0) + (starts[:, 1] > 0))
    headings = np.histogram(np.arctan2(first[:, 1], first[:, 0]), bins=4, range=(-np.pi, np.pi))[0]
    assert quadrants.min() > 90
    assert headings.min() > 90


@settings(deadline=None, max_examples=20)
@given(SEEDS)
def test_the_same_seed_draws_the_same_path_and_another_seed_another(seed: int) -> None:
    np.testing.assert_array_equal(draw(seed), draw(seed))
    assert not np.array_equal(draw(seed)[:5], draw(seed + 1)[:5])


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.floats(1e-4, 10e-3))
def test_a_longer_path_begins_with_the_shorter_one(seed: int, length: float) -> None:
    short = draw(seed, length)
    np.testing.assert_array_equal(draw(seed, 15e-3)[: len(short)], short)


@pytest.mark.parametrize("length", [0.0, np.nan, 1e9])
def test_a_polyline_of_absurd_length_is_refused(length: float) -> None:
    with pytest.raises(BadInput, match="at most 100 m"):
        draw(0, length)
