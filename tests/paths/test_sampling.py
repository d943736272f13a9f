import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import ScanPath, sample_polyline, sample_track
from laserloop.paths.track import Move, join_moves

mm = 1e-3
TICK = 1.25e-4
HOP = 0.304 * TICK


def sample(
    *moves: Move,
    speed: float | None = None,
    ticks: int | None = None,
    jump_speed: float = 1.0,
    default_speed: float = 0.304,
) -> ScanPath:
    return sample_track(
        join_moves(iter(moves), file="part"),
        name="part",
        speed=speed,
        default_speed=default_speed,
        jump_speed=jump_speed,
        tick=TICK,
        ticks=ticks,
    )


def jump(speed: float = np.nan, rest: float = 0.0) -> list[Move]:
    """Two lit lines of 20 ticks, 1 mm apart."""
    return [
        Move(line=1, points=[0j, 1 * mm], speed=0.4, power=10.0),
        Move(line=2, points=[1 * mm, 1 * mm + 1j * mm], lit=False, speed=speed, rest=rest),
        Move(line=3, points=[1 * mm + 1j * mm, 1j * mm], speed=0.4, power=6.0),
    ]


@settings(deadline=None, max_examples=40)
@given(arrays(np.float64, st.tuples(st.integers(2, 8), st.just(2)), elements=st.floats(-3e-3, 3e-3)))
def test_at_one_speed_a_track_is_a_sampled_polyline(waypoints: NDArray[np.float64]) -> None:
    assume(np.hypot(*np.diff(waypoints, axis=0).T).sum() > 1.01 * HOP)
    path = sample(Move(line=1, points=[complex(x, y) for x, y in waypoints], speed=0.304))
    expected = sample_polyline(waypoints, name="part")
    assert abs(len(path) - len(expected)) <= 1
    ticks = min(len(path), len(expected)) + 1
    np.testing.assert_allclose(path.positions[:ticks], expected.positions[:ticks], atol=1e-12)
    assert path.notes == ()


def test_each_move_keeps_its_own_speed_and_the_beam_rests_where_it_is_told() -> None:
    path = sample(
        Move(line=1, points=[0j, 1 * mm], speed=0.4),  # 20 ticks
        Move(line=2, points=[1 * mm, 1 * mm], speed=0.4, rest=10 * TICK),
        Move(line=3, points=[1 * mm, 1 * mm + 1j * mm], speed=0.8),  # 10 ticks
    )
    assert len(path) == 40
    assert path.lit.all()
    np.testing.assert_allclose(path.positions[10], [0.5 * mm, 0], atol=1e-12)
    np.testing.assert_allclose(path.positions[20:31], np.tile([1 * mm, 0], (11, 1)), atol=1e-12)
    np.testing.assert_allclose(path.positions[35], [1 * mm, 0.5 * mm], atol=1e-12)


def test_a_given_speed_is_for_all_lit_moves_but_leaves_rests_and_jumps_alone() -> None:
    moves = [
        Move(line=1, points=[0j, 1 * mm], speed=0.4, rest=5 * TICK),
        Move(line=2, points=[1 * mm, 2 * mm]),
    ]
    assert len(sample(*moves, speed=0.2)) == 40 + 5 + 40
    assert sample(*moves, speed=0.2).notes == ()
    assert len(sample(*jump(speed=0.8), speed=0.2)) == 40 + 10 + 40


def test_moves_without_a_speed_go_at_the_default_and_a_note_says_so() -> None:
    moves = [Move(line=1, points=[0j, 1 * mm], speed=0.4), Move(line=2, points=[1 * mm, 2 * mm])]
    path = sample(*moves, default_speed=0.2)
    assert len(path) == 20 + 40
    assert path.notes == ("part: moves without a speed of their own go at 200 mm/s",)


