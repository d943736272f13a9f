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
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COMMAS = bytes.maketrans(LETTERS, b"," * len(LETTERS))
USUAL = frozenset("EFGIJNRSXYZ")  # the words of most lines, where G is a motion
MOTIONS = {0.0: (0,), 1.0: (10,), 2.0: (20,), 3.0: (30,)}
TOGETHER = 1000  # lines in which letters and numbers are told apart at once
EXPONENT = re.compile(r"[0-9.]E[+-][0-9]")
CHECKSUM = re.compile(r"\*[0-9]+$")
FREE_TEXT = re.compile(r"(?:N[0-9]+)?(?:(M)([0-9]{1,4})|(G)(2[89]))(?![0-9])")  # may go on with text or flags
CODES = ("G", "M")
HIGHEST_CODE = 1e4  # of G and M
FARTHEST = 1e9  # of any unit; no machine has such numbers


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
    find_shape = cache(_find_shape)
    for first in range(0, len(lines), TOGETHER):
        some = lines[first : first + TOGETHER]
        code = "\n".join(some).upper()
        if letters is not None and not any(letter in code for letter in letters):
            continue
        shapes, value = _tell_apart(code, find_shape)
        for line, shape in enumerate(shapes, start=first + 1):
            g = None
            if shape:
                values = dict(zip(shape, value))  # noqa: B905  # takes as many values as there are letters
                g = MOTIONS.get(values.pop("G")) if "G" in values else ()
                if "N" in values:
                    del values["N"]
                if g is not None:
                    if letters is None or not letters.isdisjoint(values):
                        yield make_block(Block, (line, g, (), values))
                    continue
            block = _parse_line(lines[line-1], line, file, letters)
            if block is None:
                continue
            yield block
            if block.m and not PROGRAM_END.isdisjoint(block.m):
                return


make_block = tuple.__new__

def _find_shape(text: bytes) -> str | None:
    """The letters of a line, given without its numbers, if they are usual and come once."""
    letters = text.replace(b" ", b"").decode("latin-1")
    return letters if USUAL.issuperset(letters) and len(set(letters)) == len(letters) else None


def _tell_apart(
    code: str, find_shape: Callable[[bytes], str | None]
) -> tuple[list[str | None], Iterator[float]]:
    """The blocks of lines in capitals, the first with that number; None: it has to be parsed on its own."""
    packed = code.encode("latin-1", "replace")
    shapes = [find_shape(text) for text in packed.translate(None, b"+-.0123456789").split(b"\n")]
    nothing = [None] * len(shapes), iter(())
    texts = zip(packed.translate(COMMAS, b" ").split(b"\n"), shapes, strict=True)
    before, *numbers = b"\n".join([text for text, shape in texts if shape]).split(b",")
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        return nothing
    if before or not values or not (-FARTHEST < min(values) and max(values) < FARTHEST):
        return nothing
    if "E" in code and EXPONENT.search(code):
        return nothing
    return shapes, iter(values)


def _parse_line(
    content: str, line: int, file: str | PathLike[str], letters: set[str] | None
) -> Block | None:
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
