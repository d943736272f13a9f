"""The formats of path files: by the ending of the name, or else by what is inside."""

import re
from collections.abc import Callable
from os.path import isfile
from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.paths.cli_file import read_cli
from laserloop.paths.csv_file import read_csv
from laserloop.paths.gcode_file import read_gcode
from laserloop.paths.segment_file import read_segments
from laserloop.paths.text_file import read_bytes
from laserloop.paths.track import Track

Reader = Callable[..., Track]
GCODE_ENDINGS = (".gcode", ".nc", ".ngc", ".tap", ".gco", ".g", ".cnc")
READERS: dict[str, Reader] = {".csv": read_csv, ".cli": read_cli, ".txt": read_segments}
READERS |= dict.fromkeys(GCODE_ENDINGS, read_gcode)
FORMATS = ".csv, .gcode, .cli or .txt"
BEGINNING = 100_000  # bytes; who writes longer comments than this names the file properly
SIGNS: dict[bytes, Reader] = {
    rb"^\s*\$\$HEADERSTART\b": read_cli,
    rb"^\s*Mode\s+X": read_segments,
    rb"^[\s\"]*x_mm\b": read_csv,
    rb"^[\s/]*(?:N[0-9]+)?\s*[GM]\s*[0-9]": read_gcode,
}


def names_file(text: str) -> bool:
    """Whether a person who types `text` means a file rather than a built-in path."""
    return Path(text).suffix.lower() in READERS or (not is_built_in(text) and isfile(text))


def is_built_in(text: str) -> bool:
    """Whether `text` is the name of a shape, or of a random polyline with its seed."""
    return text in ("vertical", "horizontal", "spiral", "diagonal") or text.partition(":")[0] == "polyline"


def find_reader(text: str) -> Reader:
    """The function that reads the file `text`."""
    known = READERS.get(Path(text).suffix.lower())
    if known is not None:
        return known
    beginning = read_bytes(text)[:BEGINNING].removeprefix(b"\xef\xbb\xbf")
    if b"\0" not in beginning:
        for sign, reader in SIGNS.items():
            if re.search(sign, beginning.replace(b"\r", b"\n"), re.MULTILINE | re.IGNORECASE):
                return reader
    raise BadInput(
        f"{text}: a path file must be G-code, Common Layer Interface, a segment table or CSV, but is none of "
        f"these by its content; export it as one, or name it {FORMATS}."
    )