@pytest.mark.parametrize(
    ("speed", "jump_speed", "ticks"), [(0.8, 9.0, 10), (np.nan, 1.0, 8), (np.nan, 0.4, 20)]
)
def test_a_jump_goes_as_fast_as_its_file_says_or_at_the_jump_speed_with_a_note(
    speed: float, jump_speed: float, ticks: int
) -> None:
    path = sample(*jump(speed), jump_speed=jump_speed)
    assert path.lit.tolist() == [True] * 20 + [False] * ticks + [True] * 20
    np.testing.assert_allclose(path.positions[20 + ticks // 2], [1 * mm, 0.5 * mm], atol=1e-12)
    note = f"part: dark moves without a speed go at {1e3 * jump_speed:g} mm/s"
    assert (note in path.notes) is bool(np.isnan(speed))
    assert f"{ticks} of {40 + ticks} ticks are dark" in path.notes[-1]
    assert "the laser is off once, along 1 of 3 mm" in path.notes[-1]


def test_dark_stretches_are_counted() -> None:
    back = [
        Move(line=4, points=[1j * mm, 0j], lit=False, speed=0.8),
        Move(line=5, points=[0j, 1 * mm], speed=0.4, power=6.0),
    ]
    assert "the laser is off 2 times, along 2 of 5 mm" in sample(*jump(speed=0.8), *back).notes[-1]


def test_a_detour_and_a_rest_in_the_dark_keep_their_time() -> None:
    straight = sample(*jump(speed=0.8))
    rested = sample(*jump(speed=0.8, rest=7 * TICK))
    first, _, last = jump()
    corner = 1 * mm + 5j * mm
    detour = sample(
        first,
        Move(line=2, points=[1 * mm, corner], lit=False, speed=0.8),  # 50 ticks up
        Move(line=2, points=[corner, 1 * mm + 1j * mm], lit=False, speed=0.8),  # 40 ticks down
        last,
    )
    assert [np.count_nonzero(~path.lit) for path in (straight, rested, detour)] == [10, 17, 90]
    np.testing.assert_allclose(detour.positions[70], [1 * mm, 5 * mm], atol=1e-12)


@pytest.mark.parametrize(("dark", "lit"), [(0.49, 1), (0.51, 0)])
def test_a_tick_is_lit_if_at_least_half_of_it_is(dark: float, lit: int) -> None:
    path = sample(
        Move(line=1, points=[0j, 1 * mm], speed=0.4, power=10.0),
        Move(line=2, points=[1 * mm, 1 * mm], lit=False, rest=dark * TICK),
        Move(line=3, points=[1 * mm, 2 * mm], speed=0.4, power=6.0),
        Move(line=4, points=[2 * mm, 3 * mm], speed=0.4, power=1.0),
    )
    assert path.lit[20] == lit
    assert path.lit[:20].all()
    assert path.lit[21:].all()
    assert path.power is not None
    assert path.power[20] == 6.0
    assert path.lit_shares[20] == pytest.approx(1 - dark)


def test_commanded_powers_are_means_over_the_lit_part_of_each_tick() -> None:
    path = sample(
        Move(line=1, points=[0j, 1.025 * mm], speed=0.4, power=10.0),  # 20.5 ticks
        Move(line=2, points=[1.025 * mm, 2 * mm], speed=0.4, power=6.0),
    )
    assert path.power is not None
    np.testing.assert_allclose(path.power[[0, 19, 20, 21]], [10, 10, 8, 6])


def test_a_path_has_powers_only_if_every_lit_move_has_one() -> None:
    named, unnamed = (Move(line=1, points=[0j, 1 * mm], speed=0.4, power=p) for p in (9.0, np.nan))
    other = Move(line=2, points=[1 * mm, 2 * mm], speed=0.4)
    assert sample(unnamed, other).power is None
    assert sample(unnamed, other).notes == ()
    assert sample(named, other).power is None
    assert "some lit moves have no power of their own" in sample(named, other).notes[0]


def test_a_laser_that_is_never_on_for_half_a_tick_is_refused() -> None:
    dots = [
        move
        for k in range(5)
        for move in (
            Move(line=k, points=[k * mm, k * mm + 1e-5], speed=0.4),  # a fifth of a tick
            Move(line=k, points=[k * mm + 1e-5, (k + 1) * mm], lit=False, speed=0.8),
        )
    ]
    with pytest.raises(BadInput, match="the laser must be on for half of at least one tick, but in part"):
        sample(*dots)


def test_ticks_cut_a_track_short_but_cannot_lengthen_it() -> None:
    move = Move(line=1, points=[0j, 1 * mm], speed=0.4)
    assert len(sample(move, ticks=7)) == 7
    with pytest.raises(BadInput, match="path part is 20 ticks long, but 21 were asked for"):
        sample(move, ticks=21)
    with pytest.raises(BadInput, match="at least 1 tick, but 0 were"):
        sample(move, ticks=0)


@pytest.mark.parametrize(
    ("speed", "rest", "match"),
    [
        (20.0, 0.0, "at least one tick, but part lasts 50 µs and a tick 125 µs; .* if its numbers are m"),
        (1e-9, 0.0, "at most 10000000 ticks, but all of part, which lasts 1e\\+06 s"),
        (1e-320, 0.0, "at most 10000000 ticks, but all of part, which lasts inf s"),
        (1.0, 1e9, "at most 10000000 ticks"),
    ],
)
def test_a_track_too_short_or_too_long_in_time_is_refused(speed: float, rest: float, match: str) -> None:
    with pytest.raises(BadInput, match=match):
        sample(Move(line=1, points=[0j, 1 * mm], speed=speed, rest=rest))


def test_a_jump_to_an_absurd_place_is_refused_by_its_time() -> None:
    first, _, last = jump()
    away = Move(line=2, points=[1 * mm, complex(1e300, 1e308)], lit=False)
    with pytest.raises(BadInput, match="at most 10000000 ticks, but all of part, which lasts inf s"):
        sample(first, away, last)


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan, np.inf])
def test_a_given_speed_must_be_one(speed: float) -> None:
    move = Move(line=1, points=[0j, 1 * mm])
    with pytest.raises(BadInput, match="the speed must be positive and finite"):
        sample(move, speed=speed)
    with pytest.raises(BadInput, match="the speed must be positive and finite"):
        sample(move, default_speed=speed)
    with pytest.raises(BadInput, match="the jump speed must be positive and finite"):
        sample(move, jump_speed=speed)


