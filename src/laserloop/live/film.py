"""The film: thermal images of a run with what was predicted then, thinned out so that it stays small.

A film that is kept is a file: MAGIC · count · for each frame its tick and length · the frames, compressed.
"""

import zlib
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.live.message import pack, unpack

MOST_FRAMES = 600  # of a run; 6 MB, a fifth of it in a file
SUFFIX = ".film"  # beside the .json of the run
MAGIC = b"laserloop film 1"
LARGEST_FRAME = 100_000  # bytes; those of 97 pixels have 10,000


@dataclass(slots=True, eq=False)
class Film:
    """Frames in the order of their ticks; when there are too many, every other one goes."""

    ticks: list[int] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)  # ready to be sent
    _every: int = 1  # of the frames that come, this many go into one that is kept
    _since: int = 0

    def add(self, words: dict[str, Any], image: NDArray[np.uint8], fan: NDArray[np.float32]) -> None:
        """Keep a frame, or not."""
        self._since += 1
        if self._since < self._every:
            return
        self._since = 0
        self.ticks.append(int(words["k"]))
        self.frames.append(pack(words | {"kind": "frame"}, {"image": image, "fan": fan}))
        if len(self.frames) > MOST_FRAMES:
            del self.ticks[1::2], self.frames[1::2]
            self._every *= 2

    def find(self, k: int) -> bytes | None:
        """The last frame of tick `k` or before; the first one if there is none."""
        if not self.frames:
            return None
        return self.frames[max(0, bisect_right(self.ticks, k) - 1)]

    def write(self) -> bytes:
        """The film as a file holds it."""
        packed = [zlib.compress(frame) for frame in self.frames]
        table = np.array([(k, len(frame)) for k, frame in zip(self.ticks, packed, strict=True)], "<u4")
        return b"".join((MAGIC, np.uint32(len(packed)).astype("<u4").tobytes(), table.tobytes(), *packed))


def find_frame(film: bytes, k: int) -> bytes:
    """The same of a film in a file, which a stranger may have written; ValueError if it is none."""
    head = len(MAGIC) + 4
    count = int.from_bytes(film[len(MAGIC) : head], "little")
    if film[: len(MAGIC)] != MAGIC or not 1 <= count <= MOST_FRAMES or len(film) < head + 8 * count:
        raise ValueError("not a film")
    ticks, lengths = np.frombuffer(film, "<u4", 2 * count, head).reshape(-1, 2).T.astype(np.int64)
    place = max(0, int(np.searchsorted(ticks, k, side="right")) - 1)
    first = head + 8 * count + int(lengths[:place].sum())
    packed = film[first : first + int(lengths[place])]
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
