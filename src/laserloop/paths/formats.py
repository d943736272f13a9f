"""The formats of path files: by the ending of the name, or else by what is inside."""

import re
from collections.abc import Callable
from os import PathLike
from os.path import isfile
from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.paths.cli_file import read_cli
from laserloop.paths.csv_file import read_csv
from laserloop.paths.event_file import looks_like_events, read_events
from laserloop.paths.gcode_file import read_gcode
from laserloop.paths.segment_file import read_segments
from laserloop.paths.text_file import read_bytes
from laserloop.paths.track import Track

Reader = Callable[..., Track]
GCODE_ENDINGS = (".gcode", ".nc", ".ngc", ".tap", ".gco", ".g", ".cnc")
READERS: dict[str, Reader] = {".csv": read_csv, ".cli": read_cli, ".txt": read_segments, ".inp": read_events}
READERS |= dict.fromkeys(GCODE_ENDINGS, read_gcode)
SHAPE = ".stl"
FORMATS = ".csv, .gcode, .cli, .txt or .inp"
BEGINNING = 100_000  # bytes; who writes longer comments than this names the file properly
SIGNS: dict[bytes, Reader] = {
    rb"^\s*\$\$HEADERSTART\b": read_cli,
    rb"^\s*Mode\s+X": read_segments,
    rb"^[\s\"]*x_mm\b": read_csv,
    rb"^[\s/]*(?:N[0-9]+)?\s*[GM]\s*[0-9]": read_gcode,
}


def names_file(text: str) -> bool:
    """Whether a person who types `text` means a file rather than a built-in path."""
    return Path(text).suffix.lower() in {*READERS, SHAPE} or (not is_built_in(text) and isfile(text))


def share_format(one: str, other: str) -> bool:
    """Whether two names may be of one format; one whose ending says nothing goes with any."""
    readers = {READERS.get(Path(name).suffix.lower()) for name in (one, other)}
    return len(readers) == 1 or None in readers or readers == {read_segments, read_events}


def is_built_in(text: str) -> bool:
    """Whether `text` is the name of a shape, or of a random polyline with its seed."""
    return text in ("vertical", "horizontal", "spiral", "diagonal") or text.partition(":")[0] == "polyline"


def find_reader(text: str | PathLike[str]) -> Reader:
    """The function that reads the file `text`."""
    if Path(text).suffix.lower() == SHAPE:
        raise BadInput(
            f"{text}: a shape is no path; hatch it with laserloop plan {Path(text).name} --out part.cli, and "
            "take part.cli."
        )
    known = READERS.get(Path(text).suffix.lower())
    if known not in (None, read_segments):  # which share their ending with event series
        return known
    beginning = read_bytes(text)[:BEGINNING].removeprefix(b"\xef\xbb\xbf")
    if looks_like_events(beginning.decode("latin-1")):
        return read_events
    if known is not None:
        return known
    if b"\0" not in beginning:
        for sign, reader in SIGNS.items():
            if re.search(sign, beginning.replace(b"\r", b"\n"), re.MULTILINE | re.IGNORECASE):
                return reader
    raise BadInput(
        f"{text}: a path file must be G-code, Common Layer Interface, a segment table, an event series or "
        f"CSV, but is none of these by its content; export it as one, or name it {FORMATS}."
    )
