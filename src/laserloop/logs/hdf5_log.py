"""HDF5 logs: /object/layer with frame (n, y, x), scan_line_index (lines,) and laser_params (lines, 2).

scan_line_index[i] is the first frame of line i; laser_params[i] are its power, W, and speed, mm/s. Places are
not in such a file: every line is taken as straight along x, and `hatch_mm` from the one before it. What is
not in the attributes of the layer, the object or the file has a default or is asked for: frame_rate_hz,
pixel_um, kelvin_per_count, kelvin_at_zero, hatch_mm.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.logs.frames import LARGEST, SIDES, Scale, calibrate_frame, check_frame, find_peaks
from laserloop.logs.recording import MOST_ROWS, Frame, Readings, Recording

FloatArray = NDArray[np.float64]

NAMES = ("frame", "scan_line_index", "laser_params")
HATCH_MM = 0.1
MOST_LINES = 100_000


def read_hdf5_log(file: Path) -> Recording:
    """The recording of the first layer, or of the one named after a #: build.h5#part/layer_7."""
    try:
        import h5py
    except ImportError:
        raise BadInput("HDF5 logs need h5py, which is not installed; pip install 'laserloop[logs]'") from None
    name, _, layer = str(file).partition("#")
    with reading(name):
        group = _find_layer(h5py.File(name, "r"), layer, Path(name).name)
        return Layer(group, f"{Path(name).name}#{group.name.strip('/')}").record()


@contextmanager
def reading(name: str) -> Iterator[None]:
    """What HDF5 has against a file becomes a sentence."""
    try:
        yield
    except BadInput:
        raise
    except Exception as problem:  # a damaged file leads to OSError, KeyError, RuntimeError, UnicodeError …
        told = " ".join(str(problem).split())[:80]
        raise BadInput(
            f"the log {name[-80:]!r} must be readable HDF5, but is not ({told}); write it anew"
        ) from None


def _find_layer(store: Any, layer: str, name: str) -> Any:
    """The group that has frames."""
    import h5py

    if layer:
        found = store.get(layer)
        if not isinstance(found, h5py.Group) or any(part not in found for part in NAMES):
            raise BadInput(
                f"{name}: {layer[:60]!r} must be a layer with {', '.join(NAMES)}, but is not; name another"
            )
        return found
    for item in store.values():
        if isinstance(item, h5py.Group):
            for part in item.values():
                if isinstance(part, h5py.Group) and all(key in part for key in NAMES):
                    return part
    raise BadInput(f"{name}: a log must have /object/layer/{{{','.join(NAMES)}}}, but has none; add it")


class Layer:
    """One layer: frames stay in the file until they are asked for."""

    def __init__(self, group: Any, name: str) -> None:
        self._frames, self.name = group["frame"], name
        attributes: dict[str, Any] = {}
        for owner in (group.file, group.parent, group):
            attributes |= dict(owner.attrs)
        self._settings: Mapping[str, Any] = attributes
        if self._frames.ndim != 3 or not 2 <= len(self._frames) <= MOST_ROWS:
            raise BadInput(
                f"{name}: frame must have shape (n, y, x) with 2 to {MOST_ROWS} of them; correct it"
            )
        at_once = np.prod(self._frames.chunks or (1, *self._frames.shape[1:])) * self._frames.dtype.itemsize
        if max(self._frames.shape[1:]) > SIDES[1] or at_once > LARGEST:
            raise BadInput(
                f"{name}: frame may have at most {SIDES[1]} pixels to a side and chunks of {LARGEST} bytes; "
                "store it in smaller chunks"
            )
        self._first, self._power, self._speed = self._read_lines(group)
        self._period = 1.0 / self._number("frame_rate_hz", None, 1.0, 1e7)
        self._pixel = 1e-6 * self._number("pixel_um", None, 0.1, 1e4)
        self._scale = Scale(
            zero=self._number("kelvin_at_zero", 0.0, -1e4, 1e4),
            per_count=self._number("kelvin_per_count", np.nan, 1e-9, 1e4),
        )
        if np.isnan(self._scale.per_count or 1.0):
            self._scale = Scale(zero=self._scale.zero)

    def _number(self, key: str, default: float | None, low: float, high: float) -> float:
        """One of the file's own attributes."""
        given = self._settings.get(key, default)
        try:
            value = float(given)
        except (TypeError, ValueError):
            value = None
        if value is None or not (low <= value <= high or (np.isnan(value) and default is not None)):
            raise BadInput(
                f"{self.name}: the attribute {key} must be a number from {low:g} to {high:g}, but is "
                f"{str(given)[:40]}; add it to the layer"
            )
        return value

    def _read_lines(self, group: Any) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
        """First frame, power and speed of each scan line."""
        index, params = group["scan_line_index"], group["laser_params"]
        fits = index.ndim == 1 and params.ndim == 2 and params.shape[1:] >= (2,)
        if not fits or not 1 <= len(params) <= MOST_LINES or len(index) not in (len(params), len(params) + 1):
            raise BadInput(
                f"{self.name}: scan_line_index (lines,) and laser_params (lines, 2) must tell of 1 to "
                f"{MOST_LINES} lines, but have the shapes {index.shape} and {params.shape}; correct them"
            )
        first = np.asarray(index[: len(params)], dtype=np.int64)
        power, speed = np.asarray(params[:, :2], dtype=np.float64).T
        rising = (np.diff(first) > 0).all() and first[0] >= 0 and first[-1] < len(self._frames)
        fine = ((power >= 0) & (power <= 1e4) & (speed > 0) & (speed <= 1e6)).all()
        if not (rising and fine):
            raise BadInput(
                f"{self.name}: scan_line_index must rise within the frames, powers lie from 0 to 10000 W and "
                "speeds above 0 mm/s, but some do not; correct them"
            )
        return first, power, speed

    def record(self) -> Recording:
        """The layer as a recording."""
        n = len(self._frames)
        hatch = 1e-3 * self._number("hatch_mm", HATCH_MM, 0.0, 100.0)
        line = np.searchsorted(self._first, np.arange(n), side="right") - 1
        lit = line >= 0
        since = np.arange(n) - self._first[np.maximum(line, 0)]
        x = 1e-3 * self._speed[np.maximum(line, 0)] * self._period * since
        y = hatch * np.maximum(line, 0)
        positions = np.stack((x, y), axis=1)
        positions -= 0.5 * (positions.min(axis=0) + positions.max(axis=0))
        self._centres = positions
        peak, _, saturated = find_peaks(self.read, n)  # where a beam was that is only assumed tells no offset
        times = np.arange(n, dtype=np.float64) * self._period
        told = f"{self.name} has no places: lines are taken as straight along x, {1e3 * hatch:g} mm apart"
        return Recording(
            name=self.name,
            times=times,
            positions=positions,
            power=np.where(lit, self._power[np.maximum(line, 0)], 0.0)[:-1],
            readings=Readings(
                arrived=times,
                taken=np.full(n, np.nan),
                peak=peak,
                saturated=saturated,
                coaxial=np.ones((n, 2), np.bool_),
                frame=self.frame,
                pixel=self._pixel,
            ),
            notes=(told,),
        )

    def read(self, i: int) -> tuple[Frame, int]:
        """Frame i, and its highest count."""
        with reading(self.name):
            counts = check_frame(np.asarray(self._frames[i]), f"{self.name}: frame {i}")
        return calibrate_frame(counts, self._centres[i], self._pixel, self._scale, f"{self.name}: frame {i}")

    def frame(self, i: int) -> Frame:
        """Frame i alone."""
        return self.read(i)[0]
