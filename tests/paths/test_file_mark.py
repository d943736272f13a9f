"""Marks: a comment at the head of a planned file that readers pass over."""

from pathlib import Path

import pytest

from laserloop.paths.files import ScanFile

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MARKED = ["slicer.gcode", "cutter.nc", "layer.cli", "pyslm_layer.cli", "segments.txt", "path_mm.txt"]
MARK = "DOES NOT HOLD: 700 – 812 K (σ), at most 8 K; 1 / 2"


def open_example(name: str, content: bytes | None = None) -> ScanFile:
    s_max = 1000.0 if name == "cutter.nc" else None
    file = ScanFile.open(str(EXAMPLES / name), s_max, 20.0)
    return file if content is None else ScanFile(name, content, s_max, 20.0)


@pytest.mark.parametrize("name", MARKED)
def test_a_marked_file_says_so_in_its_first_lines_and_is_read_as_before(name: str) -> None:
    file = open_example(name)
    marked = file.mark(file.content, MARK)
    head = marked.decode().splitlines()[:3]
    assert sum("laserloop plan: DOES NOT HOLD: 700 - 812 K" in line for line in head) == 1
    before, after = file.read_layers(), open_example(name, marked).read_layers()
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert (old.points == new.points).all()
        assert (old.lit == new.lit).all()


@pytest.mark.parametrize("name", MARKED)
def test_a_later_mark_takes_the_place_of_an_older_one_and_an_empty_one_takes_it_away(name: str) -> None:
    file = open_example(name)
    once = file.mark(file.content, "first")
    assert file.mark(once, MARK) == file.mark(file.content, MARK)
    assert file.mark(once, "") == file.content


def test_a_mark_keeps_byte_order_marks_percent_signs_and_line_ends_where_they_are() -> None:
    csv = ScanFile("a.csv", b"\xef\xbb\xbfx_mm,y_mm\r\n0,0\r\n1,0\r\n")
    assert csv.mark(csv.content, "x").startswith(b"\xef\xbb\xbf# laserloop plan: x\r\nx_mm,y_mm\r\n")
    program = ScanFile("a.nc", b"%\n(by hand)\nG21 G90\nM3 S9\nG1 X1 F600\n%\n")
    assert program.mark(program.content, "x").startswith(b"%\n(laserloop plan: x)\n(by hand)\n")


def test_a_series_of_events_has_no_room_for_a_mark() -> None:
    file = open_example("events.inp")
    assert not file.takes_marks
    assert file.mark(file.content, MARK) == file.content
