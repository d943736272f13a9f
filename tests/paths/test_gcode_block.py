import pytest

from laserloop.bad_input import BadInput
from laserloop.paths.gcode import parse_lines
from laserloop.paths.gcode_machine import Block
from laserloop.paths.text import split_lines


def read(text: str) -> list[Block]:
    return list(parse_lines(split_lines(text), "a"))


@pytest.mark.parametrize(
    "text",
    [
        "G1 X1.5 Y-2 F600",
        "g1x1.5y-2f600",
        "N120 G01 X+1.50 Y-2. F600 ; to the corner (1)",
        "G1 (to the; corner) X1.5 (and) Y-2 F600",
        "  G 1 X 1.5 Y - 2\tF600  ",
        "/G1 X1.5 Y-2 F600*71",
        "O1000 G1 X1.5 Y-2 F600",
    ],
)
def test_a_block_may_be_written_in_many_ways(text: str) -> None:
    assert read(text) == [Block(1, (10,), (), {"X": 1.5, "Y": -2.0, "F": 600.0})]


def test_empty_lines_comments_percent_and_settings_are_no_blocks() -> None:
    assert read("%\n\n; a\n(b)\n$32=1\n  \nG0 X1") == [Block(7, (0,), (), {"X": 1.0})]


def test_codes_keep_one_decimal() -> None:
    assert read("G90.1 G91.1 M5") == [Block(1, (901, 911), (50,), {})]


@pytest.mark.parametrize("end", ["M2", "M30", "m02"])
def test_nothing_is_read_after_the_end(end: str) -> None:
    assert [block.line for block in read(f"G0 X1\n{end}\nthis is not G-code")] == [1, 2]


def test_commands_of_printers_may_go_on_with_text() -> None:
    assert [(block.g, block.m) for block in read("M117 Almost done!\nG28 W\nG28 X Y")] == [
        ((), (1170,)),
        ((280,), ()),
        ((280,), ()),
    ]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("G1 X", "must be G-code words such as G1 X1.5 Y2, but is 'G1 X'"),
        ("G1 X1,5", "must be G-code words"),
        ("#100 = 5", "must be G-code words"),
        ("G1 X[1+2]", "must be G-code words"),
        ("o100 sub", "must be G-code words"),
        ("M3 Sfull", "must be G-code words"),
        ("G1 Xnan", "must be G-code words"),
        ("G1 Xinf Y1", "must be G-code words"),
        ("G1 X1 (open", r"a comment must be closed, but \( is not"),
        ("G1 X1)", "must be G-code words"),
        ("G1 X1e-05 Y1", "must not have an exponent, which machines read as an E axis"),
        ("G1 X1 X2", "a word may come once in a line, but X comes twice"),
        ("G1 X" + "9" * 400, "no machine takes X999"),
        ("G" + "1" * 400, "no machine takes G111"),
        ("\x89PNG\x1a", "must be G-code words"),
    ],
)
def test_what_is_no_block_is_named_with_its_line(text: str, match: str) -> None:
    with pytest.raises(BadInput, match=match) as caught:
        read("G21\n" + text)
    assert str(caught.value).startswith("a, line 2: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250
