"""Event series of adamantine: the power of a row is that of the way that follows it."""

from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import find_path
from laserloop.paths.files import ScanFile
from laserloop.paths.tables import read_events
from laserloop.paths.text import PowerCommand, Schedule

SERIES = "0.1, 0, 0, 0, 1\n0.2, 0.001, 0, 0, 0\n0.3, 0.001, 0.001, 0, 0.5\n0.5, 0, 0.001, 0, 1\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "part.inp"


def order(*moves: tuple[int, list[tuple[float, float]]], speed: float = np.nan) -> Schedule:
    return {
        number: PowerCommand([share for share, _ in pieces], [watts for _, watts in pieces], speed)
        for number, pieces in moves
    }


def write(file: Path, text: str, schedule: Schedule) -> list[str]:
    file.write_text(text)
    return ScanFile.open(str(file), None, 20.0).write(schedule).decode().splitlines()


def test_a_way_has_the_power_of_the_row_it_starts_from_and_the_time_to_its_end(file: Path) -> None:
    file.write_text(SERIES)
    wait, *moves = read_events(ScanFile.open(str(file), None, 20.0))
    assert (wait.lit, wait.rest) == (False, 0.1)
    assert [move.lit for move in moves] == [True, False, True]
    assert [moves[0].power, moves[2].power] == [20.0, 10.0]
    assert [move.speed for move in moves] == pytest.approx([0.01, 0.01, 0.005])
    assert [move.line for move in moves] == [2, 3, 4]


@pytest.mark.parametrize("change", [(", ", " "), (", ", ","), ("\n", "\r\n"), ("\n", "\n\n# a remark\n")])
def test_blanks_commas_and_remarks_make_no_difference(file: Path, change: tuple[str, str]) -> None:
    file.write_text(SERIES.replace(*change), newline="")
    track = ScanFile.open(str(file)).read_layer()
    np.testing.assert_allclose(1e3 * track.points[[0, -1]], [[0, 0], [0, 1]])
    assert "its power is a share of a power that the file does not give" in track.notes[0]


def test_a_wait_in_the_light_is_a_rest_and_a_jump_takes_no_time(file: Path) -> None:
    file.write_text("0 0 0 0 1\n0.1 0 0 0 0\n0.1 0.001 0 0 1\n0.2 0.002 0 0 0\n")
    moves = list(read_events(ScanFile.open(str(file), None, 20.0)))
    assert [(move.lit, move.rest) for move in moves] == [(False, 0), (True, 0.1), (False, 0), (True, 0)]


@pytest.mark.parametrize("name", ["part.inp", "part.txt", "part"])
def test_a_series_is_known_by_its_ending_or_by_its_numbers(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SERIES)
    assert find_path(str(tmp_path / name)).lit.any()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "line 1: a path needs moves with the laser on"),
        ("0 0 0 0\n", "line 1: an event must hold the 5 numbers time x y z power, but holds 4; correct it"),
        ("0 0 0 0 1 0 0 0 1\n", "line 1: .* but holds 9; five axes are not followed here"),
        ("-1 0 0 0 1\n", "line 1: time must not be negative, but is -1"),
        ("0 0 0 0 1\n\n0.1 x 0 0 1\n", "line 3: x must be a number, but is 'x'"),
        ("0 0 0 0 1\n1 0.001 0 0 -1\n", "line 2: power must not be negative"),
        ("1 0 0 0 1\n0.5 0.001 0 0 1\n", "line 2: times must not go back, but 0.5 s comes after 1 s"),
        ("1 0 0 0 1\n1 0.001 0 0 1\n", "line 2: a move with the laser on must take some time"),
        ("1 0 0 0 1\n2 0.001 0 1e-4 1\n", "line 2: a move with the laser on must stay in its layer"),
        ("1 0 0 nan 1\n", "line 1: z must be finite"),
    ],
)
def test_a_defect_is_named_with_its_line(file: Path, text: str, match: str) -> None:
    file.write_text(text)
    with pytest.raises(BadInput, match=match) as caught:
        ScanFile.open(str(file)).read_layer()
    assert str(caught.value).startswith(f"{file}, line ")


def test_powers_are_written_where_ways_start_and_pieces_between(file: Path) -> None:
    assert write(file, SERIES, order((1, [(0.5, 8.0), (1.0, 4.0)]), (3, [(1.0, 2.0)]))) == [
        "0.1, 0, 0, 0, 0.4",
        "0.15, 0.0005, 0, 0, 0.2",
        "0.2, 0.001, 0, 0, 0",
        "0.3, 0.001, 0.001, 0, 0.1",
        "0.5, 0, 0.001, 0, 1",
    ]


def test_a_faster_way_makes_all_that_follows_earlier(file: Path) -> None:
    rows = write(file, SERIES, order((1, [(1.0, 8.0)]), speed=0.1))
    assert [row.split(",")[0] for row in rows] == ["0.1", "0.11", "0.21", "0.41"]
    assert write(file, "# x\n" + SERIES, order((1, [(1.0, 8.0)]), speed=0.1))[0] == "# x"


def test_powers_need_the_full_power_of_the_laser(file: Path) -> None:
    file.write_text(SERIES)
    with pytest.raises(BadInput, match="powers are shares of the laser's full power, but that is not given"):
        ScanFile.open(str(file)).write(order((1, [(1.0, 8.0)])))
