"""Path files as text: read within limits, and numbers that say where they are none."""

import re
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from os import PathLike
from pathlib import Path
from reprlib import repr as short_repr

from laserloop.bad_input import BadInput, guess

END = re.compile("(\r\n|\r|\n)")
MOST_NAMES = 1000  # of a folder that are compared with a wrong one
MAX_BYTES = 64_000_000  # some two million lines of G-code; a layer on a 15 × 10 mm plate has thousands


@dataclass(frozen=True, slots=True)
class NamedContent(PathLike[str]):
    """What is in a file, under the name that people give it: every reader takes it in the file's place."""

    name: str
    content: bytes

    def __fspath__(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


def read_bytes(file: str | PathLike[str]) -> bytes:
    """What is in `file`, within reason."""
    if isinstance(file, NamedContent):
        return file.content
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


def decode_text(content: bytes, file: str | PathLike[str]) -> str:
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


@dataclass(slots=True)
class Text:
    """A file line by line, so that it can be put together again byte by byte."""

    lines: list[str]
    ends: list[str]  # of each line: \n, \r\n, \r or, after the last, nothing
    encoding: str

    @property
    def end(self) -> str:
        """How the first line ends, for lines that are added."""
        return next((end for end in self.ends if end), "\n")

    def join(self) -> bytes:
        """The file's content."""
        parts = [part for pair in zip(self.lines, self.ends, strict=True) for part in pair]
        return "".join(parts).encode(self.encoding)


def read_text(file: str | PathLike[str]) -> Text:
    """A path file line by line."""
    content = read_bytes(file)
    parts = END.split(decode_text(content, file))
    try:
        content.decode("utf-8")
        encoding = "utf-8-sig" if content.startswith(b"\xef\xbb\xbf") else "utf-8"
    except UnicodeDecodeError:
        encoding = "latin-1"
    return Text(parts[::2], [*parts[1::2], ""], encoding)


def format_number(value: float, digits: int) -> str:
    """Decimals without an exponent and without needless zeros."""
    text = "%.*f" % (digits, value)  # noqa: UP031  # half the time of an f-string
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def split_lines(text: str) -> list[str]:
    """The lines of `text`, whatever system wrote them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


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
