"""A log by its name: the reader that its ending or its content asks for."""

from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.logs.csv_log import read_csv_log
from laserloop.logs.recording import Recording
from laserloop.logs.run_json import read_run_json

READERS = {
    ".csv": read_csv_log,
    ".json": read_run_json,
}


def read_log(text: str | Path) -> Recording:
    """Read what a machine or laserloop wrote down."""
    file = Path(text)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise BadInput(f"a log must end in {', '.join(READERS)}, but got {str(text)[-80:]!r}; convert it")
    return reader(file)
