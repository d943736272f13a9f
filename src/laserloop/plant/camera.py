"""The camera: what a controller may see of the plant, and nothing more."""

from collections import deque
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline
from scipy.sparse import csr_array

from laserloop.bad_input import BadInput
from laserloop.plant.sampling import bilinear, lattice, nearest, resample, smooth
from laserloop.plant.surface import Hottest, Surface
from laserloop.process.process import CameraSettings, Sampling

FloatArray = NDArray[np.float64]

FEWEST_PIXELS = 3  # along a side; a parabola needs three
NEGLIGIBLE = 1e-7  # weight of a far node in a pixel's mean; all together less than a millikelvin
MOST_PIXELS = 4096  # along a side; no thermal camera has more
SAMPLERS = {"nearest": nearest, "bilinear": bilinear, "smooth": smooth}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Image:
    """Temperatures (y, x) in K at pixel centres x and y, m. Its arrays are copies and read-only."""

    time: float  # s, at the end of the exposure
    x: FloatArray
    y: FloatArray
    temperature: FloatArray
    peak: Hottest
    sampling: Sampling = "nearest"  # how it is read at a point
    subgrid: bool = False  # was the peak found between the pixels?

    def __post_init__(self) -> None:
        for name in ("x", "y", "temperature"):
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def frame(self) -> FloatArray:
        """The whole image, K."""
        return self.temperature

    def with_temperature(self, temperature: FloatArray) -> "Image":
        """The same image with other temperatures, and their peak."""
        return develop(
            Surface(self.x, self.y, temperature, self.time), sampling=self.sampling, subgrid=self.subgrid
        )

    def sample(self, points: ArrayLike) -> FloatArray:
        """Temperatures (n,) at points (n, 2), m; beyond the outermost pixel centres they are held."""
        points = np.array(points, dtype=np.float64, order="C")
        if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
            raise BadInput(
                f"sample points must be finite pairs (n, 2) of x and y in m, got {_show(points)}: change it"
            )
        return self._sample(points)

    def patch(self, centre: ArrayLike, heading: float, *, size: int, spacing: float) -> FloatArray:
        """Temperatures (size, size) on a square lattice around `centre`, turned to `heading`, rad from x.

        Axis 1 runs along the heading, axis 0 to its left; the beam is at [size // 2, size // 2].
        """
        centre = np.array(centre, dtype=np.float64)
        if centre.shape != (2,) or not (np.isfinite(centre).all() and np.isfinite(heading)):
            raise BadInput(
                "a patch needs a finite centre (x, y) in m and a finite heading in rad, "
                f"got {_show(centre)} and {heading}: correct them"
            )
        if not _is_whole(size) or size < 1 or size % 2 == 0:
            raise BadInput(
                f"a patch's size must be an odd whole number, so that it has a centre, got {size}: add 1"
            )
        if not (np.isfinite(spacing) and spacing > 0):
            raise BadInput(f"a patch's spacing must be a positive length in m, got {spacing}: correct it")
        return self._sample(lattice(centre, float(heading), size, float(spacing))).reshape(size, size)

    def _sample(self, points: FloatArray) -> FloatArray:
        values: FloatArray = SAMPLERS[self.sampling](self.x, self.y, self.temperature, points)
        return values


def develop(seen: Surface, *, sampling: Sampling, subgrid: bool) -> Image:
    """The image of what a sensor has seen."""
    return Image(
        time=seen.time,
        x=seen.x,
        y=seen.y,
        temperature=seen.temperature,
        peak=seen.peak if subgrid else seen.node,
        sampling=sampling,
        subgrid=subgrid,
    )


class Camera:
    """Sees one surface per tick and hands out images. Objects are ready when built."""

    def __init__(self, settings: CameraSettings | None = None) -> None:
        self.settings = settings or CameraSettings()
        self._sensor: Sensor | None = None
        self.reset()

    def reset(self) -> None:
        """Forget all frames and restart the noise from its seed."""
        self._noise = np.random.default_rng(self.settings.seed)
        self._frames: deque[FloatArray] = deque(maxlen=self.settings.exposure)
        self._images: deque[Image] = deque(maxlen=self.settings.delay + 1)

    def see(self, surface: Surface) -> Image:
        """Expose one more tick; the image is `delay` ticks old, or the first one until there are so many.

        A surface of another plate, or from before the last one, begins another run: the camera resets itself.
        One of the same plate on another grid goes on: the nodes may follow the beam.
        """
        sensor = self._sensor
        if sensor is None or not sensor.fits(surface):
            self._sensor = sensor = self._change_sensor(sensor, surface)
        if self._images and surface.time <= self._images[-1].time:
            self.reset()
        self._frames.append(sensor.read(surface))
        self._images.append(self._develop(sensor, surface.time))
        return self._images[0]

    def _change_sensor(self, old: "Sensor | None", surface: Surface) -> "Sensor":
        """A sensor for the nodes of this surface; what was exposed on the same plate is kept."""
        new = Sensor(surface.x, surface.y, self.settings.pixel, smooth=self.settings.sampling == "smooth")
        if old is None or not old.sees_plate_of(surface):
            self.reset()
        else:
            kept = [old.hand_over(frame, new) for frame in self._frames] if self.settings.exposure > 1 else []
            self._frames = deque(kept, maxlen=self.settings.exposure)
        return new

    def _develop(self, sensor: "Sensor", time: float) -> Image:
        """The image whose exposure ends now."""
        settings = self.settings
        temperature = np.mean(self._frames, axis=0)
        if settings.emissivity != 1.0:
            temperature *= settings.emissivity**0.25
        if settings.noise > 0:
            temperature += self._noise.normal(0.0, settings.noise, temperature.shape)
        seen = Surface(sensor.x, sensor.y, temperature, time)
        return develop(seen, sampling=settings.sampling, subgrid=settings.subgrid)


