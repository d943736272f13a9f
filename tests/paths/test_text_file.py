from pathlib import Path

import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import text as text_file
from laserloop.paths.text import decode_text, parse_number, read_bytes, split_lines


def test_a_file_larger_than_the_limit_is_refused_without_reading_it_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "MAX_BYTES", 10)
    (tmp_path / "ten.gcode").write_bytes(b"0123456789")
    (tmp_path / "more.gcode").write_bytes(b"0123456789!")
    assert len(read_bytes(tmp_path / "ten.gcode")) == 10
    with pytest.raises(BadInput, match=r"more\.gcode: a path file may have at most 10 bytes"):
        read_bytes(tmp_path / "more.gcode")


def test_text_is_utf_8_with_or_without_a_mark_or_else_latin_1() -> None:
    assert decode_text(b"\xef\xbb\xbfG1", "a") == "G1"
    assert decode_text("σ".encode(), "a") == "σ"
    assert decode_text("25 µm".encode("latin-1"), "a") == "25 µm"


def test_a_zero_byte_is_named_with_its_line() -> None:
    with pytest.raises(BadInput, match="a, line 2: a path file must be text, but byte 4 is zero"):
        decode_text(b"G1\nX\0", "a")


def test_lines_end_as_any_system_ends_them_and_nowhere_else() -> None:
    assert split_lines("a\r\nb\rc\nd\x0be\u2028f") == ["a", "b", "c", "d\x0be\u2028f"]


@pytest.mark.parametrize("text", ["nan", "inf", "-1e400", "1_5", "", "1,5", "0x1"])
def test_what_is_no_finite_number_is_named(text: str) -> None:
    with pytest.raises(BadInput, match="here: X must be"):
        parse_number(text, "X", "here")
