from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.paths import ScanFile, Track


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "part.gcode"


def load(file: Path, layer: int | None = None) -> Track:
    """One layer of a file."""
    return ScanFile.open(str(file)).read_layer(layer)


def read(file: Path) -> Track:
    """The track, if its lit part lies on the plate."""
    track = load(file)
    track.check(file, (15e-3, 10e-3))
    return track


@pytest.mark.parametrize(
    "content",
    [
        b"G0 X0 Y0\nG1 X1 Y2 F600\n",
        b"\xef\xbb\xbfG0 X0 Y0\r\nG1 X1 Y2 F600\r\n",
        b"G0 X0 Y0\rG1 X1 Y2 F600",
        b"G0 X0 Y0 (25 \xb5m)\nG1 X1 Y2 F600 ; f\xfcr Bauteil",
        b"(S in W)\nM3 S9\nG0 X5 Y5\nG0 X0 Y0\nG1 X1 Y2 F600\nM5\nG0 X100 Y100\nM30\nnot read",
    ],
    ids=["plain", "bom-crlf", "cr", "latin-1", "travel-off-the-plate"],
)
def test_harmless_variations_are_read_alike(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    track = load(file)
    np.testing.assert_allclose(track.points, [[0.0, 0.0], [1e-3, 2e-3]], atol=1e-15)
    assert track.speeds.tolist() == pytest.approx([0.01])
    assert track.notes == ()


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", ", line 1: a G-code file must hold moves, but is empty"),
        (b" \r\n", "but is empty"),
        (b"; nothing\n", ", line 1: a path needs moves with the laser on, .* it has none"),
        (b"M5\nG0 X0 Y0\nG1 X1\n", "needs moves with the laser on"),
        (b"G0 X0 Y0\nG1 X8\n", r", line 2: every point must lie .* \(8, 0\) mm"),
        (b"G0 X0 Y4.5\nG3 X-2 Y4.5 R1\n", ", line 2: every point must lie"),
        (b"\x00\x01\x02\x03", ", line 1: a path file must be text, but byte 0 is zero"),
        (b"\x89PNG\r\n\x1a\n", ", line 1: a line must be G-code words"),
        (b"\xff\xfeG\x001\x00", ", line 1: a path file must be text"),
    ],
)
def test_a_defect_is_named_with_its_file(file: Path, content: bytes, match: str) -> None:
    file.write_bytes(content)
    with pytest.raises(BadInput, match=match) as caught:
        read(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


HATCH = "M3 S{s}\nG0 X0 Y0\nG1 X1 F600\nG0 X0 Y1\nG1 X1 S{half}\nM5\n"


def test_s_is_taken_as_watts_with_a_note_unless_the_file_says_so_or_a_range_is_given(file: Path) -> None:
    file.write_text(HATCH.format(s=20, half=10))
    track = load(file)
    assert track.lit[track.lengths > 0].tolist() == [True, False, True]
    np.testing.assert_array_equal(track.powers[track.lit], [20, 10])
    assert track.notes == (
        f"{file}: S is taken as W, since nothing says its range; if 1000 is all power: --s-max 1000",
    )
    scaled = ScanFile.open(str(file), 255.0, 51.0).read_layer()
    np.testing.assert_allclose(scaled.powers[scaled.lit], [4, 2])
    assert scaled.notes == ()
    file.write_text("; S is in watts\n" + HATCH.format(s=20, half=10))
    assert load(file).notes == ()


def test_a_fan_switches_a_laser_where_nothing_else_does(file: Path) -> None:
    file.write_text("G0 X0 Y0\nM106 S200\nG1 X1 F600\nM107\nG1 X1 Y1\nM106 S100\nG1 X0\nM107\nG1 Y9")
    track = ScanFile.open(str(file), 250.0, 20.0).read_layer()
    np.testing.assert_allclose(1e3 * track.points, [[0, 0], [1, 0], [1, 0], [1, 1], [1, 1], [0, 1]])
    legs = track.lengths > 0
    assert track.lit[legs].tolist() == [True, False, True]
    np.testing.assert_allclose(track.powers[legs & track.lit], [16, 8])


def test_a_layer_is_chosen_by_its_number(file: Path) -> None:
    file.write_text("G0 X0 Y0 Z0.1\nG1 X1 F600\nG0 Z0.2\nG1 Y1\nG0 Z0.3\nG1 X0\n")
    np.testing.assert_allclose(1e3 * load(file, 3).points, [[1, 1], [0, 1]])
    with pytest.raises(BadInput, match="the layer must be 1 to 3"):
        load(file, 4)


def test_a_missing_file_is_named(file: Path) -> None:
    with pytest.raises(BadInput, match=r"must exist, but .*part\.gcode does not"):
        load(file)


def test_twenty_thousand_repeats_of_one_place_are_one_place(file: Path) -> None:
    file.write_text("G0 X0 Y0\nG1 X1\n" + "G1 X1 Y0\n" * 20_000)
    assert len(load(file).points) == 2


WORDS = st.text(alphabet="GMXYZIJREFSPN0123456789.-+ ();%$e\n\r", max_size=60)


@settings(deadline=None, max_examples=150)
@given(st.one_of(st.binary(max_size=60), WORDS.map(str.encode)))
def test_no_content_causes_anything_but_a_track_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.gcode"
    file.write_bytes(b"G0X0Y0\nG1X1F9\n" + content)
    try:
        track = read(file)
    except BadInput as refused:
        sentence = str(refused)
    else:
        assert (np.abs(track.points[track.touched]) <= [7.5e-3 + 1e-9, 5e-3 + 1e-9]).all()
        assert (track.rests >= 0).all()
        return
    assert sentence.startswith(str(file))
    assert "\n" not in sentence
