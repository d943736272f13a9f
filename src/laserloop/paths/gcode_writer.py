"""G-code with other powers and speeds: the same lines, split where a plan splits their moves.

Words are found outside of comments, in either case, with blanks inside; all else in a line stays as it was.

S  the power as the program's own scale has it      F  the feed, units per minute
"""

import re
from functools import lru_cache, partial, reduce
from itertools import pairwise
from math import isclose, isnan, nan, pi

from laserloop.bad_input import BadInput
from laserloop.paths.files import ScanFile
from laserloop.paths.gcode import COMMENT, make_machine, parse_lines, writes_whole_s
from laserloop.paths.gcode_machine import ARCS, BY_S, PROGRAM_END, Block, LaserSignal, Machine
from laserloop.paths.text import PowerCommand, Schedule, find_along, format_number, needs_all_layers
from laserloop.paths.track import Move

DIGITS = 4  # of S, unless the file writes whole numbers
FEED_DIGITS = 3  # of F
SAME = 1e-6  # relative; S or F as near are equal
FREQUENT = 4096  # powers whose numbers are remembered: plans take whole numbers of a step
LENGTH_DIGITS = 6  # of mm or inches: 1 to 25 nm
TIME_DIGITS = 6
UNSURE = 0.25  # of half a turn, so near to which R does not tell the centre well
WORD = re.compile(r"([A-Za-z])\s*([+-]?(?:\s*[0-9.])+)")
CHECKSUM = re.compile(r"\*\s*[0-9]+\s*$")


def write_gcode(file: ScanFile, schedule: Schedule) -> bytes:
    """The program with the powers and speeds that are wanted.

    A program that switches its laser by E or by G1 alone gets S on its lit moves, and S0 on its dark ones.
    """
    return _Writer(file, schedule).write()


class _Writer:
    """Goes through a program as the reader does, and knows what the machine was told so far."""

    def __init__(self, file: ScanFile, schedule: Schedule) -> None:
        self._file, self._schedule, self._text = file, schedule, file.split()
        self._laser, self._machine = make_machine(file, self._text.lines)
        scale = (
            1.0 if file.s_max is None or file.power_max is None else file.s_max / file.power_max
        )  # S per W
        digits = 0 if file.s_max is not None and writes_whole_s(file) else DIGITS
        self._round = lru_cache(FREQUENT)(partial(_round_s, scale=scale, digits=digits))
        self._format = lru_cache(FREQUENT)(partial(format_number, digits=DIGITS))
        self._s, self._feed = self._laser.s, nan  # what the written file last said; m/s
        self._unused = list[int]()  # lines whose S no lit move has taken yet
        self._names_s = False  # has the line of a command its own S?

    def write(self) -> bytes:
        """The whole file."""
        lines, machine, laser, count = self._text.lines, self._machine, self._laser, 0
        for block in parse_lines(list(lines), self._file):
            before = machine.material
            move = machine.execute(block)
            if ("S" in block.values or block.m) and laser.took_power:
                self._s = laser.s
            if "F" in block.values:
                self._feed = machine.feed
            k = block.line - 1
            unused = "S" in block.values and self._is_unused(move)
            if move is not None:
                command = self._schedule.get(count)
                count += 1
                self._names_s = command is not None and "S" in block.values
                if command is None:
                    written = self._keep(lines[k], move)
                else:
                    written = self._change(lines[k], block, move, command, before)
                self._text.put(k, written.split("\n"))
            self._unused += [k] if unused else []
        return self._text.encode()

    def _is_unused(self, move: Move | None) -> bool:
        """Whether the S of a block is a power that its own move does not take."""
        by_s = self._laser.signal in (*BY_S, LaserSignal.FAN)
        return by_s and self._laser.took_power and self._laser.s > 0 and not (move is not None and move.lit)

    def _keep(self, line: str, move: Move) -> str:
        """A move of which nothing is wanted: what the file means, if something else was said before."""
        rests, s = move.rest > 0, nan
        if self._laser.signal in BY_S:
            kept_dark = self._laser.is_switched_on and not self._laser.s > 0  # by S alone
            if move.lit or (kept_dark and (rests or not self._machine.is_rapid)):
                s = self._laser.s
        elif self._laser.signal is LaserSignal.FAN:
            s = self._laser.s if move.lit else nan
        elif move.lit:
            raise needs_all_layers(self._file, move.line)
        elif (rests or self._machine.motion != 0) and self._s > 0:
            s = 0.0
        return self._say(line, s, nan if rests else self._machine.feed, rests=rests)

    def _change(self, line: str, block: Block, move: Move, command: PowerCommand, material: float) -> str:
        """The lines of a move with a command; `material` is where the E axis was before."""
        rests = move.rest > 0
        if not rests and self._machine.motion == 0:
            raise BadInput(
                f"{self._file}, line {move.line}: a rapid move cannot have a power, but G0 is lit here by E; "
                "write G1."
            )
        shares, powers, speed = command
        feed = nan if rests else self._machine.feed if isnan(speed) else speed
        if len(shares) > 1 and not PROGRAM_END.isdisjoint(block.m):
            shares, powers = [1.0], [sum(powers) / len(powers)]
        if len(shares) == 1:
            return self._say(line, self._round(powers[0]), feed, rests=rests)
        pieces = (
            _split_dwell(line, shares)
            if rests
            else _split_motion(line, block, move, shares, self._machine, material)
        )
        drawn = zip(pieces, powers, strict=True)
        return "\n".join([self._say(piece, self._round(power), feed, rests=rests) for piece, power in drawn])

    def _say(self, line: str, s: float, feed: float, *, rests: bool) -> str:
        """A line with S and F, unless NaN or as before; S in a line of its own where this has no place.

        An S of the file that no lit move would take any more says this one instead.
        """
        before = ""
        if not (isclose(self._s, s, rel_tol=SAME) or isnan(s)):
            self._s, number = s, self._format(s)
            if self._unused and s > 0 and not self._names_s:
                self._say_earlier(s)
            elif self._laser.signal is LaserSignal.FAN:
                before = f"M106 S{number}\n"
            elif rests:
                before = f"S{number}\n"
            else:
                line = _set_word(line, "S", number)
        if not (isclose(self._feed, feed, rel_tol=SAME) or isnan(feed) or self._machine.is_rapid):
            line = _set_word(line, "F", format_number(feed / self._machine.unit * 60, FEED_DIGITS))
            self._feed = feed
        if self._names_s:
            self._say_earlier(s)
        if not isnan(s):
            self._unused.clear()
        self._names_s = False
        return before + line

    def _say_earlier(self, s: float) -> None:
        """Put a power in place of those that no lit move has taken."""
        for k in self._unused:
            self._text.lines[k] = _set_word(self._text.lines[k], "S", self._format(s))
        self._unused.clear()


