"""Many closed loops at once in C, each on a twin of its own as the plant: what learners practise on."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.policy import (
    AHEAD,
    BEHIND,
    LIMIT,
    SIZE,
    SLOW,
    SPOTS,
    WAY,
    Scales,
    describe_way,
)
from laserloop.native.build import NoCompiler, load_library
from laserloop.native.layout import ENGINE, address, aligned, make_struct, read_source
from laserloop.native.twin import list_sources, pack_process, size_twin
from laserloop.paths import ScanPath
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Vectors = NDArray[np.float32]
Indices = NDArray[np.intp]

UNIT = "twin_loops.c"
LATE = 16  # images that may be on their way
SIZES = {"PAST": BEHIND, "SPOTS": len(SPOTS), "WAY": WAY, "SEEN": SIZE, "LATE": LATE}
DOORS = ("loop_sizes", "begin", "step")
MEMORY = {"NODES": 384, "RECENT": 64}  # half of a controller's Gaussians: the cache holds more
NEVER = 1e6  # widths: no heat is so smooth; around the spots, too, it has to be told exactly


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A path as C walks along it: positions and light beyond its end, and a row of the vector per tick."""

    way: FloatArray
    lit: NDArray[np.uint8]
    described: Vectors

    @classmethod
    def of(cls, path: ScanPath, scales: Scales, delay: int) -> "Track":
        """The track of a path."""
        n, more = len(path), AHEAD + delay + 1
        ahead = np.arange(n + 1)[:, np.newaxis] + np.arange(AHEAD + 1)
        behind = np.maximum(np.arange(n + 1)[:, np.newaxis] - np.arange(1, BEHIND + 1), 0)
        way, lit = path.preview(0, n + more), path.preview_lit(0, n + more)
        described = describe_way(way[ahead], way[behind], lit[ahead[:, :-1]], scales)
        return cls(way.copy(), lit.astype(np.uint8), np.ascontiguousarray(described))


