"""Usual lines of G-code, which are parsed at a glance, mean what they mean word by word."""

from collections.abc import Iterable, Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.paths.gcode import _parse_line, parse_lines
from laserloop.paths.gcode_machine import Block

WORDS = ["G1 ", "G0 ", "G01 ", "G2 ", "G1", "g1 ", "G28 ", "G1 5", "M3 ", "X1.5", "Y-2 ", "x.5 ", "X+1. "]
WORDS += ["E5", "E+5 ", "e-1", "E 3 ", "S9 ", "F600", "I1 ", "R2 ", "Z0.2 ", "N10 ", "N10", "O5 ", "P1 "]
WORDS += ["X999999999", "X9999999999 ", " ", "\t", ";c", "(c) ", "5", "-", ".", "X", "ſ4 ", "ß", "*7", "%"]


def parse_one_by_one(lines: list[str]) -> Iterator[Block]:
    """What `parse_lines` would do if no line were usual."""
    blocks = (_parse_line(text, k, "a") for k, text in enumerate(lines, start=1))
    return (block for block in blocks if block is not None)


def find_outcome(blocks: Iterable[Block]) -> str:
    try:
        return repr(list(blocks))
    except BadInput as problem:
        return str(problem)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map("".join), max_size=4))
@example(["5X1.5"])
@example(["X1.5", "5Y2"])
@example(["N10 G1 5X1.5"])
@example(["N10 G1 X1.5 Y-2."])
@example(["X1 5E+5"])
@example(["x1.5 X2"])
@example(["X1 Y9999999999"])
@example(["X1 Y-9999999999"])
@example(["G1 G0 X1"])
def test_a_line_means_the_same_among_others_as_alone(lines: list[str]) -> None:
    assert find_outcome(parse_lines(lines, "a")) == find_outcome(parse_one_by_one(lines))
