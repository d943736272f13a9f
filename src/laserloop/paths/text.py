"""The text of path files: read within limits, told where it is wrong, and put together again byte by byte."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from os import PathLike
from pathlib import Path
from reprlib import repr as short_repr
from typing import NamedTuple

import numpy as np

from laserloop.bad_input import BadInput, guess

END = re.compile("(\r\n|\r|\n)")
NAMED = 8  # words in a note
MOST_NAMES = 1000  # of a folder that are compared with a wrong one
MAX_BYTES = 64_000_000  # some two million lines of G-code; a layer on a 15 × 10 mm plate has thousands
SIGN = "laserloop plan:"  # of the one comment at the head of a planned file
HEAD = 100_000  # bytes in which that is looked for
OLD_LINE = re.compile(rb"^(?:;|#|//|\() ?" + SIGN.encode() + rb"[^\r\n]*(?:\r\n|\r|\n|\Z)", re.MULTILINE)
BOM = b"\xef\xbb\xbf"


class PowerCommand(NamedTuple):
    """What is wanted of one move."""

    shares: list[float]  # where its pieces end, rising to 1: of its length, or of its time if it is a rest
    powers: list[float]  # W, of each piece
    speed: float  # m/s; NaN: as the file says


Schedule = dict[
    int, PowerCommand
]  # by move, counted from 0 in the order of the file; others stay as they are


def find_along(points: Sequence[complex], shares: list[float]) -> list[complex]:
    """Points at shares of the length of a polyline; the last is its end exactly."""
    corners = np.array(points)
    s = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(corners)))))
    places = np.array(shares) * s[-1]
    along = np.interp(places, s, corners.real) + 1j * np.interp(places, s, corners.imag)
    return [*along[:-1].tolist(), points[-1]]


def read_bytes(file: str | PathLike[str]) -> bytes:
    """What is in `file`, within reason."""
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise BadInput(
            f"a path file must exist, but {file} does not{guess_file(file)}; check its name and folder."
        ) from None
    except IsADirectoryError:
        raise BadInput(
            f"a path must be a file, but {file} is a directory; name the file inside it."
        ) from None
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the name
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise BadInput(
            f"a path file must be readable, but {str(file)!r} is not ({reason}); check it."
        ) from None
    if len(content) > MAX_BYTES:
        raise BadInput(
            f"{file}: a path file may have at most {MAX_BYTES} bytes, but has more; keep one layer of it."
        )
    return content


def guess_file(file: str | PathLike[str]) -> str:
    """` (did you mean …?)` with the file of a like name in the same folder, if there is one."""
    path = Path(file)
    try:
        return guess(path.name, (other.name for other in islice(path.parent.iterdir(), MOST_NAMES)))
    except (OSError, ValueError):
        return ""


def decode_text(content: bytes, file: object) -> str:
    """UTF-8, or Latin-1 as older controllers write their comments; refuses what is no text."""
    zero = content.find(b"\0")
    if zero >= 0:
        line = content.count(b"\n", 0, zero) + 1
        raise BadInput(
            f"{file}, line {line}: a path file must be text, but byte {zero} is zero as in a binary file; "
            "export it as plain text in UTF-8."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """The lines of `text`, whatever system wrote them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def says_something(line: str) -> bool:
    """Whether a line of a table is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


class Text:
    """A file line by line, so that it can be put together again byte by byte."""

    def __init__(self, content: bytes, file: object) -> None:
        parts = END.split(decode_text(content, file))
        self.lines, self._ends = parts[::2], [*parts[1::2], ""]
        self.end = next(
            (end for end in self._ends if end), "\n"
        )  # of the first line, for those that are added
        try:
            content.decode("utf-8")
            self._encoding = "utf-8-sig" if content.startswith(BOM) else "utf-8"
        except UnicodeDecodeError:
            self._encoding = "latin-1"

    def put(self, k: int, lines: Sequence[str]) -> None:
        """Some lines in place of one."""
        self.lines[k] = lines[0] if len(lines) == 1 else (self._ends[k] or self.end).join(lines)

    def join(self) -> str:
        """The whole text."""
        return "".join([part for pair in zip(self.lines, self._ends, strict=True) for part in pair])

    def encode(self, text: str | None = None) -> bytes:
        """The file's content, or that of another text as this file has it."""
        return (self.join() if text is None else text).encode(self._encoding)


def format_number(value: float, digits: int) -> str:
    """Decimals without an exponent and without needless zeros."""
    text = "%.*f" % (digits, value)  # noqa: UP031  # half the time of an f-string
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def format_share(share: float, digits: int) -> str:
    """A power or a share of one, and never 0: that would be the laser off."""
    return format_number(max(share, 10.0**-digits), digits)


def parse_number(text: str, name: str, where: str) -> float:
    """A finite number, or a sentence about `name`."""
    try:
        value = float(text.replace("_", "?"))  # Python alone would read 1_5 as 15
    except ValueError:
        raise BadInput(f"{where}: {name} must be a number, but is {short_repr(text)}; correct it.") from None
    if not isfinite(value):
        raise BadInput(
            f"{where}: {name} must be finite, but is {short_repr(text)}; correct or remove the row."
        )
    return value


def describe_unknown(file: object, unknown: Mapping[str, int]) -> Iterator[str]:
    """What was passed over, by its first line; a sentence without its full stop, or none."""
    if unknown:
        words = list(unknown)
        more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
        yield f"{file}, line {unknown[words[0]]} and after: {', '.join(words[:NAMED])}{more} passed over"


def needs_all_layers(file: object, line: int) -> BadInput:
    """The sentence for a move without a power beside moves that get one."""
    return BadInput(
        f"{file}, line {line}: a program that gives no powers must be planned as a whole, but this move has "
        "none; plan all layers."
    )


def insert_mark(content: bytes, mark: str, pattern: str, after: str = "") -> bytes:
    """A comment in a line of its own, first or behind what `after` finds, in place of an older one if any."""
    content = OLD_LINE.sub(b"", content[:HEAD], count=1) + content[HEAD:]
    if not mark:
        return content
    before = re.search(after.encode(), content, re.IGNORECASE)
    place = before.end() if before else 0
    place = max(place, len(BOM) if content.startswith(BOM) else 0)
    first = re.search(rb"\r\n|\r|\n", content)
    end = first.group() if first else b"\n"
    return content[:place] + pattern.format(clean_mark(mark)).encode("ascii") + end + content[place:]


def clean_mark(mark: str) -> str:
    """One line of ASCII without what would end a comment."""
    words = " ".join(f"{SIGN} {mark}".split())
    for old, new in (("–", "-"), ("σ", "sigma"), (" (", ", "), (";", ",")):
        words = words.replace(old, new)
    return words.translate({ord(c): None for c in "()/;#"}).encode("ascii", "ignore").decode()
