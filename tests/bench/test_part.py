"""The layer that the bench drives."""

import numpy as np

from laserloop.bench.part import TURN, make_layer
from laserloop.process import Process


def test_a_layer_is_lit_along_its_lines_and_dark_between_them() -> None:
    path = make_layer(2e-3)
    hop = Process().speed * Process().tick
    hops = np.hypot(*np.diff(path.positions, axis=0).T)
    assert np.abs(hops[path.lit] - hop).max() < 0.01 * hop
    assert np.ptp(path.positions, axis=0).tolist() == [2e-3, 1.9e-3]
    assert np.count_nonzero(~path.lit) == 19 * TURN
    moved_y = np.diff(path.positions[:, 1]) != 0
    assert not np.any(moved_y & path.lit)


def test_a_layer_of_10_mm_has_26_000_lit_ticks() -> None:
    assert int(make_layer(10e-3).lit.sum()) == 26_300


def test_asked_for_more_ticks_it_goes_over_the_area_again() -> None:
    path = make_layer(1e-3, ticks=900)
    assert len(path) == 900
    assert np.abs(path.positions).max() <= 5e-4
    assert np.hypot(*np.diff(path.positions, axis=0).T).max() < 1e-4
