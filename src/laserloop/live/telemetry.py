"""Telemetry: ticks of a run as messages, each with a thermal image, and the images that are kept of them.

A message between worker, server and page is a few words as JSON, then arrays as they lie in memory:
length of the JSON (4 bytes, little endian) · JSON, padded with spaces to a multiple of 8 · the arrays
Kept images are a file: MAGIC · count · for each frame its tick and length · the frames, compressed.
"""

import json
import struct
import zlib
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.controller import Action, Status, read_prediction
from laserloop.loop.run import ClosedLoop, Tick
from laserloop.loop.scenario import Setup
from laserloop.plant.sampling import lattice, smooth
from laserloop.predict.twin import Starts

ALIGNMENT = 8  # bytes, at which typed arrays of a browser may begin
KINDS = {"f4": "<f4", "u1": "|u1"}  # what a message may carry
COLUMNS = (
    *("t_k", "predicted_k", "margin_above_k", "margin_below_k", "power_w", "tick_ms"),
    *("window_low_k", "window_high_k", "status", "measured_k", "absorbed", "below"),
)
STATUSES = tuple(Status)
PERIOD = 1.0 / 40.0  # s, between two messages as they are planned; each waits for a tick to end
SIZE = 97  # pixels along a side of the thermal image
REACH = 16.0  # beam widths σ along a side
HEADROOM = 0.25  # of the rise to the window's top, up to which the image tells temperatures apart
MOST_FRAMES = 600  # of a run; 6 MB, a fifth of it in a file
SUFFIX = ".film"  # beside the .json of the run
MAGIC = b"laserloop film 1"
LARGEST_FRAME = 100_000  # bytes; those of 97 pixels have 10,000

Words = dict[str, Any]
Arrays = Mapping[str, NDArray[Any]]
Send = Callable[[bytes], object]


def pack(words: Mapping[str, Any], arrays: Arrays | None = None) -> bytes:
    """The bytes of a message."""
    shapes = {name: [array.dtype.str[-2:], list(array.shape)] for name, array in (arrays or {}).items()}
    head = json.dumps({**words, "arrays": shapes}, allow_nan=False).encode()
    head += b" " * (-(len(head) + 4) % ALIGNMENT)
    parts = [struct.pack("<I", len(head)), head]
    for array in (arrays or {}).values():
        content = array.tobytes()
        parts += [content, bytes(-len(content) % ALIGNMENT)]
    return b"".join(parts)


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The words and the arrays of a message."""
    (length,) = struct.unpack_from("<I", message)
    words = json.loads(message[4 : 4 + length])
    at, arrays = 4 + length, {}
    for name, (kind, shape) in words.pop("arrays").items():
        dtype = np.dtype(KINDS[kind])
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(message, dtype, count, at).reshape(shape)
        at += -(-count * dtype.itemsize // ALIGNMENT) * ALIGNMENT
    return words, arrays


@dataclass(slots=True, eq=False)
class Telemetry:
    """Collects ticks and sends them when it is time."""

    send: Send
    setup: Setup
    subgrid: bool  # does this plant's T_max lie between the nodes?
    loop: ClosedLoop | None = None  # once it is ready to run
    rows: list[tuple[float, ...]] = field(default_factory=list)
    _first: int = 0  # of the rows that are not sent yet
    _last: tuple[int, Tick] | None = None
    _due: float = 0.0  # s of the clock, when the next message is planned
    _peak: float = 0.0  # K, the highest yet
    _starts: Starts | None = None  # which ticks count below the window; on the paper's plant settled ones

    def begin(self) -> None:
        """What a page needs before the first tick."""
        path, process = self.setup.path, self.setup.scenario.process
        ambient, top = process.ambient, process.window[1]
        if self.setup.scenario.plant != "paper":
            self._starts = Starts(process, path)
        self._peak = top + HEADROOM * (top - ambient)
        words: Words = {
            "kind": "began",
            "path": path.name,
            "ticks": len(path),
            "tick_s": path.tick,
            "plant": self.setup.scenario.plant,
            "process": process.to_json(),
            "window_k": list(process.window),
            "power_w": list(process.laser.power),
            "ambient_k": ambient,
            "sigma_mm": 1e3 * process.beam.sigma,
            "columns": list(COLUMNS),
            "statuses": [str(status) for status in STATUSES],
            "notes": list(self.setup.notes),
        }
        arrays: Arrays = {
            "x_mm": (1e3 * path.positions[1:, 0]).astype(np.float32),
            "y_mm": (1e3 * path.positions[1:, 1]).astype(np.float32),
            "lit": path.lit.astype(np.uint8),
            "above": (path.counted if self._starts is None else path.lit).astype(np.uint8),
        }
        self.send(pack(words, arrays))

    def add(self, k: int, tick: Tick) -> None:
        """One more tick; sent at once, or soon with others."""
        self.rows.append(self._read(k, tick))
        self._last = k, tick
        if monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Send what was not sent yet."""
        if self._last is None:
            return
        k, tick = self._last
        now, image = monotonic(), self._see(tick, k)
        words = {"kind": "ticks", "first": self._first, "k": k}
        words |= {"low_k": self.setup.scenario.process.ambient, "high_k": self._peak, "reach": REACH}
        fan = np.ravel(tick.action.predicted).astype(np.float32)
        rows = np.array(self.rows, dtype=np.float32)
        self.send(pack(words, {"rows": rows, "image": image, "fan": fan}))
        self._first += len(self.rows)
        self.rows.clear()
        self._last, self._due = None, max(self._due + PERIOD, now)  # late by a tick: the next one sooner

    def _read(self, k: int, tick: Tick) -> tuple[float, ...]:
        """The row of a tick, in the order of COLUMNS."""
        hottest = tick.surface.peak if self.subgrid else tick.surface.node
        status = tick.action.status if self.setup.path.lit[k] else Status.DARK
        window = tick.action.window or self.setup.scenario.process.window
        return (
            hottest.temperature,
            read_prediction(tick.action),
            *self._read_margins(tick.action),
            tick.power,
            1e3 * tick.wall_s,
            *window,
            float(STATUSES.index(status)),
            tick.seen,
            1.0 if self.loop is None else self.loop.testbed.absorbed,
            float(self._counts_below(k, tick.power, window[0])),
        )

    def _counts_below(self, k: int, power: float, floor: float) -> bool:
        """Does a tick count below the window?"""
        path = self.setup.path
        if self._starts is None:
            return bool(path.counted[k])
        return not self._starts.excuses(power, floor) and bool(path.lit[k])

    def _read_margins(self, action: Action) -> tuple[float, float]:
        """Above and below, K, that the plan kept; 0 for who plans nothing."""
        if action.margins is not None:
            return action.margins
        problem = None if self.loop is None else self.loop.controller.problem
        return (0.0, 0.0) if problem is None else (problem.margin_above, problem.margin_below)

    def _see(self, tick: Tick, k: int) -> NDArray[np.uint8]:
        """The surface around the beam, 0 at ambient temperature, 255 at the scale's end; north is up."""
        surface, process = tick.surface, self.setup.scenario.process
        spacing = REACH * process.beam.sigma / (SIZE - 1)
        places = lattice(self.setup.path.positions[k + 1].copy(), 0.0, SIZE, spacing)
        T = smooth(surface.x, surface.y, surface.temperature, places).reshape(SIZE, SIZE)
        low = process.ambient
        self._peak = max(self._peak, float(T.max()))
        scaled = 255.0 * (T - low) / (self._peak - low)
        image: NDArray[np.uint8] = np.clip(np.rint(scaled), 0.0, 255.0).astype(np.uint8)[::-1]
        return image


