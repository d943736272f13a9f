"""Saving: a file of the surrogates is there completely or not at all."""

import os
from pathlib import Path


def save(file: Path, content: bytes) -> None:
    """Write `content` beside `file`, flush it to the disk and rename it into place."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
