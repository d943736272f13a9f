"""The folder of a reproduction: where everything lies, whose it is, and what it took so far."""

import fcntl
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.store import write_json
from laserloop.studies.halilovic.size import Size

SETTINGS_FILE, LOCK_FILE = "settings.json", ".lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One reproduction on disk."""

    root: Path
    size: Size

    @property
    def ensembles(self) -> Path:
        """Stores of episodes, named kind-geometry."""
        return self.root / "ensembles"

    @property
    def models(self) -> Path:
        """Trained models by name."""
        return self.root / "models"

    @property
    def cases(self) -> Path:
        """Cases of all studies: trajectories, scores, runs."""
        return self.root / "cases"

    @property
    def results(self) -> Path:
        """What the stages concluded; clock/ holds whatever depends on a clock."""
        return self.root / "results"

    def model(self, name: str) -> str:
        """The folder of a model, as studies name it."""
        return str(self.models / name)

    def save(self, name: str, content: Mapping[str, Any]) -> None:
        """Keep the conclusion of a stage, in one piece."""
        file = self.results / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, content, sort=False)

    def read(self, name: str) -> dict[str, Any]:
        """A conclusion; empty if there is none yet."""
        return read_object(self.results / f"{name}.json") or {}


def check_folder(root: Path, size: Size) -> None:
    """Refuse a folder in which a reproduction of this size can neither begin nor go on; changes nothing."""
    file = root / SETTINGS_FILE
    if file.exists():
        kept = read_object(file)
        if kept is None:
            raise BadInput(damaged(file))
        if kept == _describe(size):
            return
        words, way = {
            "full": ("the full one", "leave out --quick" if size.name != "full" else ""),
            "quick": ("a quick one", "add --quick" if size.name != "quick" else ""),
        }.get(str(kept.get("name")), ("another one", ""))
        ways = f"{way} or choose another --out" if way else "choose another --out"
        other = "" if way else " of another version"
        raise BadInput(f"a folder must hold one reproduction, but {str(root)!r} holds {words}{other}: {ways}")
    if root.exists() and any(entry.name != LOCK_FILE for entry in root.iterdir()):
        raise BadInput(
            f"a reproduction must begin in an empty folder, but {str(root)!r} holds other things: "
            "choose another --out"
        )


def open_folder(root: Path, size: Size) -> Folder:
    """Begin a reproduction in a folder, or go on with one of the same size."""
    check_folder(root, size)
    root.mkdir(parents=True, exist_ok=True)
    write_json(root / SETTINGS_FILE, _describe(size))
    return Folder(root=root, size=size)


def _describe(size: Size) -> Any:
    return json.loads(json.dumps(size.to_json()))


def read_object(file: Path) -> dict[str, Any] | None:
    """What a JSON file holds; None if it is not there, damaged, or holds anything but an object."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def damaged(settings: Path) -> str:
    """What to do about a folder that does not know its size any more."""
    return (
        f"a reproduction must know its size, but {str(settings)!r} is damaged: "
        "copy that of another reproduction of the same size over it"
    )


@contextmanager
def hold_folder(root: Path) -> Iterator[None]:
    """No second process may work in the folder; a killed one has let go of it."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / LOCK_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(
                f"one process at a time may work in {str(root)!r}, but another does: wait for it or stop it"
            ) from None
        yield


@dataclass(slots=True)
class Stopwatch:
    """Seconds spent in each stage, over all sessions of a folder; kept on disk as it runs."""

    folder: Folder
    last: float = 0.0

    def start(self) -> None:
        """From now on."""
        self.last = time.monotonic()

    def lap(self, name: str, title: str, tasks: int) -> None:
        """Add what passed since the last lap to a stage."""
        now = time.monotonic()
        kept = self.folder.read("clock/stages")
        stages = kept.setdefault("stages", [])
        entry = next((one for one in stages if one["name"] == name), None)
        if entry is None:
            entry = {"name": name, "title": title, "tasks": tasks, "seconds": 0.0}
            stages.append(entry)
        entry["seconds"] += now - self.last
        self.last = now
        self.folder.save("clock/stages", kept)
