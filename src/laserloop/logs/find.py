"""A log by its name: the reader that its ending or its content asks for."""

from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.logs.csv_log import read_csv_log
from laserloop.logs.frame_folder import POSES, read_frame_folder
from laserloop.logs.hdf5_file import read_hdf5_log
from laserloop.logs.recording import Recording
from laserloop.logs.run_json import read_run_json

READERS = {
    ".csv": read_csv_log,
    ".json": read_run_json,
    ".h5": read_hdf5_log,
    ".hdf5": read_hdf5_log,
}


def read_log(text: str | Path) -> Recording:
    """Read what a machine or laserloop wrote down."""
    file = Path(text)
    if file.name == POSES:
        return read_frame_folder(file.parent)
    if file.is_dir():
        return read_frame_folder(file)
    names = (file, Path(str(text).rpartition("#")[0]))  # a # is part of a name, or begins a group inside it
    reader = next((READERS[end] for name in names if (end := name.suffix.lower()) in READERS), None)
    if reader is None:
        raise BadInput(
            f"a log must end in {', '.join(READERS)}, or be a folder with {POSES}, but got "
            f"{str(text)[-80:]!r}; convert it"
        )
    return reader(file)
