import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import Track, track
from laserloop.paths.track import Move, join_moves

mm = 1e-3
PLATE = (15 * mm, 10 * mm)


def lay(*moves: Move, layer: int | None = None) -> Track:
    return join_moves(iter(moves), file="part", layer=layer)


def test_moves_apart_are_joined_by_a_dark_leg_without_a_speed() -> None:
    found = lay(
        Move(line=1, points=[0j, 1 * mm], speed=0.4, power=9.0),
        Move(line=2, points=[1 * mm + 1j * mm, 1j * mm], speed=0.8, power=9.0),
    )
    np.testing.assert_allclose(found.points / mm, [[0, 0], [1, 0], [1, 1], [0, 1]])
    assert found.lit.tolist() == [True, False, True]
    np.testing.assert_array_equal(found.speeds, [0.4, np.nan, 0.8])


def test_ends_that_rounding_parts_are_no_gap() -> None:
    near = lay(Move(line=1, points=[0j, 1 * mm]), Move(line=2, points=[1.0005 * mm, 2 * mm]))
    assert near.lit.all()
    apart = lay(Move(line=1, points=[0j, 1 * mm]), Move(line=2, points=[1.002 * mm, 2 * mm]))
    assert apart.lit.tolist() == [True, False, True]


def test_dark_moves_between_lit_ones_stay_with_their_detour_and_their_rest() -> None:
    found = lay(
        Move(line=1, points=[0j, 1 * mm], speed=0.4),
        Move(line=2, points=[1 * mm, 1 * mm + 4j * mm], lit=False, speed=2.0),
        Move(line=3, points=[1 * mm + 4j * mm] * 2, lit=False, rest=0.5),
        Move(line=4, points=[1 * mm + 4j * mm, 1 * mm], lit=False, speed=2.0),
        Move(line=5, points=[1 * mm, 2 * mm], speed=0.4),
    )
    lengths = found.lengths
    assert lengths[found.lit].sum() == pytest.approx(2 * mm)
    assert lengths[~found.lit].sum() == pytest.approx(8 * mm)
    assert found.rests.sum() == 0.5
    assert not found.lit[found.rests > 0].any()
    np.testing.assert_allclose(found.speeds[(lengths > 0) & ~found.lit], 2.0)


def test_dark_moves_before_the_first_and_after_the_last_lit_one_are_left_out() -> None:
    found = lay(
        Move(line=1, points=[9.0, 0j], lit=False, rest=1.0),
        Move(line=2, points=[0j, 1 * mm]),
        Move(line=3, points=[1 * mm, 9.0], lit=False),
    )
    np.testing.assert_allclose(found.points / mm, [[0, 0], [1, 0]])
    assert not found.rests.any()


LOW, HIGH = 0.04 * mm, 0.08 * mm
TWO_LAYERS = (
    Move(line=1, points=[0j, 1 * mm], level=LOW),
    Move(line=2, points=[1 * mm, 5 * mm], lit=False),
    Move(line=3, points=[5 * mm, 6 * mm], level=HIGH),
    Move(line=4, points=[6 * mm, 1 * mm], lit=False),
    Move(line=5, points=[1 * mm, 2 * mm], level=LOW + 1e-12),
)


def test_the_first_layer_is_taken_wherever_in_the_file_its_moves_are() -> None:
    found = lay(*TWO_LAYERS)
    np.testing.assert_allclose(found.points[:, 0] / mm, [0, 1, 1, 2])
    assert found.notes == ("part has 2 layers with lit moves; the first, z = 0.04 mm, is used",)


def test_a_layer_is_chosen_by_its_number() -> None:
    np.testing.assert_allclose(lay(*TWO_LAYERS, layer=2).points[:, 0] / mm, [5, 6])
    np.testing.assert_array_equal(lay(*TWO_LAYERS, layer=1).points, lay(*TWO_LAYERS).points)
    assert lay(*TWO_LAYERS, layer=2).notes == ()
    with pytest.raises(BadInput, match=r"part: the layer must be 1 to 2, .*, but is 3"):
        lay(*TWO_LAYERS, layer=3)


def test_a_track_moves_by_an_offset_and_to_the_centre_by_its_lit_part() -> None:
    found = lay(
        Move(line=1, points=[50 * mm + 50j * mm, 54 * mm + 50j * mm]),
        Move(line=2, points=[54 * mm + 50j * mm, 90 * mm], lit=False),
        Move(line=3, points=[90 * mm, 54 * mm + 52j * mm], lit=False),
        Move(line=4, points=[54 * mm + 52j * mm, 50 * mm + 52j * mm]),
    )
    ends = ([0, -1], slice(None))
    np.testing.assert_allclose(found.centre().points[ends] / mm, [[-2, -1], [-2, 1]])
    np.testing.assert_allclose(found.shift((-0.05, -0.05)).points[ends] / mm, [[0, 0], [0, 2]], atol=1e-12)
    assert found.shift((0.0, 0.0)) is found
    with pytest.raises(BadInput, match="an offset must be finite"):
        found.shift((float("nan"), 0.0))


def test_a_lit_point_off_the_plate_is_named_with_its_line_and_a_cure() -> None:
    found = lay(Move(line=3, points=[0j, 1 * mm]), Move(line=7, points=[1 * mm, 8 * mm]))
    with pytest.raises(BadInput, match=r"part, line 7: every point must lie .* or centre or shift the path"):
        found.check("part", PLATE)


def test_a_dark_move_may_leave_the_plate() -> None:
    lay(
        Move(line=1, points=[0j, 1 * mm]),
        Move(line=2, points=[1 * mm, 80 * mm], lit=False),
        Move(line=3, points=[80 * mm, 2 * mm], lit=False),
        Move(line=4, points=[2 * mm, 3 * mm]),
    ).check("part", PLATE)


@pytest.mark.parametrize("far", [1e300, 1e308, float("inf")])
def test_an_absurd_point_is_off_the_plate(far: float) -> None:
    with pytest.raises(BadInput, match="part, line 3: every point must lie"):
        lay(Move(line=3, points=[complex(-far, far), complex(far, -far)])).check("part", PLATE)


def test_no_lit_moves_or_one_place_are_no_path() -> None:
    for moves in ((), (Move(line=1, points=[0j, 1 * mm], lit=False),)):
        with pytest.raises(BadInput, match="part, line 1: a path needs moves with the laser on"):
            lay(*moves)
    spot = [1 * mm, 1 * mm]
    resting = lay(Move(line=2, points=spot, rest=1.0), Move(line=4, points=spot, rest=1.0))
    with pytest.raises(BadInput, match=r"part, line 2: a path needs at least two .* \(1, 0\) mm .* line 4"):
        resting.check("part", PLATE)


@pytest.mark.parametrize("lit", [True, False])
def test_too_many_waypoints_are_refused_lit_or_dark(lit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(track, "MAX_WAYPOINTS", 5)
    moves = [Move(line=k, points=[k * mm, (k + 1) * mm], lit=lit or k == 0) for k in range(4)]
    assert len(lay(*moves[:2]).points) == (4 if lit else 2)
    with pytest.raises(BadInput, match="part, line 2: a layer may have at most 5 waypoints"):
        lay(*moves)


def test_a_file_of_too_many_layers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(track, "MAX_FILE_WAYPOINTS", 5)
    with pytest.raises(BadInput, match="part, line 2: a file may have at most 5 waypoints"):
        lay(*(Move(line=k, points=[0j, 1 * mm], level=k * mm) for k in range(4)))
