"""JSON texts whose values know their line."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput

LARGEST = 1_000_000_000  # bytes
DEEPEST = 100  # brackets in each other; no run of ours has ten
MOST_DIGITS = 300  # of a whole number; one with more is as good as infinite
DECODER = json.JSONDecoder(parse_int=float)
BLANK = re.compile(r"[ \t\n\r]*")
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False)
class JsonText:
    """What a file says, and where."""

    name: str  # of the file, without its folder
    text: str = field(repr=False)
    value: Any

    def where(self, *keys: str | int) -> str:
        """The file and the line in which the value begins that these keys lead to, or what should have it."""
        return f"{self.name}, line {_count_lines(self.text, _find(self.text, keys))}"


def read_json_text(file: Path) -> JsonText:
    """The JSON of a file, within limits."""
    try:
        if file.stat().st_size > LARGEST:
            raise BadInput(f"{file.name}: a run may have at most {LARGEST} bytes, but has more; cut it")
        content = file.read_bytes()
        text = content.decode(json.detect_encoding(content))
        value = json.loads(text, parse_int=_read_whole)
    except json.JSONDecodeError as problem:
        raise BadInput(
            f"{file.name}, line {problem.lineno}, column {problem.colno}: a run must be JSON, but is not "
            f"({problem.msg}); write it anew"
        ) from None
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        raise BadInput(
            f"{file.name}, line {line}: a run must be JSON in UTF-8, but byte {problem.start} is not; write "
            "it anew"
        ) from None
    except RecursionError:
        line = _count_lines(text, _find_depth(text))
        raise BadInput(
            f"{file.name}, line {line}: brackets of JSON may be {DEEPEST} deep, but go deeper; write it anew"
        ) from None
    except OSError as problem:
        raise BadInput(
            f"the log {str(file)[:80]!r} must be readable, but is not ({problem.strerror}); check its name"
        ) from None
    return JsonText(file.name, text, value)


def _read_whole(digits: str) -> float:
    """Python refuses to read whole numbers of very many digits."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _count_lines(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _find(text: str, keys: tuple[str | int, ...]) -> int:
    """Where a value begins; the text is valid, and of a key that comes twice the last counts."""
    at = _skip(text, 0)
    for key in keys:
        found = _find_in_list(text, at, key) if text[at] == "[" else _find_in_object(text, at, key)
        if found is None:
            break
        at = found
    return at


def _find_in_object(text: str, at: int, key: str | int) -> int | None:
    found = None
    while text[at] in "{,":
        quote = _skip(text, at + 1)
        if text[quote] != '"':  # an empty object
            break
        name, end = DECODER.raw_decode(text, quote)
        value = _skip(text, _skip(text, end) + 1)
        if name == key:
            found = value
        at = _pass(text, value)
    return found


def _find_in_list(text: str, at: int, key: str | int) -> int | None:
    for _ in range(int(key)):
        at = _pass(text, _skip(text, at + 1))
        if text[at] != ",":
            return None
    return _skip(text, at + 1)


def _pass(text: str, at: int) -> int:
    """What follows a value."""
    return _skip(text, DECODER.raw_decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    """Behind the blanks."""
    blank = BLANK.match(text, at)
    assert blank is not None  # it may be empty
    return blank.end()


def _find_depth(text: str) -> int:
    """Where brackets become too deep."""
    depth = 0
    for found in BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > DEEPEST:
            return found.start()
    return len(text)
