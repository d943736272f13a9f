import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths.gcode import find_dialect, parse_lines
from laserloop.paths.gcode_machine import Laser, Machine
from laserloop.paths.track import Move


def follow_all(text: str) -> tuple[list[Move], list[str]]:
    dialect = find_dialect(text.split("\n"), "a")
    machine = Machine("a", Laser(dialect.signal), printer=dialect.printer)
    return list(machine.moves(parse_lines(text.split("\n"), "a"))), list(machine.describe())


def follow(text: str) -> tuple[list[Move], list[str]]:
    """The lit moves alone."""
    moves, notes = follow_all(text)
    return [move for move in moves if move.lit], notes


def ends(text: str) -> list[tuple[complex, complex]]:
    """First and last point of each lit move, mm."""
    return [
        (complex(*np.round(_xy(m.points[0]), 9)), complex(*np.round(_xy(m.points[-1]), 9)))
        for m in follow(text)[0]
    ]


def _xy(point: complex) -> tuple[float, float]:
    return 1e3 * point.real, 1e3 * point.imag


def test_motion_and_feed_stay_until_changed() -> None:
    moves, notes = follow("G0 X0 Y0\nG1 X1 F600\nY1\nX0 F1200\nG0 Y0\nX1\nG1 Y1")
    assert [move.line for move in moves] == [2, 3, 4, 7]
    assert [move.speed for move in moves] == pytest.approx([0.01, 0.01, 0.02, 0.02])
    assert notes == []


def test_inches_are_inches_also_per_minute() -> None:
    moves, _ = follow("G20\nG0 X0 Y0\nG1 X0.1 F60\nG21\nG1 X0")
    assert abs(moves[0].points[1]) == pytest.approx(2.54e-3)
    assert [move.speed for move in moves] == pytest.approx([25.4e-3, 25.4e-3])
    assert moves[1].points[1] == 0


def test_relative_moves_add_up() -> None:
    assert ends("G0 X1 Y1\nG91\nG1 X1\nX1 Y-1\nG90\nG1 X0 Y0") == [(1 + 1j, 2 + 1j), (2 + 1j, 3), (3, 0)]


def test_g92_renames_the_place_and_g92_1_takes_it_back() -> None:
    text = "G92 X5 Y4\nG0 X5 Y4\nG1 X6\nG92 X0\nG1 X1\nG92.1\nG1 X0 Y0"
    assert ends(text) == [(0, 1), (1, 2), (2, 0)]


