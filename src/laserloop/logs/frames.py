"""Frames on disk, read one at a time: NumPy arrays, TIFF and BMP, and what makes kelvin of their counts.

A folder of frames has poses.csv with NIST's columns, and the frame of each row: frame_file is its name, empty
where none came; pixel_um the edge of its pixels on the plate; frame_x_mm, frame_y_mm where its centre is (the
beam unless given: a camera that looks along the beam); kelvin_per_count and kelvin_at_zero make kelvin of
counts; measured_time_us is when it was taken.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.logs.csv_log import (
    TAKEN,
    TIME,
    TextTable,
    find_columns,
    find_dialect,
    make_recording,
    read_table,
)
from laserloop.logs.recording import POSES, Frame, Readings, Recording, RowTimes
from laserloop.plant.surface import Surface

FloatArray = NDArray[np.float64]

FILE, PIXEL = "frame_file", "pixel_um"
CENTRE = ("frame_x_mm", "frame_y_mm")
SCALE = ("kelvin_at_zero", "kelvin_per_count")
FULL_SCALES = {  # counts of sensors of 8 to 32 bits; files of 16 bits hold 10 to 14 to the right or left
    *(2**bits - 1 for bits in (8, 10, 12, 14, 15, 16, 31, 32)),
    *((2**bits - 1) << (16 - bits) for bits in (10, 12, 14)),
}
LARGEST = 64_000_000  # bytes of a frame's file
SIDES = (3, 4096)  # pixels
ENDINGS = (".npy", ".tif", ".tiff", ".bmp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """T = zero + per_count · count; None: the frames are in kelvin."""

    zero: float = 0.0  # K
    per_count: float | None = None  # K


def read_frame(file: Path, where: str) -> NDArray[np.generic]:
    """The counts or temperatures (y, x) of a frame's file."""
    if file.suffix.lower() not in ENDINGS:
        raise BadInput(
            f"{where}: a frame must end in {', '.join(ENDINGS)}, but is {file.name[:60]!r}; convert it"
        )
    try:
        if file.stat().st_size > LARGEST:
            raise BadInput(
                f"{where}: a frame may have at most {LARGEST} bytes, but {file.name} has more; cut it"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tags that do not matter here
            found = _read_array(file) if file.suffix.lower() == ".npy" else _read_image(file)
    except FileNotFoundError:
        raise BadInput(
            f"{where}: the frame {file.name[:60]!r} is not there; copy it or empty the cell"
        ) from None
    except BadInput:
        raise
    except Exception as problem:  # NumPy and Pillow leak TokenError, TypeError, struct.error and more
        raise BadInput(
            f"{where}: the frame {file.name[:60]!r} cannot be read ({str(problem)[:80]}); write it anew"
        ) from None
    return check_frame(found, f"{where}: the frame {file.name[:60]!r}")


def check_frame(found: NDArray[np.generic], what: str) -> NDArray[np.generic]:
    """Refuse what is no picture of numbers."""
    sides = found.ndim == 2 and all(SIDES[0] <= side <= SIDES[1] for side in found.shape)
    if not sides or found.dtype.kind not in "uif":
        raise BadInput(
            f"{what} must be a picture of numbers with {SIDES[0]} to {SIDES[1]} pixels to a side, but is "
            f"{found.dtype} of shape {found.shape}; cut it, or store numbers"
        )
    return found


def _read_array(file: Path) -> NDArray[np.generic]:
    """A NumPy file; nothing in it is executed, and no more is read than a frame may have."""
    mapped = np.load(file, mmap_mode="r", allow_pickle=False)
    if not isinstance(mapped, np.ndarray) or mapped.nbytes > LARGEST:
        raise BadInput(f"the frame {file.name[:60]!r} must be one array of at most {LARGEST} bytes; cut it")
    return np.array(mapped)


def _read_image(file: Path) -> NDArray[np.generic]:
    """TIFF or BMP, its first page; in colour the channels' mean."""
    from PIL import Image

    with Image.open(file, formats=("TIFF", "BMP")) as picture:
        if max(picture.size) > SIDES[1]:
            raise BadInput(
                f"the frame {file.name[:60]!r} may have at most {SIDES[1]} pixels to a side; cut it"
            )
        if picture.mode in ("1", "P", "RGB", "RGBA", "L"):
            return np.asarray(picture.convert("L"))
        return np.asarray(picture)


def calibrate_frame(
    counts: NDArray[np.generic], centre: FloatArray, pixel: float, scale: Scale, what: str
) -> tuple[Frame, int]:
    """A frame in kelvin around its centre, m, and its highest count; 0 if it holds no counts.

    Rows run downwards as in pictures: the first is at the largest y.
    """
    whole = counts.dtype.kind in "ui"
    if whole and scale.per_count is None:
        raise BadInput(
            f"{what} holds whole counts, not kelvin; add the columns kelvin_per_count and kelvin_at_zero"
        )
    temperature = scale.zero + (scale.per_count or 1.0) * counts.astype(np.float64)
    rows, columns = counts.shape
    x = centre[0] + pixel * (np.arange(columns) - 0.5 * (columns - 1))
    y = centre[1] + pixel * (np.arange(rows) - 0.5 * (rows - 1))
    highest = int(counts.astype(np.int64).max()) if whole else 0
    return Frame(x, y, np.ascontiguousarray(temperature[::-1])), highest


@dataclass(frozen=True, slots=True, eq=False)
class FrameFolder:
    """Reads the frame of a row when it is asked for."""

    folder: Path
    table: TextTable
    centres: FloatArray  # (rows, 2), m
    came: NDArray[np.intp]  # rows with a frame

    def read(self, i: int) -> tuple[Frame, int]:
        """Frame i in the order of arrival, and its highest count."""
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
        return calibrate_frame(counts, self.centres[row], pixel, scale, f"{where}: {name[:60]}")

    def frame(self, i: int) -> Frame:
        """Frame i alone."""
        return self.read(i)[0]


def read_frame_folder(folder: Path) -> Recording:
    """The recording of a folder; every frame is looked at once, for its peak."""
    file = folder / POSES
    dialect = find_dialect(file)
    header = dialect.header
    columns = find_columns(header, file)
    may = tuple(name for name in (TAKEN, *CENTRE, *SCALE) if name in header)
    table = read_table(file, must=(TIME, *columns, PIXEL), may=may, words=(FILE,), dialect=dialect)
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
    frames = FrameFolder(folder, table, centres, came)
    peak, place, saturated = find_peaks(frames.read, len(came))
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
        frame=frames.frame,
        pixel=1e-6 * float(np.median(table.numbers[PIXEL])),
    )
    return make_recording(table, time, columns, readings)


def find_peaks(
    read: Callable[[int], tuple[Frame, int]], frames: int
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """The peak of each frame, K, its place, m, and which are saturated; NaN where a frame has no number.

    Full scale is a count of a sensor of so many bits that no frame exceeds.
    """
    peak, place, counts = np.full(frames, np.nan), np.full((frames, 2), np.nan), np.zeros(frames, np.int64)
    for i in range(frames):
        frame, counts[i] = read(i)
        if np.isfinite(frame.temperature).all():
            found = Surface(frame.x, frame.y, frame.temperature, 0.0).peak
            peak[i], place[i] = found.temperature, (found.x, found.y)
    highest = int(counts.max(initial=0))
    return peak, place, (counts == highest) & (highest in FULL_SCALES)
