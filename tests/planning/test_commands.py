"""When the power changes, and what that makes of the moves."""

import numpy as np
import pytest

from laserloop.paths import ScanPath
from laserloop.planning.commands import Commands, PlanSettings, Route, cut, make_schedule

TICK = 1e-3


def make_route(*stretches: tuple[float, float], ticks: int = 20, length: float = 1e-3) -> Route:
    """Stretches by start and end in ticks."""
    starts, ends = (TICK * np.array(part) for part in zip(*stretches, strict=True))
    t = TICK * np.arange(ticks + 1)
    lit_time = sum(
        np.clip(np.minimum(b, t[1:]) - np.maximum(a, t[:-1]), 0, None)
        for a, b in zip(starts, ends, strict=True)
    )
    positions = np.column_stack([1e-5 * np.arange(ticks + 1), np.zeros(ticks + 1)])
    path = ScanPath(name="a", positions=positions, lit=lit_time >= 0.5 * TICK, tick=TICK)
    count = len(starts)
    return Route(
        path=path,
        lit_time=np.asarray(lit_time),
        moves=np.arange(count),
        lines=np.arange(count),
        starts=starts,
        ends=ends,
        lengths=np.full(count, length),
        time=float(ends[-1]),
    )


def spans(commands: Commands) -> list[tuple[float, float]]:
    return [
        (round(a / TICK, 6), round(b / TICK, 6)) for a, b in zip(commands.starts, commands.ends, strict=True)
    ]


def test_by_vector_each_stretch_has_one_command() -> None:
    route = make_route((0, 7.5), (7.5, 12), (14, 20))
    assert spans(cut(route, np.ones(20), PlanSettings(by="vector"), 1.0)) == [(0, 7.5), (7.5, 12), (14, 20)]


def test_by_segment_pieces_are_no_longer_than_asked() -> None:
    commands = cut(make_route((0, 9), (10, 20)), np.ones(20), PlanSettings(by="segment", segment=0.4e-3), 1.0)
    assert spans(commands)[:3] == [(0, 3), (3, 6), (6, 9)]
    assert len(commands) == 6


def test_by_point_a_steady_power_is_one_command_through_all_moves() -> None:
    route = make_route((0, 7.5), (7.5, 12), (14, 20))
    assert spans(cut(route, np.full(20, 11.0), PlanSettings(), 40.0)) == [(0, 12), (14, 20)]


def test_by_point_the_power_is_cut_where_it_leaves_the_tolerance() -> None:
    power = np.where(np.arange(20) < 8, 11.0, 12.0)
    assert spans(cut(make_route((0, 20)), power, PlanSettings(tolerance=10), 40.0)) == [(0, 8), (8, 20)]
    assert spans(cut(make_route((0, 20)), power, PlanSettings(tolerance=30), 40.0)) == [(0, 20)]


def test_commands_do_not_come_faster_than_the_machine_takes_them() -> None:
    power = np.arange(20.0)
    commands = cut(make_route((0, 10), (12, 20)), power, PlanSettings(rate=1 / (4 * TICK)), 40.0)
    assert spans(commands) == [(0, 4), (4, 8), (8, 10), (12, 16), (16, 20)]


def test_a_command_over_several_moves_gives_each_its_share() -> None:
    route = make_route((0, 8), (8, 20))
    orders = make_schedule(
        route,
        Commands(TICK * np.array([0, 4, 10]), TICK * np.array([4, 10, 20])),
        np.array([9.0, 8.0, 7.0]),
        np.full(2, np.nan),
    )
    first, second = orders[0], orders[1]
    assert first is not None
    assert second is not None
    assert first.shares == pytest.approx([0.5, 1.0])
    assert first.powers == [9.0, 8.0]
    assert second.shares == pytest.approx([2 / 12, 1.0])
    assert second.powers == [8.0, 7.0]


def test_slivers_and_equal_neighbours_are_no_pieces() -> None:
    route = make_route((0, 8))
    commands = Commands(TICK * np.array([0, 0.02, 4, 7.99]), TICK * np.array([0.02, 4, 7.99, 8]))
    order = make_schedule(route, commands, np.array([5.0, 9.0, 9.0, 3.0]), np.full(1, np.nan))[0]
    assert order is not None
    assert order[:2] == ([1.0], [9.0])
