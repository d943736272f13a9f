"""The film: thermal images of a run with what was predicted then, thinned out so that it stays small."""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.live.message import pack

MOST_FRAMES = 600  # of a run; 6 MB


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
