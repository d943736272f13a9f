"""Built-in paths: four shapes, random polylines, and ten families of scans drawn by seed, in the scan area.

Shapes are functions that return waypoints (m) of a polyline at least `length` long. Families are what a
controller is tried on that was not made for any of them: lit moves, dark between those that do not meet. A
longer path of the same seed begins with the shorter one.

u  angle along a spiral, rad      z  position x + iy, m
"""

from collections.abc import Callable, Iterator
from itertools import count, cycle, pairwise
from math import ceil, cos, floor, inf, pi, radians, sin, sqrt

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths.track import Move

HALF_WIDTH = 1.5e-3  # m
MAX_LENGTH = 100.0  # m of built-in path; five and a half minutes at the default speed
DEFAULT_HATCH = 5e-4  # m
SAGITTA = 1e-8  # m, the largest distance between a spiral and its chords
SEGMENT = (0.12e-3, 0.25e-3)  # m, about the distance travelled in one prediction window
NEAR_REVERSAL = (radians(120), radians(170))
OTHER_TURN = (radians(30), radians(120))
REVERSAL_PROBABILITY = 0.5

Point = tuple[float, float]
RADIUS = 0.96 * HALF_WIDTH  # m, of what may be turned to any angle
CHORD = 2e-5  # m, of arcs; their sagitta is below a micrometre
Points = list[complex]
Figures = Iterator[tuple[Points, float]]  # strokes, each with its speed over the usual one


def _check_length(length: float) -> None:
    """Refuse a length that no scan has."""
    if not 0 < length <= MAX_LENGTH:
        raise BadInput(
            f"a built-in path must be longer than 0 and at most {MAX_LENGTH:g} m, but {length:g} m were "
            "asked for; its speed or its number of ticks is off, so check their units."
        )


def trace_vertical(
    length: float, *, hatch: float = DEFAULT_HATCH, corner: tuple[int, int] = (-1, -1), first_line: int = 0
) -> NDArray[np.float64]:
    """Lines along y, `hatch` apart, to and fro across the scan area for as long as asked.

    `corner` holds the signs of x and y where line 0 starts, and so fixes both directions: away from it.
    """
    across, along = _trace_raster(length, hatch, first_line)
    return np.column_stack([corner[0] * across, corner[1] * along])


def trace_horizontal(
    length: float, *, hatch: float = DEFAULT_HATCH, corner: tuple[int, int] = (-1, -1), first_line: int = 0
) -> NDArray[np.float64]:
    """Lines along x: `trace_vertical` with the axes exchanged."""
    return trace_vertical(length, hatch=hatch, corner=corner[::-1], first_line=first_line)[:, ::-1]


def trace_spiral(
    length: float,
    *,
    turns: float = 3.0,
    radius: float = HALF_WIDTH,
    start_angle: float = 0.0,
    clockwise: bool = False,
    inward: bool = False,
) -> NDArray[np.float64]:
    """An Archimedean spiral from the centre to `radius`, then the circle of that radius.

    Inward it starts on the circle, passes smoothly through the centre and leaves on the mirrored arm.
    `start_angle` is the first heading when outward, the polar angle of the first point when inward.
    """
    _check_length(length)
    end = 2 * pi * turns
    step = sqrt(8 * SAGITTA / _greatest_bend(end, radius / end))
    arm = _spread(-end if inward else 0.0, end, step)
    circle = _spread(end, end + 1.001 * length / radius, step)  # chords are shorter than the arc
    u = np.concatenate([arm, circle[1:]])
    z = radius / end * np.minimum(u, end) * np.exp(1j * (u + end - pi if inward else u))
    z = (np.conj(z) if clockwise else z) * np.exp(1j * start_angle)
    return np.column_stack([z.real, z.imag])


