"""A route: one layer of a file as the beam goes it, and which of the file's moves is lit when."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from laserloop.paths import ScanPath, Track
from laserloop.paths.find import keep_on_plate
from laserloop.paths.sampling import Timeline, choose_speeds, sample_track
from laserloop.process import Process

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Route:
    """Ticks, and lit stretches of time; a stretch is one move of the file."""

    path: ScanPath
    lit_time: FloatArray  # (ticks,), s, that the laser is on in each tick
    moves: NDArray[np.intp]  # (n,), of the file
    lines: NDArray[np.intp]  # (n,), of the file
    starts: FloatArray  # (n,), s
    ends: FloatArray  # (n,), s
    lengths: FloatArray  # (n,), m; 0: a rest
    time: float  # s, all of it

    def __len__(self) -> int:
        return len(self.moves)


def lay_route(track: Track, process: Process, *, name: str, jump_speed: float) -> Route:
    """A track at its own speeds, and at those of the process where it has none."""
    path = sample_track(
        track, name=name, default_speed=process.speed, jump_speed=jump_speed, tick=process.tick
    )
    speeds, _ = choose_speeds(track, name, speed=None, default_speed=process.speed, jump_speed=jump_speed)
    timeline = Timeline(track, speeds)
    lit = np.flatnonzero(track.lit & (track.moves >= 0) & (timeline.ends > timeline.starts))
    first = np.flatnonzero(np.diff(track.moves[lit], prepend=-1))
    last = np.append(first[1:], len(lit)) - 1
    return Route(
        path=keep_on_plate(path, process.plate[:2]),
        lit_time=np.diff(timeline.integrate(track.lit, path.times)),
        moves=track.moves[lit[first]],
        lines=track.lines[1:][lit[first]],
        starts=timeline.starts[lit[first]],
        ends=timeline.ends[lit[last]],
        lengths=np.add.reduceat(track.lengths[lit], first),
        time=timeline.end,
    )
