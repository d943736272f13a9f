from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.paths import ScanFile, Track


def load(file: Path | str, layer: int | None = None) -> Track:
    """One layer of a file."""
    return ScanFile.open(str(file)).read_layer(layer)


def read(file: Path) -> Track:
    """The track, if its lit part lies on the plate."""
    track = load(file)
    track.check(file, (15e-3, 10e-3))
    return track


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "part.csv"


def test_millimetres_become_metres(file: Path) -> None:
    file.write_text("x_mm,y_mm\n0,0\n1.5,-2\n")
    track = load(file)
    np.testing.assert_array_equal(track.points, [[0, 0], [1.5e-3, -2e-3]])
    assert track.is_plain


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfx_mm,y_mm\n0,0\n1,2\n",
        b"x_mm,y_mm\r\n0,0\r\n1,2\r\n",
        b"x_mm,y_mm\r0,0\r1,2",
        b"  x_mm , y_mm \n 0 ,0\n\t1, 2  \n",
        b"x_mm,y_mm,note\n0,0,start\n1,2,\n",
        b"x_mm,y_mm\n0,0,\n1,2,,\n",
        b"# a part\n\nx_mm,y_mm\n   \n0,0\n  # half-way\n1,2\n\n\n",
        b'"x_mm","y_mm"\n"0","0"\n1e0,+2.0\n',
    ],
    ids=["bom", "crlf", "cr", "spaces", "extra-column", "trailing-comma", "blank-and-comment", "quotes"],
)
def test_harmless_variations_are_read_alike(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    np.testing.assert_array_equal(load(file).points, [[0, 0], [1e-3, 2e-3]])


@pytest.mark.parametrize(
    ("content", "line", "match"),
    [
        (b"y_mm,x_mm\n0,0\n1,1\n", 1, "header must start with x_mm,y_mm, but is 'y_mm,x_mm'"),
        (b"# made by hand\n0,0\n1,1\n", 2, "header must start with"),
        (b"x_mm\n0\n1\n", 1, "header must start with"),
        (b"x_mm;y_mm\n0;0\n1;1\n", 1, "header must start with"),
        (b"x_mm,y_mm\n0,0\n\n1\n", 4, "holds only '1'; add y_mm"),
        (b"x_mm,y_mm\n0,0\n1,\n", 3, "y_mm must be a number, but is ''"),
        (b"x_mm,y_mm\n0,0\none,1\n", 3, "x_mm must be a number, but is 'one'"),
        (b"x_mm,y_mm\n0,0\n1_5,1\n", 3, "x_mm must be a number, but is '1_5'"),
        (b"x_mm,y_mm\n0,0\n1,nan\n", 3, "y_mm must be finite, but is 'nan'"),
        (b"x_mm,y_mm\n0,0\n-inf,1\n", 3, "x_mm must be finite, but is '-inf'"),
        (b"x_mm,y_mm\n0,0\n1e999,1\n", 3, "x_mm must be finite"),
        (b"x_mm,y_mm\n0,0\n1,1\n7.51,1\n", 4, r"\(7.51, 1\) mm does not; keep"),
        (b"x_mm,y_mm\n0,0\n0,-5.1\n", 3, r"\(0, -5.1\) mm does not; keep"),
        (b"x_mm,y_mm\n0,0\n0,5,1,5\n", 3, "more values than the header's 2, but has 4"),
        (b'x_mm,y_mm\n0,0\n"1,1\n2,2\n', 3, "check its quotes"),
        (
            b"x_mm,y_mm\n\n1,2\n1,2\n",
            3,
            r"two different waypoints, but \(1, 2\) mm is the only one up to line 4",
        ),
        (b"x_mm,y_mm,lit\n0,0,1\n1,1,2\n", 3, "lit must be 0 or 1, but is 2"),
        (b"x_mm,y_mm,lit\n0,0,1\n1,1,on\n", 3, "lit must be a number, but is 'on'"),
        (b"x_mm,y_mm,speed_mm_s\n0,0,\n1,1,0\n", 3, "speed_mm_s must be positive, but is 0"),
        (b"x_mm,y_mm,power_w\n0,0,\n1,1,-5\n", 3, "power_w must not be negative, but is -5"),
        (b"x_mm,y_mm,power_w,power_w\n0,0,1,1\n", 1, "power_w comes twice"),
        (b"x_mm,y_mm\n0,0\n\xff\xfe\n", 3, "UTF-8 text, but byte 0xff is not"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", 1, "UTF-8 text, but byte 0x89"),
        (b"\x00\x01\x02\x03", 1, "header must start with"),
    ],
)
def test_a_defect_is_named_with_its_file_and_line(file: Path, content: bytes, line: int, match: str) -> None:
    file.write_bytes(content)
    with pytest.raises(BadInput, match=match) as caught:
        read(file)
    sentence = str(caught.value)
    assert sentence.startswith(f"{file}, line {line}: ")
    assert "\n" not in sentence
    assert len(sentence) < len(str(file)) + 250


@pytest.mark.parametrize(
    ("content", "match"),
    [(b"", "but is empty"), (b"\n# nothing\n", "but is empty"), (b"x_mm,y_mm\n", "but none does")],
)
def test_an_empty_file_is_named(file: Path, content: bytes, match: str) -> None:
    file.write_bytes(content)
    with pytest.raises(BadInput, match=match) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}, line 1: ")


def test_a_missing_file_is_named(file: Path) -> None:
    with pytest.raises(BadInput, match=r"must exist, but .*part\.csv does not"):
        load(file)


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(BadInput, match=r"but .*a\.csv is a directory"):
        load(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["null\0byte.csv", "x" * 5000 + ".csv"])
def test_an_impossible_file_name_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="must be readable"):
        load(name)


