"""A line of G-code that is edited word by word; all else in it stays as it was."""

import re
from functools import reduce
from itertools import pairwise

from laserloop.paths.gcode_block import COMMENT

WORD = re.compile(r"([A-Za-z])\s*([+-]?(?:\s*[0-9.])+)")
UNUSUAL = frozenset("(;*")
CHECKSUM = re.compile(r"\*\s*[0-9]+\s*$")


class Line:
    """The text of a line; words are found outside of comments, in either case, with blanks inside."""

    __slots__ = ("content",)

    def __init__(self, content: str) -> None:
        self.content = content

    def number(self, letter: str) -> str | None:
        """The number of a word as it is written, if there is one."""
        found = self._find(letter)
        return None if found is None else "".join(found[2].split())

    def set(self, letter: str, number: str) -> None:
        """Change the number of a word, or add the word behind the last one."""
        found = self._find(letter)
        if found is not None:
            low, high = found.span(2)
            self.content = f"{self.content[:low]}{number}{self.content[high:]}"
        else:
            self._append(f"{letter}{number}")
        self._mend_checksum()

    def remove(self, letter: str) -> None:
        """Take a word out."""
        found = self._find(letter)
        if found is not None:
            self.content = f"{self.content[: found.start()]}{self.content[found.end() :]}"
            self._mend_checksum()

    def _append(self, word: str) -> None:
        if UNUSUAL.isdisjoint(self.content) and " " in self.content:
            at = len(self.content.rstrip())
            self.content = f"{self.content[:at]} {word}{self.content[at:]}"
            return
        words = list(WORD.finditer(self._code()))
        at = words[-1].end() if words else len(self.content)
        spaced = len(words) < 2 or any(a.end() < b.start() for a, b in pairwise(words))
        self.content = f"{self.content[:at]}{' ' if spaced else ''}{word}{self.content[at:]}"

    def _find(self, letter: str) -> re.Match[str] | None:
        if letter not in self.content and letter.lower() not in self.content:
            return None
        return next((word for word in WORD.finditer(self._code()) if word[1].upper() == letter), None)

    def _code(self) -> str:
        """The line with blanks for its comments, so that places stay."""
        if "(" not in self.content and ";" not in self.content:
            return self.content
        return COMMENT.sub(lambda comment: " " * len(comment[0]), self.content)

    def _mend_checksum(self) -> None:
        """Marlin's: all bytes before the star, combined by exclusive or."""
        if "*" not in self.content:
            return
        found = CHECKSUM.search(self._code())
        if found is not None:
            low = found.start()
            value = reduce(lambda a, b: a ^ b, self.content[:low].encode(), 0)
            self.content = f"{self.content[:low]}*{value}{self.content[found.end() :]}"
