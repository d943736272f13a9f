"""Which corner the paper's unseen path may have: bow-ties of four angles, at constant speed and slowing down.

The paper gives the vertex, (−1.5, −1.5) mm, the time, 4.9 ms, and "a sharp direction reversal"; neither the
angle nor whether the scanner slows down. A bow-tie of width w turns by 180° − arctan(w / 3 mm).
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laserloop.loop.scenario import TICKS, Scenario, prepare
from laserloop.paths import DEFAULT_SPEED, DEFAULT_TICK, ScanPath, find_path
from laserloop.paths.shapes import HALF_WIDTH
from laserloop.predict.model import find_model
from laserloop.store import solve_case
from laserloop.studies.halilovic.check import is_near
from laserloop.studies.halilovic.published import CORNER_FAILURE, TABLE_2
from laserloop.studies.halilovic.study.failure import (
    NEAR_CORNER,
    OVERSHOOT_WITHIN,
    RUN_WITHIN,
    describe_failure,
)

ACCELERATION = 1000.0  # m/s², of a beam that slows down: it stops within 46 µm, 2.4 ticks
RAMP = 24  # points along a change of speed


class Corner(NamedTuple):
    """One way to turn."""

    width: float  # of the bow-tie, of the scan area's
    slowing: bool = False


USUAL = "135°"
VARIANTS = {
    USUAL: Corner(1.0),
    "135°, slowing": Corner(1.0, slowing=True),
    "153°": Corner(0.5),
    "153°, slowing": Corner(0.5, slowing=True),
    "166°": Corner(0.25),
    "166°, slowing": Corner(0.25, slowing=True),
    "180°": Corner(0.0),
    "180°, slowing": Corner(0.0, slowing=True),
}


def make_path(variant: str, ticks: int = TICKS) -> ScanPath:
    """The bow-tie that turns so, from (−1.5, 0) mm by way of (−1.5, −1.5) mm."""
    corner = VARIANTS[variant]
    if variant == USUAL:
        return find_path("diagonal", ticks=ticks)
    right = 2.0 * corner.width - 1.0
    loop = HALF_WIDTH * np.array([[-1.0, 0.0], [-1.0, -1.0], [right, 1.0], [right, -1.0], [-1.0, 1.0]])
    if corner.width == 0.0:
        loop = loop[[0, 1, 4]]  # there and back
    loops = 2 + int(DEFAULT_SPEED * DEFAULT_TICK * ticks / (4 * HALF_WIDTH))
    times, places = _drive(np.tile(loop, (loops, 1)), slowing=corner.slowing)
    at = DEFAULT_TICK * np.arange(ticks + 1)
    positions = np.column_stack([np.interp(at, times, axis) for axis in places.T])
    return ScanPath(name=f"diagonal, {variant}", positions=positions)


def _drive(corners: NDArray[np.float64], *, slowing: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, s, and places, m, along straight legs; between two of them the speed changes little."""
    times, places, now = [0.0], [corners[0]], 0.0
    for n, (start, end) in enumerate(itertools.pairwise(corners)):
        length = float(np.hypot(*(end - start)))
        if length == 0.0:
            continue
        taken, gone = _speed_up(length, begins=slowing and n > 0, ends=slowing)
        times += (now + taken[1:]).tolist()
        places += list(start + np.outer(gone[1:] / length, end - start))
        now += float(taken[-1])
    return np.array(times), np.array(places)


def _speed_up(length: float, *, begins: bool, ends: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, s, and distances, m, along a leg that begins or ends at rest."""
    ramp = np.linspace(0.0, DEFAULT_SPEED / ACCELERATION, RAMP)
    gone = 0.5 * ACCELERATION * ramp**2
    times, places = (ramp, gone) if begins else (np.zeros(1), np.zeros(1))
    tail = gone[-1] if ends else 0.0
    last = times[-1] + (length - tail - places[-1]) / DEFAULT_SPEED
    times, places = np.append(times, last), np.append(places, length - tail)
    if ends:
        times = np.concatenate([times, last + ramp[-1] - ramp[-2::-1]])
        places = np.concatenate([places, length - gone[-2::-1]])
    return times, places


def run_corner(
    variant: str, name: str, root: Path, *, ticks: int = TICKS, graph: str = "plain"
) -> dict[str, Any]:
    """A model without a margin on the path that turns so, judged; from disk if it is there."""
    settings = name_corner(variant, name, ticks, graph)
    return solve_case(root / "corners", settings, partial(_run, variant, name, ticks, graph))


def name_corner(variant: str, name: str, ticks: int, graph: str) -> dict[str, Any]:
    """What names the case."""
    model = find_model(name).provenance["identity"]
    return {"study": "corners", "variant": variant, "model": model, "ticks": ticks, "graph": graph}


def _run(variant: str, name: str, ticks: int, graph: str) -> dict[str, Any]:
    path = make_path(variant, ticks)
    case = Scenario(path=path, controller="ipopt", model=name, ticks=ticks, graph=graph)
    record = prepare(case).run().to_json()
    return {**record, **judge_corner(record)}


def judge_corner(record: Mapping[str, Any]) -> dict[str, Any]:
    """The failure of a run, and how many of the paper's five sentences about its baseline it meets."""
    found, paper = describe_failure(record), TABLE_2["baseline", "diagonal"]
    met = (
        abs(record["overshoot_k"] - paper[0]) <= OVERSHOOT_WITHIN,
        abs(found.at_first - paper[1]) <= RUN_WITHIN,
        found.worst_k < 0 and found.worst_from_first <= NEAR_CORNER,
        is_near(found.worst_k, CORNER_FAILURE["residual_k"]),
        found.peak_to_worst <= 1,
    )
    kept = {name: value if np.isfinite(value) else None for name, value in asdict(found).items()}
    return {"failure": kept, "met": sum(map(bool, met)), "of": len(met)}


def explains(row: Mapping[str, Any]) -> bool:
    """Whether a corner meets most of the paper's sentences, so that it may be the paper's."""
    return bool(row["met"] > row["of"] / 2)


def find_best(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The baseline's run that meets most of the paper's sentences; of several the nearest in overshoot."""
    paper = TABLE_2["baseline", "diagonal"][0]
    base = (row for row in rows if row["label"] == "baseline")
    return max(base, key=lambda row: (row["met"], -abs(row["overshoot_k"] - paper)))