class Sensor:
    """Square pixels over one surface grid, centred on the plate; the outermost are clipped at its edges."""

    def __init__(self, x: FloatArray, y: FloatArray, pixel: float | None, *, smooth: bool = False) -> None:
        self._nodes = x.copy(), y.copy()
        self._weights: tuple[csr_array, csr_array] | None = None
        self.x, self.y = self._nodes
        if pixel is not None:
            edges = tuple(pixel_edges(nodes, pixel) for nodes in self._nodes)
            self.x, self.y = (0.5 * (edge[1:] + edge[:-1]) for edge in edges)
            weigh = spline_weights if smooth else pixel_weights
            over_x, over_y = (weigh(*axis) for axis in zip(self._nodes, edges, strict=True))
            self._weights = csr_array(over_y), csr_array(over_x)
        for lines in (self.x, self.y):
            lines.setflags(write=False)

    def fits(self, surface: Surface) -> bool:
        """Is this sensor made for the surface's grid?"""
        x, y = self._nodes
        return np.array_equal(x, surface.x) and np.array_equal(y, surface.y)

    def sees_plate_of(self, surface: Surface) -> bool:
        """Is it the same plate, perhaps on another grid?"""
        x, y = self._nodes
        here, there = (x[[0, -1]], y[[0, -1]]), (surface.x[[0, -1]], surface.y[[0, -1]])
        return np.array_equal(here, there)

    def hand_over(self, frame: FloatArray, other: "Sensor") -> FloatArray:
        """A frame of this sensor on the places of another over the same plate; pixels stay as they are."""
        if np.array_equal(self.x, other.x) and np.array_equal(self.y, other.y):
            return frame
        rows = resample(self.y, other.y, frame[np.newaxis])[0]
        return np.asarray(resample(self.x, other.x, rows[..., np.newaxis])[..., 0])

    def read(self, surface: Surface) -> FloatArray:
        """The mean over each pixel of the surface between its nodes, (y, x), K; a new array."""
        if self._weights is None:
            return surface.temperature.copy()
        over_y, over_x = self._weights
        return np.ascontiguousarray((over_x @ (over_y @ surface.temperature).T).T)


def pixel_edges(nodes: FloatArray, pixel: float) -> FloatArray:
    """Borders of the pixels along one side of the plate: ends clipped equally, to half a pixel at least."""
    length = float(nodes[-1] - nodes[0])
    count = np.ceil(length / pixel - 1e-6)  # so that rounding does not shift pixels that tile the plate
    if not FEWEST_PIXELS <= count <= MOST_PIXELS:
        raise BadInput(
            f"a camera must have {FEWEST_PIXELS} to {MOST_PIXELS} pixels along a side of {length:g} m, "
            f"got {count:.0f} of {pixel:g} m: change the pixel"
        )
    inner = 0.5 * (nodes[0] + nodes[-1]) + pixel * (np.arange(1.0, count) - 0.5 * count)
    return np.concatenate((nodes[:1], inner, nodes[-1:]))


def pixel_weights(nodes: FloatArray, edges: FloatArray) -> FloatArray:
    """Weights (pixels, nodes) of the mean over each pixel of the piecewise linear interpolant.

    Up to the share s of a cell of width h the hat of its left node integrates to h(s − s²/2), the other's to
    h s²/2.
    """
    h = np.diff(nodes)
    s = np.clip((edges[:, np.newaxis] - nodes[:-1]) / h, 0.0, 1.0)
    integral = np.zeros((len(edges), len(nodes)))
    integral[:, :-1] += h * (s - 0.5 * s**2)
    integral[:, 1:] += h * 0.5 * s**2
    return np.diff(integral, axis=0) / np.diff(edges)[:, np.newaxis]


def spline_weights(nodes: FloatArray, edges: FloatArray) -> FloatArray:
    """Weights (pixels, nodes) of the mean over each pixel of the cubic spline.

    Chords cut the peak: at a spacing of σ/2 the mean of a narrow pixel under it is 12 K of 480 too low, that
    of the spline 0.1 K.
    """
    integral = CubicSpline(nodes, np.eye(len(nodes))).antiderivative()(edges)
    weights = np.diff(integral, axis=0) / np.diff(edges)[:, np.newaxis]
    return np.where(np.abs(weights) < NEGLIGIBLE, 0.0, weights)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _show(array: FloatArray) -> str:
    """All of a small array, the shape of a large one."""
    return str(array.tolist()) if array.size <= 4 else f"an array of shape {array.shape}"
