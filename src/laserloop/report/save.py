"""Saving: an output file is there completely or not at all."""

import io
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from laserloop.bad_input import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_FORMATS = (".png", ".svg", ".pdf")


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


def save(file: Path, content: str | bytes) -> None:
    """Write `content` beside `file` and rename it into place; folders on the way are made."""
    data = content.encode() if isinstance(content, str) else content
    if file.exists() and not file.is_file():  # /dev/null must stay what it is
        file.write_bytes(data)
        return
    named, file = file, file.resolve()  # a link keeps pointing to what it points to
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, file)
    except OSError as problem:  # people know the file that they named
        problem.filename, problem.filename2 = str(named), None
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def save_figure(file: Path, figure: "Figure", *, dpi: int = 200) -> None:
    """Save a figure in the format that the name ends in."""
    check_format(file)
    stream = io.BytesIO()
    figure.savefig(stream, format=file.suffix.lower()[1:], dpi=dpi)
    save(file, stream.getvalue())


def check_format(file: Path) -> None:
    """Refuse an ending that is no figure format."""
    if file.suffix.lower() not in FIGURE_FORMATS:
        raise BadInput(
            f"a figure's file must end in {', '.join(FIGURE_FORMATS)}, but got {file.name!r}; rename it."
        )


def dump(numbers: Mapping[str, Any]) -> str:
    """JSON that any reader accepts: no NaN, no infinity."""
    return json.dumps(numbers, allow_nan=False, indent=1) + "\n"
