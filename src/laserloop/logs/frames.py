"""Frames on disk, one at a time: NumPy arrays, TIFF and BMP, and what makes kelvin of their counts."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.logs.recording import Frame

FloatArray = NDArray[np.float64]

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


def develop_frame(
    counts: NDArray[np.generic], centre: FloatArray, pixel: float, scale: Scale, what: str
) -> tuple[Frame, bool]:
    """A frame in kelvin around its centre, m, and whether a pixel is at the sensor's full scale.

    Rows run downwards as in pictures: the first is at the largest y.
    """
    whole = counts.dtype.kind in "ui"
    if whole and scale.per_count is None:
        raise BadInput(
            f"{what} holds whole counts, not kelvin; add the columns kelvin_per_count and kelvin_at_zero"
        )
    full = whole and bool(np.any(counts == np.iinfo(np.dtype(counts.dtype.str)).max))
    temperature = scale.zero + (scale.per_count or 1.0) * counts.astype(np.float64)
    rows, columns = counts.shape
    x = centre[0] + pixel * (np.arange(columns) - 0.5 * (columns - 1))
    y = centre[1] + pixel * (np.arange(rows) - 0.5 * (rows - 1))
    return Frame(x, y, np.ascontiguousarray(temperature[::-1])), full