@dataclass(slots=True, eq=False)
class FrameBuffer:
    """Frames in the order of their ticks; when there are too many, every other one goes."""

    ticks: list[int] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)  # ready to be sent
    _every: int = 1  # of the frames that come, this many go into one that is kept
    _since: int = 0

    def add(self, k: int, frame: bytes) -> None:
        """Keep the message with the image of a tick, or not."""
        self._since += 1
        if self._since < self._every:
            return
        self._since = 0
        self.ticks.append(k)
        self.frames.append(frame)
        if len(self.frames) > MOST_FRAMES:
            del self.ticks[1::2], self.frames[1::2]
            self._every *= 2

    def find(self, k: int) -> bytes | None:
        """The last frame of tick `k` or before; the first one if there is none."""
        if not self.frames:
            return None
        return self.frames[max(0, bisect_right(self.ticks, k) - 1)]

    def write(self) -> bytes:
        """All of them as a file holds them."""
        packed = [zlib.compress(frame) for frame in self.frames]
        table = np.array([(k, len(frame)) for k, frame in zip(self.ticks, packed, strict=True)], "<u4")
        return b"".join((MAGIC, np.uint32(len(packed)).astype("<u4").tobytes(), table.tobytes(), *packed))


def find_frame(content: bytes, k: int) -> bytes:
    """The frame of tick `k` in such a file, which a stranger may have written; ValueError if it is none."""
    head = len(MAGIC) + 4
    count = int.from_bytes(content[len(MAGIC) : head], "little")
    if content[: len(MAGIC)] != MAGIC or not 1 <= count <= MOST_FRAMES or len(content) < head + 8 * count:
        raise ValueError("not a film")
    ticks, lengths = np.frombuffer(content, "<u4", 2 * count, head).reshape(-1, 2).T.astype(np.int64)
    place = max(0, int(np.searchsorted(ticks, k, side="right")) - 1)
    first = head + 8 * count + int(lengths[:place].sum())
    packed = content[first : first + int(lengths[place])]
    try:
        frame = zlib.decompressobj().decompress(packed, LARGEST_FRAME)
        words, arrays = unpack(frame)
        size = len(arrays["image"])
        fine = arrays["image"].shape == (size, size) and arrays["fan"].ndim == 1 and words["kind"] == "frame"
        fine = fine and all(np.isfinite(float(words[name])) for name in ("k", "low_k", "high_k", "reach"))
    except Exception as problem:  # whatever a broken message raises
        raise ValueError("not a frame") from problem
    if not fine:
        raise ValueError("not a frame")
    return frame
