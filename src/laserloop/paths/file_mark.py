"""A mark: one comment at the head of a planned file: what is not certain about it, and what a watt means.

Readers pass it over; the next plan of the file takes it away or puts its own in its place.
"""

import re

SIGN = "laserloop plan:"
HEAD = 100_000  # bytes in which a mark is looked for
OLD_LINE = re.compile(rb"^(?:;|#|//|\() ?" + SIGN.encode() + rb"[^\r\n]*(?:\r\n|\r|\n|\Z)", re.MULTILINE)
OLD_TAIL = re.compile(rb"[ \t]*# " + SIGN.encode() + rb"[^\r\n]*")
END = re.compile(rb"\r\n|\r|\n")
BOM = b"\xef\xbb\xbf"


def mark_gcode(content: bytes, mark: str) -> bytes:
    """As the first line, or the second after a %; in parentheses where the file has only such comments."""
    only_parentheses = b"(" in content[:HEAD] and b";" not in content[:HEAD]
    pattern = "({})" if only_parentheses else "; {}"
    before = re.match(rb"(?:[ \t]*%[^\r\n]*(?:\r\n|\r|\n))?", _unmark(content))
    return _insert(content, pattern, mark, before.end() if before else 0)


def mark_csv(content: bytes, mark: str) -> bytes:
    """As the first line."""
    return _insert(content, "# {}", mark, 0)


def mark_layers(content: bytes, mark: str) -> bytes:
    """After $$HEADERSTART."""
    start = re.search(rb"\$\$HEADERSTART[^\r\n]*(?:\r\n|\r|\n|\Z)", _unmark(content), re.IGNORECASE)
    return _insert(content, "// {} //", mark, start.end() if start else 0)


def mark_table(content: bytes, mark: str) -> bytes:
    """Behind the columns' names: programs that read tables pass over that line whole, and over no other."""
    content = OLD_TAIL.sub(b"", content[:HEAD]) + content[HEAD:]
    names = re.search(rb"^[ \t]*Mode\b[^\r\n]*", content, re.MULTILINE | re.IGNORECASE)
    if not mark or names is None:
        return content
    return content[: names.end()] + f"  # {_clean(mark)}".encode("ascii") + content[names.end() :]


def mark_nothing(content: bytes, mark: str) -> bytes:
    """Series of events have no comments."""
    return content


def _insert(content: bytes, pattern: str, mark: str, place: int) -> bytes:
    """A comment in a line of its own; none takes an old one away."""
    content = _unmark(content)
    if not mark:
        return content
    place = max(place, len(BOM) if content.startswith(BOM) else 0)
    first = END.search(content)
    end = first.group() if first else b"\n"
    return content[:place] + pattern.format(_clean(mark)).encode("ascii") + end + content[place:]


def _unmark(content: bytes) -> bytes:
    return OLD_LINE.sub(b"", content[:HEAD], count=1) + content[HEAD:]


def _clean(mark: str) -> str:
    """One line of ASCII without what would end a comment."""
    words = " ".join(f"{SIGN} {mark}".split())
    for old, new in (("–", "-"), ("σ", "sigma"), (" (", ", "), (";", ",")):
        words = words.replace(old, new)
    return words.translate({ord(c): None for c in "()/;#"}).encode("ascii", "ignore").decode()
