from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.paths import Track
from laserloop.paths.files import ScanFile
from laserloop.paths.tables import read_segments
from laserloop.paths.text import PowerCommand
from laserloop.paths.track import join_moves

HEADER = "Mode X Y Z Power Param\n"
ROWS = "1 0 0 0 0 0\n0 0.001 0 0 15 0.3\n0 0.001 0.002 0 15 0.6\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "part.txt"


def load(file: Path) -> Track:
    moves = read_segments(ScanFile.open(str(file)))
    return join_moves(moves, file=file).add_notes(moves.notes())


def read(file: Path) -> Track:
    """The track, if its lit part lies on the plate."""
    track = load(file)
    track.check(file, (15e-3, 10e-3))
    return track


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROWS,
        "\ufeffMode\tX(m)\tY(m)\tZ(m)\tPower(W)\ttParam\r\n" + ROWS.replace(" ", "\t").replace("\n", "\r\n"),
        "Number of path segments\n3\nMode    x   y   z  pmod  param\n" + ROWS.replace("15", "1"),
        "# a part\n\n" + HEADER + "\n" + ROWS.replace("\n", "\n\n# on\n"),
        "Mode X(mm) Y(mm) Z(mm) Pmod Vel(m/s)/Time(s)\n" + ROWS.replace("0.00", ""),
        HEADER + ROWS.replace("15 0.3\n", "15 0.3\n0 0.001 0 0 0 0.1\n1 0.001 0 0 0 0.5\n"),
    ],
    ids=["AdditiveFOAM", "units-bom-crlf", "adamantine", "blanks", "3DThesis", "waits-off"],
)
def test_tables_of_all_its_programs_are_read_alike(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    track = read(file)
    np.testing.assert_allclose(track.points[[0, 1, -1]], [[0.0, 0.0], [1e-3, 0.0], [1e-3, 2e-3]], atol=1e-15)
    legs = track.lengths > 0
    np.testing.assert_allclose(track.speeds[legs], [0.3, 0.6])
    assert track.lit[legs].all()
    assert not track.rests[track.lit].any()
    in_watts = "pmod" not in text.lower()
    assert track.powers[legs].tolist() == pytest.approx([15, 15] if in_watts else 2 * [np.nan], nan_ok=True)
    assert len(track.notes) == (0 if in_watts else 1)


def test_mode_0_is_a_line_with_a_speed_and_mode_1_a_spot_with_a_time(file: Path) -> None:
    file.write_text(HEADER + "1 0 0 0 15 0.25\n0 0.001 0 0 15 0.5\n1 0.002 0 0 15 0.75\n")
    track = load(file)
    np.testing.assert_allclose(1e3 * track.points[:, 0], [0, 0, 0, 1, 2, 2])
    np.testing.assert_allclose(track.rests, [0.25, 0, 0, 0, 0.75])
    assert track.lit.tolist() == [True, True, True, False, True]  # a spot elsewhere is reached in the dark
    np.testing.assert_array_equal(track.speeds[2:4], [0.5, np.nan])


def test_waiting_with_the_laser_off_is_dark_time(file: Path) -> None:
    file.write_text(HEADER + ROWS.replace("15 0.3\n", "15 0.3\n1 0.001 0 0 0 0.5\n"))
    track = load(file)
    assert track.rests.sum() == 0.5
    assert not track.lit[track.rests > 0].any()


def test_power_0_is_dark_at_its_own_speed(file: Path) -> None:
    file.write_text(
        HEADER + "1 0 0 0 0 0\n0 0.001 0 0 15 1\n0 0.001 0.001 0 0 9\n0 0 0.001 0 15 1\n0 9 9 0 0 1\n"
    )
    track = load(file)
    legs = track.lengths > 0
    np.testing.assert_allclose(1e3 * track.points[1:][legs], [[1, 0], [1, 1], [0, 1]])
    assert track.lit[legs].tolist() == [True, False, True]
    np.testing.assert_array_equal(track.speeds[legs], [1, 9, 1])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", ", line 1: a segment table must begin with Mode X Y Z Power Param, but is empty"),
        ("hello\n" * 9, ", line 1: a segment table must begin with Mode .* but is 'hello'"),
        (ROWS, ", line 1: a segment table must begin with"),
        (HEADER, ": a path needs moves with the laser on"),
        (
            "Mode X(in) Y(in) Z(in) Power Param\n" + ROWS,
            r"line 1: .* in m or mm, such as X\(mm\), but are 'X\(in\)",
        ),
        ("Mode X(mm) Y(m) Z Power Param\n" + ROWS, "line 1: the columns after Mode must be X Y Z"),
        ("Mode Y X Z Power Param\n" + ROWS, "line 1: the columns after Mode must be X Y Z"),
        (HEADER + "0 0.001 0 0 15 0.3\n", ", line 2: the first row must be a spot, Mode 1"),
        (HEADER + "1 0 0 0 0\n", ", line 2: a row must hold the 6 numbers .*, but holds 5"),
        (HEADER + "2 0 0 0 0 0\n", ", line 2: Mode must be 0 for a line or 1 for a spot, but is 2"),
        (HEADER + "1 0,5 0 0 0 0\n", ", line 2: X must be a number, but is '0,5'"),
        (HEADER + ROWS + "0 nan 0 0 1 1\n", ", line 5: X must be finite, but is 'nan'"),
        (HEADER + ROWS + "0 0 1e400 0 1 1\n", ", line 5: Y must be finite"),
        (HEADER + ROWS + "0 0 0 0 -1 1\n", ", line 5: Power must not be negative, but is -1"),
        (HEADER + ROWS + "0 0 0 0 1 -0.3\n", ", line 5: a line's speed must be positive, but Param is -0.3"),
        (HEADER + ROWS + "0 0 0 0 1 0\n", ", line 5: a line's speed must be positive, but Param is 0"),
        (HEADER + ROWS + "1 0 0 0 1 -1\n", ", line 5: a spot's time must not be negative, but Param is -1"),
        (HEADER + ROWS + "0 1 0 0 1 1\n", r", line 5: every point must lie .* \(1000, 0\) mm"),
        (HEADER + ROWS + "0 1e308 -1e308 0 1 1\n", ", line 5: every point must lie"),
        ("\0", ", line 1: a path file must be text"),
    ],
)
def test_a_defect_is_named_with_its_file(file: Path, text: str, match: str) -> None:
    file.write_text(text)
    with pytest.raises(BadInput, match=match) as caught:
        read(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=100)