def hatch(jumps: int) -> tuple[list[Move], float]:
    """Strokes of 0.4 mm, the first 0.45, at 1 m/s and 10 W, with jumps of 0.1 mm; and their energy, J."""
    moves, x = list[Move](), 0.0
    for k in range(jumps):
        end = x + (0.45 if k == 0 else 0.4) * mm
        moves.append(Move(line=k, points=[x + 0j, end + 0j], speed=1.0, power=10.0))
        x = end + 0.1 * mm
        moves.append(Move(line=k, points=[end + 0j, x + 0j], lit=False, speed=1.0))
    moves.append(Move(line=jumps, points=[x + 0j, x + 0.325 * mm + 0j], speed=1.0, power=10.0))
    return moves, 10.0 * sum(abs(move.points[1] - move.points[0]) for move in moves if move.lit) / 1.0


def test_jumps_shorter_than_a_tick_are_dark_for_their_time() -> None:
    moves, energy = hatch(100)
    path = sample(*moves)  # of which each lies in two ticks, of which each is lit for 60 %
    assert path.power is not None
    assert float(np.sum(path.power * path.lit_shares) * path.tick) == pytest.approx(energy, rel=1e-6)
    assert 10.0 * path.tick * np.count_nonzero(path.lit) > 1.2 * energy


def test_a_tick_that_is_partly_dark_keeps_the_power_of_its_lit_part() -> None:
    path = sample(*hatch(4)[0])
    partly = (path.lit_shares > 0) & (path.lit_shares < 1)
    assert partly.any()
    assert path.power is not None
    assert path.power[path.lit_shares > 0] == pytest.approx(10.0)
    assert (path.power[path.lit_shares == 0] == 0).all()
    assert path.truncated(5).lit_shares == pytest.approx(path.lit_shares[:5])


def test_paths_without_shares_are_lit_in_whole_ticks() -> None:
    line = sample_polyline(np.array([[0.0, 0.0], [1 * mm, 0.0]]), name="line", speed=0.4, tick=TICK)
    assert (line.lit_shares == 1.0).all()
    with pytest.raises(BadInput, match="numbers from 0 to 1"):
        ScanPath(name="a", positions=line.positions, shares=np.full(len(line), 1.5))
