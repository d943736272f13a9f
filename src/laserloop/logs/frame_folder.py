"""A folder of frames with their poses: poses.csv has NIST's columns, and the frame of each row.

frame_file is the name of a frame, empty where none came; pixel_um the edge of its pixels on the plate;
frame_x_mm, frame_y_mm where its centre is (the beam unless given: a camera that looks along the beam);
kelvin_per_count and kelvin_at_zero make kelvin of counts; measured_time_us is when it was taken.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.logs.csv_log import TAKEN, TIME, find_columns, make_recording
from laserloop.logs.frames import Scale, develop_frame, read_frame
from laserloop.logs.recording import Frame, Readings, Recording, RowTimes
from laserloop.logs.table_file import TextTable, read_header, read_table
from laserloop.plant.surface import Surface

FloatArray = NDArray[np.float64]

POSES = "poses.csv"
FILE, PIXEL = "frame_file", "pixel_um"
CENTRE = ("frame_x_mm", "frame_y_mm")
SCALE = ("kelvin_at_zero", "kelvin_per_count")


@dataclass(frozen=True, slots=True, eq=False)
class FrameShelf:
    """Reads the frame of a row when it is asked for."""

    folder: Path
    table: TextTable
    centres: FloatArray  # (rows, 2), m
    came: NDArray[np.intp]  # rows with a frame

    def read(self, i: int) -> tuple[Frame, bool]:
        """Frame i in the order of arrival, and whether it is saturated."""
        row = int(self.came[i])
        where = self.table.where(row)
        name = self.table.words[FILE][row]
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise BadInput(
                f"{where}: a frame must lie in the folder of {POSES}, but is {name[:60]!r}; move it"
            )
        zero, per_count = (
            float(self.table.numbers[key][row]) if key in self.table.numbers else np.nan for key in SCALE
        )
        scale = Scale(
            zero=0.0 if np.isnan(zero) else zero, per_count=None if np.isnan(per_count) else per_count
        )
        counts = read_frame(self.folder / name, where)
        pixel = 1e-6 * float(self.table.numbers[PIXEL][row])
        return develop_frame(counts, self.centres[row], pixel, scale, f"{where}: {name[:60]}")

    def frame(self, i: int) -> Frame:
        """Frame i alone."""
        return self.read(i)[0]


def read_frame_folder(folder: Path) -> Recording:
    """The recording of a folder; every frame is looked at once, for its peak."""
    file = folder / POSES
    header = read_header(file)
    columns = find_columns(header, file)
    may = tuple(name for name in (TAKEN, *CENTRE, *SCALE) if name in header)
    table = read_table(file, must=(TIME, *columns, PIXEL), may=may, words=(FILE,))
    if FILE not in table.words:
        raise BadInput(f"{file.name}, line 1: poses must have the column {FILE}, but have not; add it")
    bad = np.flatnonzero(~((table.numbers[PIXEL] >= 0.1) & (table.numbers[PIXEL] <= 1e4)))
    if len(bad):
        raise BadInput(f"{table.where(int(bad[0]))}: {PIXEL} must lie between 0.1 and 10000; correct it")
    time = RowTimes(table.where, TIME, 1e-6 * table.numbers[TIME])
    came = np.flatnonzero([bool(name) for name in table.words[FILE]])
    beam = 1e-3 * np.stack((table.numbers[columns[0]], table.numbers[columns[1]]), axis=1)
    given = [
        1e-3 * table.numbers[name] if name in table.numbers else np.full(len(table), np.nan)
        for name in CENTRE
    ]
    centres = np.where(np.isfinite(given).T, np.stack(given, axis=1), beam)
    shelf = FrameShelf(folder, table, centres, came)
    peak, place, saturated = survey(shelf.read, len(came))
    coaxial = ~np.isfinite(given).T[came]
    taken = (
        1e-6 * table.numbers[TAKEN][came] - time.start
        if TAKEN in table.numbers
        else np.full(len(came), np.nan)
    )
    readings = Readings(
        arrived=(time.seconds - time.start)[came],
        taken=taken,
        peak=peak,
        saturated=saturated,
        place=place - np.where(coaxial, centres[came], 0.0),
        coaxial=coaxial,
        frame=shelf.frame,
        pixel=1e-6 * float(np.median(table.numbers[PIXEL])),
    )
    return make_recording(table, time, columns, readings)


def survey(
    read: Callable[[int], tuple[Frame, bool]], frames: int
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """The peak of each frame, K, its place, m, and which are saturated; NaN where a frame has no number."""
    peak, place, saturated = np.full(frames, np.nan), np.full((frames, 2), np.nan), np.zeros(frames, np.bool_)
    for i in range(frames):
        frame, saturated[i] = read(i)
        if np.isfinite(frame.temperature).all():
            found = Surface(frame.x, frame.y, frame.temperature, 0.0).peak
            peak[i], place[i] = found.temperature, (found.x, found.y)
    return peak, place, saturated
