"""One line of G-code becomes several that lead the same way."""

from itertools import pairwise
from math import pi

from laserloop.paths.gcode_arc import find_arc_centre
from laserloop.paths.gcode_line import find_number, remove_word, set_word
from laserloop.paths.gcode_machine import Frame
from laserloop.paths.move import Move
from laserloop.paths.orders import find_along
from laserloop.paths.text_file import format_number

LENGTH_DIGITS = 6  # of mm or inches: 1 to 25 nm
TIME_DIGITS = 6
UNSURE = 0.25  # of half a turn, so near to which R does not tell the centre well


def split_rest(line: str, shares: list[float]) -> list[str]:
    """A dwell in parts; the last is what the others leave."""
    letter = next(letter for letter in "PSX" if find_number(line, letter) is not None)
    total = str(find_number(line, letter))
    first, *others = _part(total, shares, TIME_DIGITS)
    return [set_word(line, letter, first), *(f"G4 {letter}{part}" for part in others)]


def split_motion(
    line: str,
    move: Move,
    shares: list[float],
    frame: Frame,
    values: dict[str, float],
    more: tuple[float, bool | None, str],
) -> list[str]:
    """A motion in pieces that end at these shares of its length; the original line becomes the first.

    `more`: where the E axis was before, whether an arc is clockwise (None: straight), and where it stands.
    """
    material, clockwise, where = more
    targets = find_along(list(move.points), shares)
    words = _place_words(line, [move.points[0], *targets], frame, bent=clockwise is not None)
    if (total := find_number(line, "E")) is not None:
        words["E"] = _feed_words(total, shares, material, absolute=frame.absolute_material)
    if clockwise is not None:
        words |= _bend_words(move, (shares, targets), frame, values, (clockwise, where))
    if "I" in words:
        line = remove_word(line, "R")
    for letter, numbers in words.items():
        line = set_word(line, letter, numbers[0])
    lines = [line]
    for k in range(1, len(shares)):
        text = " ".join(f"{letter}{numbers[k]}" for letter, numbers in words.items())
        lines.append(f"G{frame.motion // 10} {text}")
    return lines


def _place_words(line: str, places: list[complex], frame: Frame, *, bent: bool) -> dict[str, list[str]]:
    """X and Y of each piece; the last ends exactly where the line ended."""
    words = dict[str, list[str]]()
    for letter, part in (("X", "real"), ("Y", "imag")):
        written = find_number(line, letter)
        if written is None and not bent:
            continue
        digits = max(LENGTH_DIGITS, _count_digits(written or ""))
        unit, zero = frame.unit, getattr(frame.zero, part)
        at = [(getattr(place, part) - zero) / unit for place in places]
        if frame.absolute:
            words[letter] = [format_number(value, digits) for value in at[1:]]
            words[letter][-1] = written or words[letter][-1]
            continue
        rounded = [round(value - at[0], digits) for value in at]
        rounded[-1] = float(written or 0.0)
        steps = pairwise(rounded)
        words[letter] = [format_number(b - a, digits) for a, b in steps]
    return words


def _bend_words(
    move: Move,
    pieces: tuple[list[float], list[complex]],
    frame: Frame,
    values: dict[str, float],
    more: tuple[bool, str],
) -> dict[str, list[str]]:
    """R of each arc, or I and J from where it starts; also where R would tell a half turn badly."""
    (clockwise, where), (shares, targets) = more, pieces
    count = len(targets)
    if "R" in values:
        radius = abs(values["R"])
        turns = [_find_length(move, share) / (pi * radius * frame.unit) for share in shares]
        halves = [b - a for a, b in zip([0.0, *turns], turns, strict=False)]  # half turns
        if all(abs(half - 1) > UNSURE for half in halves):
            return {"R": [format_number(radius if half < 1 else -radius, LENGTH_DIGITS) for half in halves]}
    ends = (move.points[0], move.points[-1])
    zero = frame.zero if frame.absolute_arcs else ends[0]
    centre = find_arc_centre(ends, values, clockwise=clockwise, unit=frame.unit, zero=zero, where=where)
    starts = [frame.zero] * count if frame.absolute_arcs else [ends[0], *targets[:-1]]
    arms = [(centre - start) / frame.unit for start in starts]
    return {
        "I": [format_number(arm.real, LENGTH_DIGITS) for arm in arms],
        "J": [format_number(arm.imag, LENGTH_DIGITS) for arm in arms],
    }


def _find_length(move: Move, share: float) -> float:
    """Of the first part of a move, m."""
    pairs = zip(move.points, move.points[1:], strict=False)
    return share * sum(abs(b - a) for a, b in pairs)


def _feed_words(total: str, shares: list[float], before: float, *, absolute: bool) -> list[str]:
    """E of each piece."""
    if not absolute:
        return _part(total, shares, LENGTH_DIGITS)
    digits = max(LENGTH_DIGITS, _count_digits(total))
    at = [format_number(before + share * (float(total) - before), digits) for share in shares]
    return [*at[:-1], total]


def _part(total: str, shares: list[float], digits: int) -> list[str]:
    """A number in parts that add up to it."""
    digits = max(digits, _count_digits(total))
    ends = [0.0, *(round(share * float(total), digits) for share in shares[:-1]), float(total)]
    return [format_number(b - a, digits) for a, b in pairwise(ends)]


def _count_digits(number: str) -> int:
    """After the point."""
    return len(number.partition(".")[2])
