"""G-code as lasers get it: lines of words, and what a program switches its laser with."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from reprlib import repr as short_repr
from typing import NamedTuple

from laserloop.bad_input import BadInput
from laserloop.paths.files import Format, ScanFile
from laserloop.paths.gcode_machine import (
    FAN,
    LASER,
    MODES,
    MOTIONS,
    PRINTER,
    PROGRAM_END,
    Block,
    Laser,
    LaserSignal,
    Machine,
)
from laserloop.paths.text import HEAD, Schedule, insert_mark, split_lines
from laserloop.paths.track import Moves

COMMENT = re.compile(r"\([^)]*\)|;.*")
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
WORD = re.compile(rf"([A-Z])({NUMBER})")
WORDS = re.compile(rf"(?:[A-Z]{NUMBER})*")
EXPONENT = re.compile(r"[0-9.]E[+-][0-9]")
CHECKSUM = re.compile(r"\*[0-9]+$")
FREE_TEXT = re.compile(r"(?:N[0-9]+)?(?:(M)([0-9]{1,4})|(G)(2[89]))(?![0-9])")  # may go on with text or flags
HIGHEST_CODE = 1e4  # of G and M
FARTHEST = 1e9  # of any unit; no machine has such numbers
# Most lines have at most one of G0 to G3, which small letters stand for while many are parsed together,
SHORT = {"a": (0,), "b": (10,), "c": (20,), "d": (30,)}
MARKS = [(code % k, mark.encode()) for k, mark in enumerate(SHORT) for code in (b"G%d ", b"G0%d ")]
USUAL = frozenset("EFIJNRSXYZ")  # and of these words each at most once
# Commas begin a number, and a blank ends it where a motion is: 1 G1 5 must not become 15.
APART = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcd", b"," * 26 + b" " * 4)
TOGETHER = 1000  # lines
Shape = tuple[tuple[int, ...], str]  # codes and other words of a usual line
IN_WATTS = re.compile(r"\bS (?:is )?in (?:W|watts?)\b", re.IGNORECASE)


def parse_lines(lines: Sequence[str], file: object, letters: str = "") -> Iterator[Block]:
    """The blocks of some lines. With `letters` only of lines that have one."""
    find_shape, new = cache(_find_shape), tuple.__new__  # in half the time of Block(…)
    for first in range(0, len(lines), TOGETHER):
        code = "\n".join(lines[first : first + TOGETHER]).upper()
        if letters and not any(letter in code for letter in letters):
            continue
        shapes, numbers = _tell_apart(code, find_shape)
        for line, shape in enumerate(shapes, start=first + 1):
            if shape is not None:
                g, words = shape
                values = dict(zip(words, numbers))  # noqa: B905  # takes as many numbers as there are words
                values.pop("N", None)
                if not (letters and values.keys().isdisjoint(letters)):
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
    motions = [letter for letter in letters if letter in SHORT]
    words = "".join(letter for letter in letters if letter not in SHORT)
    if not words or not USUAL.issuperset(words) or len(set(words)) < len(words) or len(motions) > 1:
        return None
    return (SHORT[motions[0]] if motions else ()), words


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


def _parse_line(content: str, line: int, file: object, letters: str = "") -> Block | None:
    """The block of any line; None: it is no code, or code without one of the letters."""
    if letters and not any(letter in content.upper() for letter in letters):
        return None
    code = COMMENT.sub("", content) if "(" in content or ";" in content else content
    code = code.strip().upper()
    if not code or code[0] in "%$" or (letters and not any(letter in code for letter in letters)):
        return None
    codes: dict[str, list[int]] = {"G": [], "M": []}
    values: dict[str, float] = {}
    where = f"{file}, line {line}"
    for letter, number in _split_words(code, where):
        value = float(number)
        if not abs(value) < (HIGHEST_CODE if letter in codes else FARTHEST):
            raise BadInput(
                f"{where}: no machine takes {letter}{short_repr(number)[1:-1]}; correct the number."
            )
        if letter in codes:
            codes[letter].append(round(10 * value))
        elif letter in values:
            raise BadInput(
                f"{where}: a word may come once in a line, but {letter} comes twice; split the line."
            )
        elif letter not in "NO":
            values[letter] = value
    return Block(line, tuple(codes["G"]), tuple(codes["M"]), values)


def _split_words(code: str, where: str) -> list[tuple[str, str]]:
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


class _Dialect(NamedTuple):
    """How a program is to be understood."""

    signal: LaserSignal
    printer: bool  # Marlin and RepRap: P of a dwell is in ms, and G0 goes at the feed


def find_dialect(lines: Sequence[str], file: object) -> _Dialect:
    """Of a whole program: the laser by the first of its ways that occurs, in the order of `LaserSignal`."""
    signals, printer = {LaserSignal.MOTION}, False
    for block in parse_lines(lines, file, "MSE"):
        if not LASER.isdisjoint(block.m):  # which decides on the laser, and passes over many an S
            printers = [_is_printers(block) for block in parse_lines(lines, file, "ME")]
            return _Dialect(LaserSignal.SWITCH, any(printers))
        printer = printer or _is_printers(block)
        if not FAN.isdisjoint(block.m):
            signals.add(LaserSignal.FAN)
        elif _moves_only(block):
            signals |= {LaserSignal.POWER} if "S" in block.values else set()
            signals |= {LaserSignal.MATERIAL} if "E" in block.values else set()
    return _Dialect(next(signal for signal in LaserSignal if signal in signals), printer)


def _is_printers(block: Block) -> bool:
    """Whether only 3D printers get such a block."""
    return not PRINTER.isdisjoint(block.m) or ("E" in block.values and _moves_only(block))


def _moves_only(block: Block) -> bool:
    """Whether its numbers belong to a motion, and to no other command."""
    return not block.m and all(code in MOTIONS or code in MODES for code in block.g)


def _read_gcode(file: ScanFile) -> Moves:
    """All moves of a program: G0 to G4, G20, G21, G90 to G92, F, and M3 to M5, S, E, M106 for the laser.

    The laser is on by M3 or M4 and S; without these by a growing E, without that by M106, and without all of
    them on G1, G2 and G3. G0 is dark. S is the power in W, or in parts of the range's most.
    """
    text = file.text
    if not text.strip():
        raise BadInput(
            f"{file}, line 1: a G-code file must hold moves, but is empty; check how it was exported."
        )
    lines = split_lines(text)
    laser, machine = make_machine(file, lines)

    def describe() -> Iterator[str]:
        yield from machine.describe()
        if file.s_max is None and laser.has_power and not IN_WATTS.search(text):
            yield f"{file}: S is taken as W, since nothing says its range; if 1000 is all power: --s-max 1000"

    return Moves(machine.moves(parse_lines(lines, file)), describe)


def make_machine(file: ScanFile, lines: Sequence[str]) -> tuple[Laser, Machine]:
    """What a program drives, as it begins."""
    dialect = find_dialect(lines, file)
    most = None if file.s_max is None else file.power_max
    laser = Laser(dialect.signal, s_max=file.s_max, power_max=most)
    return laser, Machine(file, laser, printer=dialect.printer)


def writes_whole_s(file: ScanFile) -> bool:
    """Whether all S of a program are whole numbers, and there are any."""
    blocks = parse_lines(split_lines(file.text), file, "S")
    values = [block.values["S"] for block in blocks if "S" in block.values]
    return bool(values) and all(value == int(value) for value in values)


def _find_step(file: ScanFile) -> float:
    if file.s_max is None or file.power_max is None or not writes_whole_s(file):
        return 0.0
    return file.power_max / file.s_max


def _rewrite(file: ScanFile, schedule: Schedule) -> bytes:
    from laserloop.paths.gcode_writer import write_gcode

    return write_gcode(file, schedule)


def _mark(content: bytes, mark: str) -> bytes:
    """As the first line, or the second after a %; in parentheses where the file has only such comments."""
    only_parentheses = b"(" in content[:HEAD] and b";" not in content[:HEAD]
    pattern = "({})" if only_parentheses else "; {}"
    return insert_mark(content, mark, pattern, after=r"\A[ \t]*%[^\r\n]*(?:\r\n|\r|\n)")


def _is_gcode(beginning: str) -> bool:
    return bool(re.search(r"^[\s/]*(?:N[0-9]+)?\s*[GM]\s*[0-9]", beginning, re.MULTILINE | re.IGNORECASE))


GCODE = Format(
    recognises=_is_gcode,
    read=_read_gcode,
    rewrite=_rewrite,
    mark=_mark,
    takes_s_max=True,
    find_step=_find_step,
)
