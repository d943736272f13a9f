"""Remapping: heat on one grid, given to another."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.plant.checkerboard import Checkerboard
from laserloop.plant.moving_grid import make_axis
from laserloop.plant.remap import find_weights, remap

AXIS = make_axis(8e-3, 5e-5)
HERE, THERE = (60, 80), (72, 92)
FloatArray = NDArray[np.float64]


def means(nodes: FloatArray, power: int) -> FloatArray:
    """The mean of x^power over each control volume."""
    faces = nodes / 4e-3
    return np.diff(faces ** (power + 1)) / (power + 1) / np.diff(faces)


def dense(old: FloatArray, new: FloatArray) -> FloatArray:
    return find_weights(old, new)[0]


def test_heat_is_kept_to_round_off_whatever_its_shape() -> None:
    old, new = AXIS.faces(HERE), AXIS.faces(THERE)
    heat = np.random.default_rng(1).normal(size=len(old) - 1)
    before, after = np.diff(old) @ heat, np.diff(new) @ (dense(old, new) @ heat)
    assert after == pytest.approx(before, rel=1e-12)


def test_a_volume_whose_faces_stay_keeps_its_value_to_the_last_bit() -> None:
    old, new = AXIS.faces(HERE), AXIS.faces(THERE)
    heat = np.random.default_rng(2).normal(size=len(old) - 1)
    moved = dense(old, new) @ heat
    there = {faces: n for n, faces in enumerate(pairwise(old))}
    kept = 0
    for n, faces in enumerate(pairwise(new)):
        if faces in there:
            assert moved[n] == heat[there[faces]]
            kept += 1
    assert 0.4 * len(new) < kept < len(new)


@pytest.mark.parametrize("power", [0, 1, 2])
def test_parabolas_are_moved_exactly(power: int) -> None:
    for old, new in ((HERE, THERE), (THERE, HERE), (HERE, (0, 8))):
        nodes = AXIS.faces(old), AXIS.faces(new)
        np.testing.assert_allclose(dense(*nodes) @ means(nodes[0], power), means(nodes[1], power), atol=1e-12)


def test_rows_and_columns_of_a_packed_field_are_moved_and_deeper_levels_are_left() -> None:
    old_x, old_y, new_x, new_y = (AXIS.faces(f) for f in (HERE, THERE, THERE, (8, 24)))
    old, new = (Checkerboard(3, len(y) - 1, len(x) - 1) for x, y in ((old_x, old_y), (new_x, new_y)))
    field = np.random.default_rng(3).normal(size=(old.nz, old.ny, old.nx))
    out, rows, columns = np.zeros(new.size), find_weights(old_y, new_y), find_weights(old_x, new_x)
    remap(out, old.pack(field), new.strides, old.strides, rows, columns, 2)
    expected = np.einsum("yY,xX,zYX->zyx", dense(old_y, new_y), dense(old_x, new_x), field)
    expected[2] = 0.0
    np.testing.assert_allclose(new.unpack(out), expected, atol=1e-13)