@pytest.mark.parametrize(
    ("arc", "middle"),
    [
        ("G3 X0 Y1 I-1 J0", np.exp(0.25j * np.pi)),
        ("G3 X0 Y1 R1", np.exp(0.25j * np.pi)),
        ("G2 X0 Y1 I-1 J0", np.exp(-0.75j * np.pi)),
        ("G2 X0 Y1 R-1", np.exp(-0.75j * np.pi)),
        ("G90.1\nG3 X0 Y1 I0 J0", np.exp(0.25j * np.pi)),
        ("G91\nG3 X-1 Y1 I-1", np.exp(0.25j * np.pi)),
    ],
)
def test_an_arc_bends_as_its_words_say(arc: str, middle: complex) -> None:
    (move,) = follow(f"G0 X1 Y0\n{arc}")[0]
    assert move.points[0] == pytest.approx(1e-3)
    assert move.points[-1] == pytest.approx(1e-3j)
    assert move.points[len(move.points) // 2] == pytest.approx(1e-3 * middle, abs=1e-5)


def test_an_arc_without_an_end_is_a_circle() -> None:
    (move,) = follow("G0 X1 Y0\nG2 I-1")[0]
    assert move.points[0] == move.points[-1]
    assert np.abs(np.diff(move.points)).sum() == pytest.approx(2e-3 * np.pi, rel=1e-5)


def test_the_laser_is_on_between_m3_and_m5_but_never_on_g0() -> None:
    text = "G0 X1 Y0\nG1 X2\nM3 S10\nG1 X3\nG0 X4\nG1 X5 M5\nM4\nG1 X6 S0\nX7 S5"
    assert [move.line for move in follow(text)[0]] == [4, 9]


def test_material_means_laser_where_no_laser_word_is() -> None:
    absolute = "G28\nM83\nM82\nG1 Z0.2\nG0 X1 Y1\nG1 X2 E1\nG1 E0.2\nG1 X3 E1\nX4\nG92 E0\nG1 X5 E0.5"
    assert [move.line for move in follow(absolute)[0]] == [6, 8, 11]
    relative = "M83\nG0 X1 Y1\nG1 X2 E1\nG1 E-1\nX3 E0.5\nG1 X4 E0"
    assert [move.line for move in follow(relative)[0]] == [3, 5]


def test_relative_lifts_add_up_to_the_level() -> None:
    moves, _ = follow("G0 X0 Y0 Z1\nG91\nG0 Z0.5\nG0 Z0.25\nG1 X1")
    assert [move.level for move in moves] == pytest.approx([1.75e-3])
    assert [move.level for move in follow("G91\nG0 Z0.5\nG1 X1")[0]] == pytest.approx([0.5e-3])


def test_the_level_of_a_mark_is_its_height() -> None:
    moves, _ = follow("G0 X0 Y0 Z0.2\nG1 X1\nG0 Z0.6\nG0 X0\nG0 Z0.4\nG1 X1")
    assert [1e3 * move.level for move in moves] == pytest.approx([0.2, 0.4])


@pytest.mark.parametrize(("text", "rest"), [("G4 P0.5", 0.5), ("G4 S2", 2.0), ("G04 X1.5", 1.5)])
def test_a_dwell_with_the_laser_on_is_a_rest_of_so_many_seconds(text: str, rest: float) -> None:
    moves, notes = follow_all(f"G0 X1 Y0\nM3 S9\n{text}\nG1 X2\nM5\n{text}\nM4\n{text}")
    assert [(move.line, move.lit, move.rest) for move in moves] == [
        (3, True, rest),
        (4, True, 0.0),
        (6, False, rest),
        (8, False, rest),  # M4 is off at rest
    ]
    assert moves[0].points == [1e-3, 1e-3]
    assert notes == (
        ["a, line 3: P of G4 is read as seconds, as in LinuxCNC and GRBL"] if "P" in text else []
    )


@pytest.mark.parametrize(("dwell", "rest"), [("G4 P500", 0.5), ("G4 S2", 2.0)])
def test_the_dwell_of_a_3d_printer_is_in_milliseconds_unless_by_s(dwell: str, rest: float) -> None:
    moves, notes = follow_all(f"M106 S9\nG0 X0 Y0\nG1 X1\n{dwell}\nM107")
    assert [move.rest for move in moves] == [0.0, rest]
    assert notes == (["a, line 4: P of G4 is read as milliseconds, as in Marlin"] if "P" in dwell else [])


def test_a_rapid_is_dark_and_goes_where_the_file_says() -> None:
    moves, _ = follow_all("G0 X0 Y0\nG1 X1 F600\nG0 X1 Y5\nG0 X0 Y1\nG1 X1")
    assert [move.lit for move in moves] == [True, False, False, True]
    lengths = [1e3 * abs(move.points[1] - move.points[0]) for move in moves]
    assert lengths == pytest.approx([1, 5, np.hypot(1, 4), 1])


def test_a_rapid_has_no_speed_but_a_dark_feed_and_the_rapid_of_a_printer_do() -> None:
    moves, _ = follow_all("M3 S9\nG0 X0 Y0\nG1 X1 F600\nG0 X2\nG1 X3 S0\nM5\nG1 X4 F1200")
    assert [move.lit for move in moves] == [True, False, False, False]
    assert [move.speed for move in moves] == pytest.approx([0.01, np.nan, 0.01, 0.02], nan_ok=True)
    moves, _ = follow_all("G0 X0 Y0 F6000\nG1 X1 E1 F600\nG0 X2 F6000\nG1 X3 E2")
    assert [(move.lit, move.speed) for move in moves] == [(True, 0.01), (False, 0.1), (True, 0.1)]


def test_lit_moves_carry_the_power_that_s_commands() -> None:
    moves, _ = follow_all("M3 S9\nG0 X0 Y0\nG1 X1 F600\nG1 X2 S7\nM5\nG1 X3\nM3\nG1 X4")
    assert [(move.lit, move.power) for move in moves] == [(True, 9), (True, 7), (False, 0), (True, 7)]


def test_a_first_move_with_the_laser_on_begins_at_its_end_unless_it_is_relative() -> None:
    assert ends("G1 X1 Y1\nX2") == [(1 + 1j, 2 + 1j)]
    assert ends("G91\nG1 X1 Y1\nX2") == [(0, 1 + 1j), (1 + 1j, 3 + 1j)]
    assert (
        "line 1 moves with the laser on from a place that the file does not give"
        in follow("G1 X1 Y1\nX2")[1][0]
    )


def test_homing_loses_the_place_but_a_lift_by_g53_does_not() -> None:
    assert ends("G0 X1 Y1\nG28\nG1 X2 Y1\nX3") == [(2 + 1j, 3 + 1j)]
    assert ends("G0 X1 Y1\nG53 G0 Z0\nG1 X2 Y1") == [(1 + 1j, 2 + 1j)]


def test_what_is_not_known_is_passed_over_with_one_note() -> None:
    text = "T1 M6\nM104 S200\nM203 X500 Y500 F9\nG0 X0 Y0\nG1 X1 A3 M8\nG123 X9\nM104 S0\nG1 X2"
    moves, notes = follow(text)
    assert [move.line for move in moves] == [5, 8]
    assert np.isnan(moves[0].speed)
    assert notes == ["a, line 1 and after: T, M104, M203, A, G123 passed over"]
    many = "\n".join(f"M{code}" for code in range(100, 120))
    assert follow(many)[1][0].endswith("M109 and 10 more passed over")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("X1 Y1", "a move needs G0, G1, G2 or G3 before it"),
        ("G80\nX1", "a move needs G0"),
        ("G2 X1 Y0 R0.4", "radius must reach from its start to its end, 1 mm apart, but R is 0.4 mm"),
        ("G2 R1", "radius must reach"),
        ("G2 X1 Y0", "needs its centre by I and J or its radius by R"),
        ("G2 X1 Y0 I0.6", "equally far from its centre, but are 0.6 and 0.4 mm"),
        ("G2 X1 Y0 I0 J0", "equally far from its centre, but are 0 and 1 mm"),
        ("G2 X0 Y0 I1 P3", "must have one turn, but P is 3"),
        ("G2 I100000000", "must fit on a plate, but its radius is 100000 m"),
        ("G2 I25000", "must fit on a plate, but its radius is 25 m"),
        ("G18 G2 X1 Y0 R1", "must lie in the plate's plane"),
        ("G1 F0", "F must be positive, but is 0"),
        ("G1 X1 F-600", "F must be positive, but is -600"),
        ("G4 P-1", "a dwell must not be negative, but is -1"),
        ("G1 X1 Z1", "must stay in its layer, but goes from z = 0 to 1 mm"),
        ("G5 X1 Y1 I1 J1 P1 Q1", "G5 leads the beam in a way that is not followed here"),
        ("G41", "G41 leads the beam"),
        ("G93", "G93 leads the beam"),
        ("G10 L2 P1 X5", "G10 leads the beam"),
        ("M98 P1000", "M98 leads the beam"),
        ("G28\nG2 X1 Y1 R1", "an arc needs a known start"),
    ],
)
def test_what_leads_elsewhere_or_nowhere_is_named_with_its_line(text: str, match: str) -> None:
    before = "" if text.startswith("X1") else "G1 X0 Y0 Z0\n"
    with pytest.raises(BadInput, match=match) as caught:
        follow(before + text)
    assert str(caught.value).startswith(f"a, line {1 + (before + text).count(chr(10))}: ")
    assert "\n" not in str(caught.value)