class TwinLoops:
    """Loops in step: each has a path, a process that is really there, and a gain. NoCompiler without one.

    `process` says what is told: camera, window, laser. `truths` are the processes that the plates may have.
    """

    def __init__(
        self, process: Process, truths: Sequence[Process], paths: Sequence[ScanPath], count: int
    ) -> None:
        camera = process.camera
        if camera.delay > LATE - 1 or camera.exposure > 1:
            raise BadInput(
                f"twins in a batch see images of one tick, at most {LATE - 1} ticks old, got exposure "
                f"{camera.exposure} and delay {camera.delay}: change the camera"
            )
        self.count, self.scales = count, Scales.of(process)
        self._library = _load()
        self._truths = [_lay(truth) for truth in truths]
        self._tracks = [Track.of(path, self.scales, camera.delay) for path in paths]
        self._lengths = np.array([len(path) for path in paths])
        self._lights = np.zeros((len(paths), int(self._lengths.max())), np.bool_)
        for path, row in zip(paths, self._lights, strict=True):
            row[: len(path)] = path.lit
        self._setting = _set(self.scales, camera.delay, camera.every)
        self._batch = make_struct(UNIT, "batch")
        self._loops = aligned(count * self._measure())
        self._places = {"process": _list_places(self._truths)} | {
            name: _list_places([getattr(track, name) for track in self._tracks])
            for name in ("way", "lit", "described")
        }
        self._parts: dict[str, NDArray[Any]] = {
            **{name: np.zeros(count, np.uintp) for name in self._places},
            **{name: np.zeros(count) for name in ("command", "T", "power")},
            "lost": np.zeros(count, np.uint8),
            "noise": np.zeros((count, 1 + len(SPOTS)), np.float32),
            "seen": np.zeros((count, SIZE), np.float32),
        }
        for name, part in self._parts.items():
            self._batch[name] = part.ctypes.data
        self.path = np.zeros(count, np.intp)  # of each
        self.truth = np.zeros(count, np.intp)
        self.gain = np.ones(count)
        self.tick = np.zeros(count, np.intp)
        self.length = np.zeros(count, np.intp)  # ticks of the path of each
        self.lit = np.zeros(count, np.bool_)  # of the tick that has just ended

    def _measure(self) -> int:
        """Bytes of a loop in C."""
        sizes = (ctypes.c_size_t * 3)()
        self._library.laserloop_loop_sizes(sizes)
        if [self._truths[0].nbytes, self._setting.nbytes] != list(sizes)[:2]:
            raise NoCompiler(f"the library lays its numbers out in {list(sizes)} bytes, not as expected")
        return int(sizes[2])

    def begin(self, which: Indices, path: Indices, truth: Indices, gain: FloatArray) -> Vectors:
        """(chosen, SIZE): put some of the loops at the start of a path on a plate at rest; what they see.

        `gain`: heat that the plate really takes over what its process promises.
        """
        parts = self._parts
        parts["process"][which] = self._places["process"][truth]
        for name in ("way", "lit", "described"):
            parts[name][which] = self._places[name][path]
        parts["noise"][which], parts["lost"][which] = 0.0, 0
        chosen, gains = np.ascontiguousarray(which, np.int64), np.ascontiguousarray(gain, np.float64)
        self._library.laserloop_begin(
            *(address(self._setting), address(self._loops), len(chosen)),
            *(address(chosen), address(gains), address(self._batch)),
        )
        self.tick[which], self.path[which], self.truth[which], self.gain[which] = 0, path, truth, gain
        self.length[which] = self._lengths[path]
        seen: Vectors = self._parts["seen"][which]
        return seen

    def step(self, command: FloatArray, noise: Vectors, lost: NDArray[np.bool_]) -> FloatArray:
        """T_max (count,), K, at the end of a tick under commands (count,), W.

        noise (count, 1 + spots), K, is in the image that comes then, unless it gets `lost`.
        """
        parts = self._parts
        parts["command"][...], parts["noise"][...], parts["lost"][...] = command, noise, lost
        if np.any(self.tick >= self.length):
            raise BadInput("a loop has come to the end of its path: begin it anew")
        self.lit = self._lights[self.path, self.tick]
        self._library.laserloop_step(
            address(self._setting), address(self._loops), self.count, address(self._batch)
        )
        self.tick += 1
        T: FloatArray = parts["T"].copy()
        return T

    @property
    def seen(self) -> Vectors:
        """(count, SIZE): what is seen now."""
        seen: Vectors = self._parts["seen"].copy()
        return seen

    @property
    def power(self) -> FloatArray:
        """W, given in the tick that has just ended."""
        power: FloatArray = self._parts["power"].copy()
        return power


def _load() -> ctypes.CDLL:
    sources = dict(list_sources(size_twin(1) | MEMORY)) | {UNIT: read_source(UNIT)}
    defines = (*ENGINE, *(f"-D{name}={size}" for name, size in SIZES.items()))
    library = load_library(sources, UNIT, defines=defines)
    for door in DOORS:
        getattr(library, f"laserloop_{door}").restype = None
    return library


def _set(scales: Scales, delay: int, every: int) -> NDArray[np.void]:
    """What is the same in all loops: the C struct `setting`."""
    setting = make_struct(UNIT, "setting", {"SPOTS": len(SPOTS)})
    values = {
        **dict(zip(("low", "high"), scales.power, strict=True)),
        **{"ambient": scales.ambient, "middle": scales.middle, "half": scales.half_width},
        **{"slow": SLOW, "limit": LIMIT, "delay": delay, "every": every, "spot": SPOTS},
    }
    for name, value in values.items():
        setting[name] = value
    return setting


def _lay(truth: Process) -> NDArray[np.void]:
    """A process as C has it; the plate itself keeps no ticks for late images."""
    plate = replace(truth, camera=replace(truth.camera, delay=0, exposure=1))
    laid = pack_process(TwinPredictor(plate, TwinSettings(horizon=1)))
    laid["smooth"] = NEVER
    return laid


def _list_places(arrays: Sequence[NDArray[Any]]) -> NDArray[np.uintp]:
    return np.array([array.ctypes.data for array in arrays], np.uintp)