def test_a_small_plate_refuses_what_a_large_one_takes(file: Path) -> None:
    file.write_text("x_mm,y_mm\n0,0\n2,0\n")
    track = load(file)
    track.check(file, (4e-3, 4e-3))
    with pytest.raises(BadInput, match=r"line 3: .* 3 × 4 mm plate"):
        track.check(file, (3e-3, 4e-3))


def test_columns_say_of_the_leg_to_a_row_whether_it_is_lit_how_fast_and_with_which_power(file: Path) -> None:
    file.write_text(
        "x_mm,y_mm,power_w,note,lit,speed_mm_s\n"
        "9,9,0,start,0,\n0,0,,the way here is dark,0,50\n1,0,14,,1,304\n1,1,,,0,\n0,1,12\n0,2,0\n8,8,5,,0,\n"
    )
    track = read(file)
    np.testing.assert_allclose(1e3 * track.points, [[0, 0], [1, 0], [1, 1], [0, 1]])
    assert track.lit.tolist() == [True, False, True]
    np.testing.assert_array_equal(track.speeds, [0.304, np.nan, np.nan])
    np.testing.assert_array_equal(track.powers[track.lit], [14, 12])
    assert track.lines.tolist() == [3, 4, 5, 6]
    assert not track.is_plain


def test_waypoints_that_are_all_dark_are_refused(file: Path) -> None:
    file.write_text("x_mm,y_mm,lit\n0,0,1\n1,0,0\n2,0,0\n")
    with pytest.raises(BadInput, match="a path needs moves with the laser on"):
        load(file)


def test_a_csv_file_has_one_layer(file: Path) -> None:
    file.write_text("x_mm,y_mm\n0,0\n2,0\n")
    assert len(load(file, 1).points) == 2
    with pytest.raises(BadInput, match="the layer of a CSV file must be 1, but is 2"):
        load(file, 2)


@settings(deadline=None, max_examples=200)
@given(
    st.one_of(st.binary(max_size=80), st.text(alphabet='x_my,0123-.e"#\r\n ', max_size=80).map(str.encode))
)
def test_no_content_causes_anything_but_waypoints_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_bytes(b"x_mm,y_mm\n0,0\n" + content)
    try:
        track = read(file)
    except BadInput as refused:
        sentence = str(refused)
    else:
        assert (np.abs(track.points) <= [7.5e-3 + 1e-9, 5e-3 + 1e-9]).all()
        return
    assert sentence.startswith(str(file))
    assert "\n" not in sentence