def trace_diagonal(length: float) -> NDArray[np.float64]:
    """A closed bow-tie with 135° turns at its four vertices, again and again."""
    _check_length(length)
    loop = HALF_WIDTH * np.array([[-1.0, 0.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    loop_length = HALF_WIDTH * (4 + 4 * sqrt(2))
    return np.tile(loop, (ceil(length / loop_length) + 1, 1))


def _trace_raster(
    length: float, hatch: float, first_line: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates across and along the lines, with line 0 starting at (+, +)."""
    _check_length(length)
    last = floor(2 * HALF_WIDTH / hatch + 1e-9)
    count = ceil(length / (2 * HALF_WIDTH)) + 1
    line = last - np.abs(last - (first_line + np.arange(count)) % (2 * last))  # 0 … last … 0 …
    ends = np.where(np.arange(count) % 2, -HALF_WIDTH, HALF_WIDTH)
    return np.repeat(HALF_WIDTH - hatch * line, 2), np.column_stack([ends, -ends]).ravel()


def _greatest_bend(end: float, growth: float) -> float:
    """Curvature times (ds/du)², growth (2 + u²)/√(1 + u²), at the outer end, m; a sagitta is du²/8 of it."""
    return growth * (2 + end**2) / sqrt(1 + end**2)


def _spread(start: float, stop: float, step: float) -> NDArray[np.float64]:
    return np.linspace(start, stop, ceil((stop - start) / step) + 1)


def draw_polyline(rng: np.random.Generator, *, length: float) -> NDArray[np.float64]:
    """Waypoints (m) of a random polyline at least `length` long that reflects at the scan area's edge.

    A segment that meets the edge gains a vertex there and goes on reflected; the next turn starts from the
    reflected heading. A longer path from the same generator state begins with the shorter one.
    """
    _check_length(length)
    x, y = rng.uniform(-HALF_WIDTH, HALF_WIDTH, 2)
    vertices: list[Point] = [(float(x), float(y))]
    heading = rng.uniform(-pi, pi)
    direction = (cos(heading), sin(heading))
    drawn = 0.0
    while drawn <= length:
        segment = rng.uniform(*SEGMENT)
        reached, direction = bounce(vertices[-1], direction, segment)
        vertices += reached
        direction = _rotate(direction, _draw_turn(rng))
        drawn += segment
    return np.array(vertices)


def _draw_turn(rng: np.random.Generator) -> float:
    size = rng.uniform(*(NEAR_REVERSAL if rng.random() < REVERSAL_PROBABILITY else OTHER_TURN))
    return size if rng.random() < 0.5 else -size


def _rotate(direction: Point, angle: float) -> Point:
    x, y = direction
    return x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle)


def bounce(start: Point, direction: Point, distance: float) -> tuple[list[Point], Point]:
    """Travel `distance` like a billiard ball: the vertices reached and the final direction."""
    point, way = list(start), list(direction)
    reached: list[Point] = []
    while True:
        room = [_room(p, w) for p, w in zip(point, way, strict=True)]
        axis = 0 if room[0] <= room[1] else 1
        travel = min(distance, room[axis])
        point = [_clamp(p + travel * w) for p, w in zip(point, way, strict=True)]
        if travel == distance:
            return [*reached, (point[0], point[1])], (way[0], way[1])
        point[axis] = HALF_WIDTH if way[axis] > 0 else -HALF_WIDTH
        way[axis] = -way[axis]
        reached.append((point[0], point[1]))
        distance -= travel


def _room(coordinate: float, way: float) -> float:
    """The distance along the heading to the edge that lies ahead on one axis."""
    if way == 0:
        return inf
    return ((HALF_WIDTH if way > 0 else -HALF_WIDTH) - coordinate) / way


def _clamp(coordinate: float) -> float:
    return min(max(coordinate, -HALF_WIDTH), HALF_WIDTH)


def draw_family(name: str, seed: int, length: float, speed: float) -> list[Move]:
    """Lit moves of at least `length`, m, at `speed`, m/s; where they do not meet the laser is off."""
    if name not in FAMILIES:
        raise BadInput(f"a family must be one of {', '.join(FAMILIES)}, but got {name!r}; choose one.")
    _check_length(length)
    rng = np.random.default_rng(seed if name == "polyline" else (seed, list(FAMILIES).index(name)))
    moves, drawn = list[Move](), 0.0
    for points, pace in FAMILIES[name](rng, length):
        moves.append(Move(line=len(moves) + 1, points=points, speed=pace * speed))
        drawn += sum(abs(b - a) for a, b in pairwise(points))
        if drawn > length:
            break
    return moves


def _draw_raster(rng: Generator, length: float) -> Figures:
    """Lines to and fro at any angle and hatch, over the rectangle and back."""
    width, height = RADIUS * rng.uniform(0.5, 1.4), RADIUS * rng.uniform(0.5, 1.4)
    lines = hatch_lines(width, height, rng.uniform(0.08e-3, 0.4e-3))
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi))
    there = [turn * z for line in lines for z in line]
    for way in cycle((there, there[::-1])):
        yield way, 1.0


def _draw_island(rng: Generator, length: float) -> Figures:
    """Square islands in random order, each hatched across the one before, with dark jumps between."""
    side = rng.uniform(0.5e-3, 1.0e-3)
    places = np.arange(-HALF_WIDTH + side / 2, HALF_WIDTH - side / 2 + 1e-9, side)
    hatch = rng.uniform(0.08e-3, 0.15e-3)
    while True:
        for k in rng.permutation(len(places) ** 2):
            centre = complex(places[k % len(places)], places[k // len(places)])
            turn = 1j ** int(rng.integers(4))
            yield [centre + turn * z for line in hatch_lines(side, side, hatch) for z in line], 1.0


def _draw_hairpin(rng: Generator, length: float) -> Figures:
    """Bundles of narrow U-turns, each as long, as dense and as slanted as it likes."""
    here = complex(*rng.uniform(-0.5, 0.5, 2)) * HALF_WIDTH
    while True:
        reach, hatch = rng.uniform(0.3e-3, 1.2e-3), rng.uniform(0.05e-3, 0.12e-3)
        lines = hatch_lines(reach, hatch * rng.integers(3, 8), hatch)
        turn = np.exp(1j * rng.uniform(-np.pi, np.pi))
        bundle = [turn * (z - lines[0][0]) for line in lines for z in line]
        low = complex(min(z.real for z in bundle), min(z.imag for z in bundle))
        high = complex(max(z.real for z in bundle), max(z.imag for z in bundle))
        start = complex(
            np.clip(here.real, -HALF_WIDTH - low.real, HALF_WIDTH - high.real),
            np.clip(here.imag, -HALF_WIDTH - low.imag, HALF_WIDTH - high.imag),
        )
        if start != here:
            yield [here, start], 1.0
        yield [start + z for z in bundle], 1.0
        here = start + bundle[-1]


def _draw_spiral(rng: Generator, length: float) -> Figures:
    """A spiral of any turns, size and sense, outward or inward."""
    points = trace_spiral(
        length,
        turns=rng.uniform(2.0, 6.0),
        radius=HALF_WIDTH * rng.uniform(0.5, 1.0),
        start_angle=rng.uniform(-np.pi, np.pi),
        clockwise=bool(rng.integers(2)),
        inward=bool(rng.integers(2)),
    )
    yield [complex(x, y) for x, y in points], 1.0


def _draw_star(rng: Generator, length: float) -> Figures:
    """Star polygons, turned a little from one round to the next."""
    corners = int(rng.choice((5, 7, 11)))
    skip = int(rng.integers(2, corners // 2 + 1))
    radius, turn = RADIUS * rng.uniform(0.5, 1.0), rng.uniform(0.1, 0.5)
    here: complex | None = None
    for lap in count():
        angle = 2 * np.pi * skip * np.arange(corners + 1) / corners + turn * lap
        points = [complex(z) for z in radius * np.exp(1j * angle)]
        yield points if here is None else [here, *points], 1.0
        here = points[-1]


def _draw_zigzag(rng: Generator, length: float) -> Figures:
    """Teeth of one size and angle, reflected at the edges of the area."""
    tooth, turn = rng.uniform(0.3e-3, 1.2e-3), rng.uniform(np.radians(60), np.radians(160))
    heading = rng.uniform(-np.pi, np.pi)
    here = tuple(rng.uniform(-0.8, 0.8, 2) * HALF_WIDTH)
    for k in count():
        angle = heading + (turn if k % 2 else 0.0)
        reached, _ = bounce(here, (float(np.cos(angle)), float(np.sin(angle))), tooth)
        yield [complex(*z) for z in (here, *reached)], 1.0
        here = reached[-1]


def _draw_arc(rng: Generator, length: float) -> Figures:
    """Arcs of any radius, one after another; without room for one, a straight line to the centre."""
    here, heading = complex(*rng.uniform(-0.5, 0.5, 2)) * HALF_WIDTH, rng.uniform(-np.pi, np.pi)
    while True:
        radius, sweep = rng.uniform(0.12e-3, 0.5e-3), rng.uniform(np.radians(40), np.radians(300))
        side = 1.0 if rng.random() < 0.5 else -1.0
        centres = [here + 1j * way * radius * np.exp(1j * heading) for way in (side, -side)]
        inside = [max(abs(z.real), abs(z.imag)) + radius <= HALF_WIDTH for z in centres]
        if not any(inside):  # no room for an arc: a straight line towards the centre
            yield [here, 0.5 * here], 1.0
            here, heading = 0.5 * here, float(np.angle(-here))
            continue
        side, centre = (side, centres[0]) if inside[0] else (-side, centres[1])
        steps = int(np.ceil(sweep * radius / CHORD))
        turns = np.exp(1j * side * sweep * np.arange(steps + 1) / steps)
        points = [complex(z) for z in centre + (here - centre) * turns]
        yield points, 1.0
        here, heading = points[-1], heading + side * sweep


def _draw_corners(rng: Generator, length: float) -> Figures:
    """The random polylines of the paper's corner-rich ensemble."""
    yield [complex(x, y) for x, y in draw_polyline(rng, length=length)], 1.0


def _draw_strokes(rng: Generator, length: float) -> Figures:
    """Short strokes of some legs, as of letters, with dark jumps between."""
    while True:
        here = tuple(rng.uniform(-0.9, 0.9, 2) * HALF_WIDTH)
        stroke, heading = [complex(*here)], rng.uniform(-np.pi, np.pi)
        for _ in range(int(rng.integers(2, 6))):
            direction = float(np.cos(heading)), float(np.sin(heading))
            reached, _ = bounce(here, direction, rng.uniform(0.25e-3, 0.9e-3))
            stroke += [complex(*z) for z in reached]
            here = reached[-1]
            heading += rng.uniform(np.radians(20), np.radians(150)) * (1 if rng.random() < 0.5 else -1)
        yield stroke, 1.0


def _draw_speeds(rng: Generator, length: float) -> Figures:
    """A wandering line whose speed changes from leg to leg."""
    here, heading = tuple(rng.uniform(-0.8, 0.8, 2) * HALF_WIDTH), rng.uniform(-np.pi, np.pi)
    while True:
        direction = float(np.cos(heading)), float(np.sin(heading))
        reached, _ = bounce(here, direction, rng.uniform(0.3e-3, 1.0e-3))
        yield [complex(*z) for z in (here, *reached)], float(rng.uniform(0.6, 1.5))
        here = reached[-1]
        heading += rng.uniform(np.radians(10), np.radians(120)) * (1 if rng.random() < 0.5 else -1)


def hatch_lines(width: float, height: float, hatch: float) -> list[Points]:
    """Lines along x to and fro, centred, `hatch` apart as nearly as they fit."""
    rows = np.linspace(-0.5 * height, 0.5 * height, max(2, round(height / hatch) + 1))
    ends = [(-0.5 * width, 0.5 * width), (0.5 * width, -0.5 * width)]
    return [[complex(x, y) for x in ends[k % 2]] for k, y in enumerate(rows)]


FAMILIES: dict[str, Callable[[Generator, float], Figures]] = {
    "raster": _draw_raster,
    "island": _draw_island,
    "hairpin": _draw_hairpin,
    "spiral": _draw_spiral,
    "star": _draw_star,
    "zigzag": _draw_zigzag,
    "arc": _draw_arc,
    "polyline": _draw_corners,
    "stroke": _draw_strokes,
    "speed": _draw_speeds,
}