def _round_s(power: float, scale: float, digits: int) -> float:
    """S of a power, W, as it will be written, and never 0: that would be the laser off."""
    return max(round(power * scale, digits), 10.0**-digits)


def _split_dwell(line: str, shares: list[float]) -> list[str]:
    """A dwell in parts; the last is what the others leave."""
    letter = next(letter for letter in "PSX" if _find_number(line, letter) is not None)
    first, *others = _part(str(_find_number(line, letter)), shares, TIME_DIGITS)
    return [_set_word(line, letter, first), *(f"G4 {letter}{part}" for part in others)]


def _split_motion(
    line: str, block: Block, move: Move, shares: list[float], machine: Machine, material: float
) -> list[str]:
    """A motion in pieces that end at these shares of its length; the original line becomes the first."""
    bent = machine.motion in ARCS
    targets = find_along(move.points, shares)
    words = _place_words(line, [move.points[0], *targets], machine, bent=bent)
    if (total := _find_number(line, "E")) is not None:
        words["E"] = _part(total, shares, LENGTH_DIGITS)
        if machine.absolute_material:
            digits = max(LENGTH_DIGITS, _count_digits(total))
            at = [format_number(material + share * (float(total) - material), digits) for share in shares]
            words["E"] = [*at[:-1], total]
    if bent:
        words |= _bend_words(block, move, shares, targets, machine)
    if "I" in words:
        line = _remove_word(line, "R")
    for letter, numbers in words.items():
        line = _set_word(line, letter, numbers[0])
    others = (
        " ".join(f"{letter}{numbers[k]}" for letter, numbers in words.items()) for k in range(1, len(shares))
    )
    return [line, *(f"G{machine.motion // 10} {text}" for text in others)]


