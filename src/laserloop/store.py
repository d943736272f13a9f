"""A case: settings in, a result on disk; what this code has computed already is not computed again."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.versions import hash_code

SETTINGS_FILE, RESULT_FILE = "settings.json", "result.json"


def solve_case(
    root: Path,
    settings: Mapping[str, Any],
    compute: Callable[[], Mapping[str, Any]],
    *,
    code: str | None = None,
) -> dict[str, Any]:
    """The result of a case: read if it is there, otherwise computed and kept.

    The folder is named by the hash of the settings and of the code and holds both; the result is written last
    and in one piece, so a killed study goes on with the cases that have none. `code`: the hash of what the
    result depends on, that of all code unless given.
    """
    folder = root / name_case(settings, code=code)
    result = folder / RESULT_FILE
    if result.exists():
        return read_result(result)
    found = dict(compute())
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / SETTINGS_FILE, {**settings, "code": code or hash_code()})
    write_json(result, found)
    return read_result(result)


def has_case(root: Path, settings: Mapping[str, Any], *, code: str | None = None) -> bool:
    """Whether the result of a case is on disk."""
    return (root / name_case(settings, code=code) / RESULT_FILE).exists()


def name_case(settings: Mapping[str, Any], *, code: str | None = None) -> str:
    """The first 16 hex digits of the hash of the settings, whatever their order, and of the code."""
    text = json.dumps({**settings, "code": code or hash_code()}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def hash_file(file: str | Path) -> str:
    """The first 16 hex digits of the hash of a file's content; those of nothing if it cannot be read."""
    try:
        content = Path(file).read_bytes()
    except OSError:
        content = b""
    return hashlib.sha256(content).hexdigest()[:16]


def read_result(file: Path) -> dict[str, Any]:
    """A kept result."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise BadInput(f"the result {file} must be a JSON object, but cannot be read; delete its folder")
    return found


def write_json(file: Path, content: Mapping[str, Any], *, sort: bool = True) -> None:
    """As `write_bytes`."""
    write_bytes(file, json.dumps(content, indent=1, sort_keys=sort, allow_nan=False).encode())


def write_bytes(file: Path, content: bytes) -> None:
    """All of it or nothing: written beside its place, flushed to the disk, then renamed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
