"""Files that were dropped onto the page and files planned from them, in a folder of their own."""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from laserloop.bad_input import BadInput
from laserloop.live.telemetry import SUFFIX

MOST_FILES = 24  # the oldest goes first
MOST_BYTES = 16_000_000  # of one file
ENDINGS = (".csv", ".gcode", ".nc", ".ngc", ".tap", ".gco", ".g", ".cnc", ".cli", ".txt")
LONGEST_NAME = 80  # characters


@dataclass(slots=True, eq=False)
class Uploads:
    """Lives as long as the server; nobody chooses where a file lies."""

    folder: TemporaryDirectory[str] = field(
        default_factory=lambda: TemporaryDirectory(prefix="laserloop-", ignore_cleanup_errors=True)
    )
    files: dict[str, tuple[str, Path]] = field(default_factory=dict)  # id → shown name, place

    def put(self, name: str, content: bytes) -> str:
        """Keep a file; its id."""
        if len(content) > MOST_BYTES:
            raise BadInput(f"a dropped file may have {MOST_BYTES // 1_000_000} MB, but has more: drop a part")
        shown = _tidy_name(name)
        place = self.reserve(shown)
        place[1].write_bytes(content)
        return place[0]

    def reserve(self, shown: str) -> tuple[str, Path]:
        """A place for a file that is shown under a name."""
        ending = os.path.splitext(shown)[1].lower()
        key = secrets.token_hex(8)
        place = Path(self.folder.name, key + (ending if ending in ENDINGS else ""))
        self.files[key] = shown, place
        while len(self.files) > MOST_FILES:
            oldest = next(iter(self.files))
            self.files.pop(oldest)[1].unlink(missing_ok=True)
        return key, place

    def name_planned(self, path: object) -> str:
        """What the planned file of an order's path is called: a dropped one, or a built-in by its name."""
        key = path.get("file") if isinstance(path, dict) else None
        dropped = self.files.get(key) if isinstance(key, str) else None
        shown = _tidy_name(f"{path}.csv".replace(":", "-")) if dropped is None else dropped[0]
        stem, dot, ending = shown.rpartition(".")
        return f"{stem}-planned.{ending}" if dot else f"{shown}-planned"

    def close(self) -> None:
        """Take everything away."""
        self.folder.cleanup()


def _tidy_name(name: str) -> str:
    """What is left of a name that a stranger gave: printable, short, without folders."""
    base = name.replace("\\", "/").rpartition("/")[2]
    words = "".join(sign if sign.isprintable() else " " for sign in base).strip()
    return words[-LONGEST_NAME:] or "dropped file"


def keep_record(root: Path, label: str, content: bytes, frames: bytes = b"") -> str:
    """Write a run into the folder under a name of its label, its images beside it; never over a file."""
    slug = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in label.lower())
    slug = "-".join(part for part in slug.split("-") if part)[:60] or "run"
    root.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, 1000):
        name = f"{slug}.json" if attempt == 1 else f"{slug}-{attempt}.json"
        beside = (root / name).with_suffix(SUFFIX)
        if os.path.lexists(beside):
            continue
        try:
            for place, part in ((root / name, content), (beside, frames)):
                if part:
                    with open(place, "xb") as file:  # refuses links, too
                        file.write(part)
        except FileExistsError:
            continue
        except OSError as problem:
            raise BadInput(
                f"the folder must be writable, but is not ({problem.strerror}): name another"
            ) from problem
        return name
    raise BadInput(f"a thousand runs are called {slug}: choose another name")
