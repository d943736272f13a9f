"""A track: the marks of one layer joined into one way of the beam, with the speeds that their file gives."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths.mark import Mark
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, ScanPath, check_tick, check_ticks, too_short
from laserloop.paths.plate import first_off_plate, off_plate
from laserloop.paths.polyline import MAX_TICKS, ROUNDING, hop_length

MAX_WAYPOINTS = 1_000_000
GAP = 1e-6  # m; nearer ends are the rounding of a file


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Track:
    """Waypoints with the speed of each leg between them and the time at rest on each."""

    points: NDArray[np.float64]  # (n, 2), m
    speeds: NDArray[np.float64]  # (n-1,), m/s; NaN where the file gives none
    rests: NDArray[np.float64]  # (n,), s
    notes: tuple[str, ...] = ()  # what was assumed; sentences without their full stop

    def add_notes(self, notes: Iterable[str]) -> "Track":
        """The same track with more to say."""
        return replace(self, notes=(*self.notes, *notes))


def lay_track(marks: Iterable[Mark], *, file: str | PathLike[str], plate: tuple[float, float]) -> Track:
    """The first layer that has marks, joined in their order by straight lines."""
    layer, levels = _first_layer(marks, file)
    lines = np.repeat([mark.line for mark in layer], [len(mark.points) for mark in layer])
    z = np.array([point for mark in layer for point in mark.points])
    waypoints = np.column_stack([z.real, z.imag])
    _check_waypoints(waypoints, lines, file, plate)
    ends = np.cumsum([len(mark.points) for mark in layer]) - 1
    rests = np.zeros(len(z))
    rests[ends] = [mark.rest for mark in layer]
    speeds = np.repeat(
        [np.nan if mark.speed is None else mark.speed for mark in layer], [len(mark.points) for mark in layer]
    )[1:]  # a joint has the speed of the mark that it leads to
    legs = np.abs(np.diff(z))
    gaps = legs[ends[:-1]][legs[ends[:-1]] > GAP]
    notes = []
    if levels > 1:
        notes.append(
            f"{file} has {levels} layers with laser-on moves; the first, z = {1e3 * layer[0].level:g} mm, is "
            "used"
        )
    if len(gaps):
        notes.append(
            f"{file}: the laser is off on {len(gaps)} way{'s' if len(gaps) > 1 else ''} between marks, "
            f"{1e3 * gaps.sum():.4g} of {1e3 * legs.sum():.4g} mm, but a path here cannot say so; the beam "
            "goes there straight, with the laser on, at the speed of the mark that follows"
        )
    return Track(points=waypoints, speeds=speeds, rests=rests, notes=tuple(notes))


def sample_track(
    track: Track,
    *,
    name: str,
    speed: float | None = None,
    tick: float = DEFAULT_TICK,
    ticks: int | None = None,
) -> ScanPath:
    """The path along `track` at t = tick·j, up to `ticks` or the last full tick; `speed` is for all of it."""
    check_tick(tick)
    speeds, notes = track.speeds, track.notes
    if speed is not None:
        hop_length(speed, tick)
        speeds = np.full_like(speeds, speed)
    elif np.isnan(speeds).any():
        speeds = np.where(np.isnan(speeds), DEFAULT_SPEED, speeds)
        notes = (*notes, f"{name}: moves without a speed of their own go at {1e3 * DEFAULT_SPEED:g} mm/s")
    steps = np.empty(2 * len(track.points) - 1)  # rest, leg, rest, leg, …, rest; s
    steps[::2] = track.rests
    with np.errstate(over="ignore"):
        steps[1::2] = np.hypot(*np.diff(track.points, axis=0).T) / speeds
    times = np.concatenate([[0.0], np.cumsum(steps)])
    corners = np.repeat(track.points, 2, axis=0)
    ticks = _count_ticks(float(times[-1]), tick, name, ticks)
    passed = np.append(True, np.diff(times) > 0)
    times, corners = times[passed], corners[passed]
    sampled = tick * np.arange(ticks + 1)
    positions = np.column_stack([np.interp(sampled, times, axis) for axis in corners.T])
    return ScanPath(name=name, positions=positions, tick=tick, notes=notes)


def _first_layer(marks: Iterable[Mark], file: str | PathLike[str]) -> tuple[list[Mark], int]:
    """The marks on the level of the first of them, and how many levels there are."""
    layer, levels, count = list[Mark](), set[float](), 0
    for mark in marks:
        level = round(mark.level, 8)
        levels.add(level)
        if layer and level != round(layer[0].level, 8):
            continue
        layer.append(mark)
        count += len(mark.points)
        if count > MAX_WAYPOINTS:
            raise BadInput(
                f"{file}, line {mark.line}: a layer may have at most {MAX_WAYPOINTS} waypoints, but has "
                "more; cut it into pieces."
            )
    if not layer:
        raise BadInput(
            f"{file}: a path needs moves with the laser on, but it has none; check where the laser is on."
        )
    return layer, len(levels)


def _check_waypoints(
    waypoints: NDArray[np.float64],
    lines: NDArray[np.intp],
    file: str | PathLike[str],
    plate: tuple[float, float],
) -> None:
    off = first_off_plate(waypoints, plate)
    if off is not None:
        raise off_plate(f"{file}, line {lines[off]}", waypoints[off], plate)
    if (waypoints == waypoints[0]).all():
        x_mm, y_mm = 1e3 * waypoints[0]
        raise BadInput(
            f"{file}, line {lines[0]}: a path needs at least two different waypoints, but ({x_mm:g}, "
            f"{y_mm:g}) mm is the only one up to line {lines[-1]}; add another."
        )


def _count_ticks(duration: float, tick: float, name: str, asked: int | None) -> int:
    """The ticks asked for, or else all that fit into `duration`."""
    available = duration / tick + ROUNDING
    if not (isfinite(duration) and (available if asked is None else asked) <= MAX_TICKS):
        raise BadInput(
            f"a path may have at most {MAX_TICKS} ticks, but {asked or 'all'} of {name}, which lasts "
            f"{duration:g} s, were asked for; check its speeds and rests, or give a number of ticks."
        )
    if available < 1:
        raise BadInput(
            f"a path must last at least one tick, but {name} lasts {duration:g} s and a tick {tick:g} s; "
            "lengthen it or slow down."
        )
    if asked is None:
        return int(available)
    check_ticks(asked)
    if asked > available:
        raise too_short(name, int(available), asked)
    return asked
