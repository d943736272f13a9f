"""A block of G-code: the words of one line."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from os import PathLike
from reprlib import repr as short_repr
from typing import NamedTuple

from laserloop.bad_input import BadInput
from laserloop.paths.gcode_codes import FAN, LASER, PROGRAM_END
from laserloop.paths.text_file import split_lines

COMMENT = re.compile(r"\([^)]*\)|;.*")
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
WORD = re.compile(rf"([A-Z])({NUMBER})")
WORDS = re.compile(rf"(?:[A-Z]{NUMBER})*")
EXPONENT = re.compile(r"[0-9.]E[+-][0-9]")
CHECKSUM = re.compile(r"\*[0-9]+$")
FREE_TEXT = re.compile(r"(?:N[0-9]+)?(?:(M)([0-9]{1,4})|(G)(2[89]))(?![0-9])")  # may go on with text or flags
CODES = ("G", "M")
HIGHEST_CODE = 1e4  # of G and M
FARTHEST = 1e9  # of any unit; no machine has such numbers

# Most lines have at most one of G0 to G3, which small letters stand for while many are parsed together,
MOTIONS = {"a": (0,), "b": (10,), "c": (20,), "d": (30,)}
MARKS = [(code % k, mark.encode()) for k, mark in enumerate(MOTIONS) for code in (b"G%d ", b"G0%d ")]
USUAL = frozenset("EFIJNRSXYZ")  # and of these words each at most once
# Commas begin a number, and a blank ends it where a motion is: 1 G1 5 must not become 15.
APART = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcd", b"," * 26 + b" " * 4)
TOGETHER = 1000  # lines
Shape = tuple[tuple[int, ...], str]  # codes and other words of a usual line


class Block(NamedTuple):
    """What one line orders."""

    line: int
    g: tuple[int, ...]  # codes, ten times their number
    m: tuple[int, ...]
    values: dict[str, float]  # all other words but N and O, the names of lines and programs


def read_blocks(text: str, file: str | PathLike[str]) -> Iterator[Block]:
    """Block by block up to the program's end; comments and lines with % or $ are passed over."""
    return parse_lines(split_lines(text), file)


def parse_lines(
    lines: Sequence[str], file: str | PathLike[str], letters: set[str] | None = None
) -> Iterator[Block]:
    """The blocks of some lines. With `letters`, which may change on the way, only of lines that have one."""
    find_shape, new = cache(_find_shape), tuple.__new__  # in half the time of Block(…)
    for first in range(0, len(lines), TOGETHER):
        code = "\n".join(lines[first : first + TOGETHER]).upper()
        if letters is not None and not any(letter in code for letter in letters):
            continue
        shapes, numbers = _tell_apart(code, find_shape)
        for line, shape in enumerate(shapes, start=first + 1):
            if shape is not None:
                g, words = shape
                values = dict(zip(words, numbers))  # noqa: B905  # takes as many numbers as there are words
                values.pop("N", None)
                if letters is None or not letters.isdisjoint(values):
                    yield new(Block, (line, g, (), values))
                continue
            block = _parse_line(lines[line - 1], line, file, letters)
            if block is not None:
                yield block
                if block.m and not PROGRAM_END.isdisjoint(block.m):
                    return


def _find_shape(text: bytes) -> Shape | None:
    """The words of a line, given without its numbers, if all are usual and none comes twice."""
    letters = text.replace(b" ", b"").decode("latin-1")
    motions = [letter for letter in letters if letter in MOTIONS]
    words = "".join(letter for letter in letters if letter not in MOTIONS)
    if not words or not USUAL.issuperset(words) or len(set(words)) < len(words) or len(motions) > 1:
        return None
    return (MOTIONS[motions[0]] if motions else ()), words


def _tell_apart(
    code: str, find_shape: Callable[[bytes], Shape | None]
) -> tuple[list[Shape | None], Iterator[float]]:
    """The shapes of lines in capitals, none of one to be parsed on its own, and the numbers of all others."""
    packed = code.encode("latin-1", "replace")
    for motion, mark in MARKS:
        packed = packed.replace(motion, mark)
    shapes = [find_shape(text) for text in packed.translate(None, b"+-.0123456789").split(b"\n")]
    texts = zip(packed.translate(APART, b" ").split(b"\n"), shapes, strict=True)
    before, *numbers = b"\n".join([text for text, shape in texts if shape]).split(b",")
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        values = []
    wrong = before.strip() or not values or min(values) <= -FARTHEST or max(values) >= FARTHEST
    if wrong or ("E" in code and EXPONENT.search(code)):  # somewhere: will be found line by line
        return [None] * len(shapes), iter(())
    return shapes, iter(values)


def _parse_line(content: str, line: int, file: str | PathLike[str], letters: set[str] | None) -> Block | None:
    """The block of any line; None: it is no code, or code without one of the letters."""
    if letters is not None and letters.isdisjoint(content.upper()):
        return None
    code = COMMENT.sub("", content) if "(" in content or ";" in content else content
    code = code.strip().upper()
    if not code or code[0] in "%$" or (letters is not None and letters.isdisjoint(code)):
        return None
    return _parse_block(code, line, file)


def _parse_block(code: str, line: int, file: str | PathLike[str]) -> Block:
    g, m = list[int](), list[int]()
    values: dict[str, float] = {}
    for letter, number in _split_words(code, line, file):
        value = float(number)
        if letter in CODES:
            if not abs(value) < HIGHEST_CODE:
                raise _too_large(letter, number, f"{file}, line {line}")
            (g if letter == "G" else m).append(round(10 * value))
        elif letter in values:
            raise BadInput(
                f"{file}, line {line}: a word may come once in a line, but {letter} comes twice; split the "
                "line."
            )
        elif not abs(value) < FARTHEST:
            raise _too_large(letter, number, f"{file}, line {line}")
        elif letter not in "NO":
            values[letter] = value
    return Block(line, tuple(g), tuple(m), values)


def _too_large(letter: str, number: str, where: str) -> BadInput:
    return BadInput(f"{where}: no machine takes {letter}{short_repr(number)[1:-1]}; correct the number.")


def _split_words(code: str, line: int, file: str | PathLike[str]) -> list[tuple[str, str]]:
    """Letters with their numbers; of a line that goes on with text only its command."""
    packed = "".join(code.split())
    if packed[0] == "/" or "*" in packed:
        packed = CHECKSUM.sub("", packed).removeprefix("/")
    exponent = "E" in code and EXPONENT.search(code)
    if WORDS.fullmatch(packed) and not exponent:
        return WORD.findall(packed)
    text = FREE_TEXT.match(packed)
    if text is not None and (text[3] or 10 * int(text[2]) not in LASER | FAN | PROGRAM_END):
        return [(text[1] or text[3], text[2] or text[4])]
    where = f"{file}, line {line}"
    if "(" in code:
        raise BadInput(f"{where}: a comment must be closed, but ( is not; add ) in the same line.")
    if exponent:
        raise BadInput(
            f"{where}: a number must not have an exponent, which machines read as an E axis, but "
            f"{short_repr(code)} has; write decimals, or a space before E."
        )
    raise BadInput(
        f"{where}: a line must be G-code words such as G1 X1.5 Y2, but is {short_repr(code)}; let the "
        "program that wrote it expand its macros, variables and splines."
    )