@given(st.one_of(st.binary(max_size=60), st.text(alphabet="01 .-e\n\tModeXYZ#", max_size=60).map(str.encode)))
def test_no_content_causes_anything_but_a_track_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.txt"
    file.write_bytes((HEADER + ROWS).encode() + content)
    try:
        track = read(file)
    except BadInput as refused:
        sentence = str(refused)
    else:
        assert (np.abs(track.points[track.touched]) <= [7.5e-3 + 1e-9, 5e-3 + 1e-9]).all()
        return
    assert sentence.startswith(str(file))
    assert "\n" not in sentence


ANNOUNCED = (
    "Number of path segments\n{}\nMode x y z pmod param\n"
    "1 0 0 0 0 1e-6\n0 0.002 0 0 1 0.8\n0 0.002 0.001 0 1 0.8\n"
)


def test_rows_beyond_the_announced_number_are_passed_over_as_in_adamantine(file: Path) -> None:
    file.write_text(ANNOUNCED.format(2))
    track = load(file)
    np.testing.assert_allclose(track.points[-1], [2e-3, 0.0])
    assert "line 6 and after: passed over as adamantine does, since line 2 announces 2 rows" in track.notes[1]
    file.write_text(ANNOUNCED.format(3))
    assert len(load(file).notes) == 1


def test_the_announced_number_grows_with_the_rows(file: Path) -> None:
    file.write_text(ANNOUNCED.format(3))
    schedule = {1: PowerCommand([0.5, 1.0], [8.0, 4.0], np.nan)}
    written = ScanFile.open(str(file), None, 20.0).write(schedule).decode().splitlines()
    assert written[1] == "4"
    assert len(written) == 7


def test_a_lit_line_stays_in_its_layer(file: Path) -> None:
    file.write_text(HEADER + "1 0 0 0 0 0\n0 0.001 0 1e-4 15 0.3\n")
    with pytest.raises(BadInput, match="line 3: a move with the laser on must stay in its layer"):
        load(file)