def _place_words(line: str, places: list[complex], machine: Machine, *, bent: bool) -> dict[str, list[str]]:
    """X and Y of each piece; the last ends exactly where the line ended."""
    words = dict[str, list[str]]()
    for letter, part in (("X", "real"), ("Y", "imag")):
        written = _find_number(line, letter)
        if written is None and not bent:
            continue
        digits = max(LENGTH_DIGITS, _count_digits(written or ""))
        zero = getattr(machine.zero, part)
        at = [(getattr(place, part) - zero) / machine.unit for place in places]
        if machine.absolute:
            words[letter] = [format_number(value, digits) for value in at[1:]]
            words[letter][-1] = written or words[letter][-1]
            continue
        rounded = [round(value - at[0], digits) for value in at]
        rounded[-1] = float(written or 0.0)
        words[letter] = [format_number(b - a, digits) for a, b in pairwise(rounded)]
    return words


def _bend_words(
    block: Block, move: Move, shares: list[float], targets: list[complex], machine: Machine
) -> dict[str, list[str]]:
    """R of each arc, or I and J from where it starts; also where R would tell a half turn badly."""
    if "R" in block.values:
        radius = abs(block.values["R"])
        length = sum(abs(b - a) for a, b in pairwise(move.points))
        turns = [share * length / (pi * radius * machine.unit) for share in shares]
        halves = [b - a for a, b in pairwise([0.0, *turns])]  # half turns
        if all(abs(half - 1) > UNSURE for half in halves):
            return {"R": [format_number(radius if half < 1 else -radius, LENGTH_DIGITS) for half in halves]}
    centre = machine.find_arc(move.points[0], move.points[-1], block).centre
    starts = [machine.zero] * len(targets) if machine.absolute_arcs else [move.points[0], *targets[:-1]]
    arms = [(centre - start) / machine.unit for start in starts]
    return {
        "I": [format_number(arm.real, LENGTH_DIGITS) for arm in arms],
        "J": [format_number(arm.imag, LENGTH_DIGITS) for arm in arms],
    }


def _part(total: str, shares: list[float], digits: int) -> list[str]:
    """A number in parts that add up to it."""
    digits = max(digits, _count_digits(total))
    ends = [0.0, *(round(share * float(total), digits) for share in shares[:-1]), float(total)]
    return [format_number(b - a, digits) for a, b in pairwise(ends)]


def _count_digits(number: str) -> int:
    """After the point."""
    return len(number.partition(".")[2])


def _find_number(line: str, letter: str) -> str | None:
    """The number of a word as it is written, if there is one."""
    word = _find(line, letter)
    return None if word is None else "".join(word[2].split())


def _set_word(line: str, letter: str, number: str) -> str:
    """With another number of a word, or with the word added behind the last one."""
    word = _find(line, letter)
    if word is not None:
        low, high = word.span(2)
        return _mend_checksum(f"{line[:low]}{number}{line[high:]}")
    if " " in line and not ("(" in line or ";" in line or "*" in line):
        code = line.rstrip()
        return f"{code} {letter}{number}{line[len(code) :]}"
    words = list(WORD.finditer(_blank_comments(line)))
    at = words[-1].end() if words else len(line)
    spaced = len(words) < 2 or any(a.end() < b.start() for a, b in pairwise(words))
    return _mend_checksum(f"{line[:at]}{' ' if spaced else ''}{letter}{number}{line[at:]}")


def _remove_word(line: str, letter: str) -> str:
    """Without a word."""
    word = _find(line, letter)
    return line if word is None else _mend_checksum(f"{line[: word.start()]}{line[word.end() :]}")


def _find(line: str, letter: str) -> re.Match[str] | None:
    if letter not in line and letter.lower() not in line:
        return None
    return next((word for word in WORD.finditer(_blank_comments(line)) if word[1].upper() == letter), None)


def _blank_comments(line: str) -> str:
    """The line with blanks for its comments, so that places stay."""
    if "(" not in line and ";" not in line:
        return line
    return COMMENT.sub(lambda comment: " " * len(comment[0]), line)


def _mend_checksum(line: str) -> str:
    """With Marlin's: all bytes before the star, combined by exclusive or."""
    checksum = CHECKSUM.search(_blank_comments(line)) if "*" in line else None
    if checksum is None:
        return line
    low = checksum.start()
    value = reduce(lambda a, b: a ^ b, line[:low].encode(), 0)
    return f"{line[:low]}*{value}{line[checksum.end() :]}"
