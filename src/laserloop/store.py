"""Files, written whole or not at all; and cases: settings in, a result on disk, computed once by a code."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
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
    computed = dict(compute())
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / SETTINGS_FILE, {**settings, "code": code or hash_code()})
    write_json(result, computed)
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
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict):
        raise BadInput(f"the result {file} must be a JSON object, but cannot be read; delete its folder")
    return content


def write_json(file: Path, content: Mapping[str, Any], *, sort: bool = True) -> None:
    """As `save`."""
    save(file, json.dumps(content, indent=1, sort_keys=sort, allow_nan=False))


def dump(numbers: Mapping[str, Any]) -> str:
    """JSON that any reader accepts: no NaN, no infinity."""
    return json.dumps(numbers, allow_nan=False, indent=1) + "\n"


def save(file: Path, content: str | bytes) -> None:
    """All of it or nothing: written beside its place, flushed to the disk, then renamed; folders are made."""
    data = content.encode() if isinstance(content, str) else content
    if file.exists() and not file.is_file():  # /dev/null must stay what it is
        file.write_bytes(data)
        return
    named, file = file, file.resolve()  # a link keeps pointing to what it points to
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, file)
    except OSError as problem:  # people know the file that they named
        problem.filename, problem.filename2 = str(named), None
        raise
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def check_target(file: Path) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    if file.is_dir():
        raise IsADirectoryError(0, "is a directory", str(file))
    folder = next(parent for parent in file.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise NotADirectoryError(0, f"{folder} is not a directory", str(file))
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise PermissionError(0, "permission denied", str(file))
    if not file.exists() or file.is_file():  # an administrator may write everywhere, but not make a file
        try:
            with TemporaryFile(dir=folder):
                pass
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, str(file)) from None
