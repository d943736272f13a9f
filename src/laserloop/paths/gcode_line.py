"""A line of G-code that is edited word by word; all else in it stays as it was.

Words are found outside of comments, in either case, with blanks inside.
"""

import re
from functools import reduce
from itertools import pairwise

from laserloop.paths.gcode_block import COMMENT

WORD = re.compile(r"([A-Za-z])\s*([+-]?(?:\s*[0-9.])+)")
CHECKSUM = re.compile(r"\*\s*[0-9]+\s*$")


def find_number(line: str, letter: str) -> str | None:
    """The number of a word as it is written, if there is one."""
    found = _find(line, letter)
    return None if found is None else "".join(found[2].split())


def set_word(line: str, letter: str, number: str) -> str:
    """With another number of a word, or with the word added behind the last one."""
    found = _find(line, letter)
    if found is not None:
        low, high = found.span(2)
        return _mend_checksum(f"{line[:low]}{number}{line[high:]}")
    if " " in line and not ("(" in line or ";" in line or "*" in line):
        code = line.rstrip()
        return f"{code} {letter}{number}{line[len(code) :]}"
    words = list(WORD.finditer(_blank_comments(line)))
    at = words[-1].end() if words else len(line)
    spaced = len(words) < 2 or any(a.end() < b.start() for a, b in pairwise(words))
    return _mend_checksum(f"{line[:at]}{' ' if spaced else ''}{letter}{number}{line[at:]}")


def remove_word(line: str, letter: str) -> str:
    """Without a word."""
    found = _find(line, letter)
    return line if found is None else _mend_checksum(f"{line[: found.start()]}{line[found.end() :]}")


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
    found = CHECKSUM.search(_blank_comments(line)) if "*" in line else None
    if found is None:
        return line
    low = found.start()
    value = reduce(lambda a, b: a ^ b, line[:low].encode(), 0)
    return f"{line[:low]}*{value}{line[found.end() :]}"
