"""Ten families of scan paths, drawn by seed: what a controller is tried on that was not made for any of them.

All stay inside the scan area. A longer path of the same seed begins with the shorter one.
"""

from collections.abc import Callable, Iterator
from itertools import count, cycle, pairwise

import numpy as np
from numpy.random import Generator

from laserloop.bad_input import BadInput
from laserloop.paths.area import HALF_WIDTH, check_length
from laserloop.paths.move import Move
from laserloop.paths.random_polyline import bounce, draw_polyline
from laserloop.paths.shapes import trace_spiral

Points = list[complex]
Figures = Iterator[tuple[Points, float]]  # strokes, each with its speed over the usual one

RADIUS = 0.96 * HALF_WIDTH  # m, of what may be turned to any angle
CHORD = 2e-5  # m, of arcs; their sagitta is below a micrometre


def draw_family(name: str, seed: int, length: float, speed: float) -> list[Move]:
    """Lit moves of at least `length`, m, at `speed`, m/s; where they do not meet the laser is off."""
    if name not in FAMILIES:
        raise BadInput(f"a family must be one of {', '.join(FAMILIES)}, but got {name!r}; choose one.")
    check_length(length)
    rng = np.random.default_rng(seed if name == "polyline" else (seed, list(FAMILIES).index(name)))
    moves, drawn = list[Move](), 0.0
    for points, pace in FAMILIES[name](rng, length):
        moves.append(Move(line=len(moves) + 1, points=points, speed=pace * speed))
        drawn += sum(abs(b - a) for a, b in pairwise(points))
        if drawn > length:
            break
    return moves


def draw_raster(rng: Generator, length: float) -> Figures:
    """Lines to and fro at any angle and hatch, over the rectangle and back."""
    width, height = RADIUS * rng.uniform(0.5, 1.4), RADIUS * rng.uniform(0.5, 1.4)
    lines = hatch_lines(width, height, rng.uniform(0.08e-3, 0.4e-3))
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi))
    there = [turn * z for line in lines for z in line]
    for way in cycle((there, there[::-1])):
        yield way, 1.0


def draw_island(rng: Generator, length: float) -> Figures:
    """Square islands in random order, each hatched across the one before, with dark jumps between."""
    side = rng.uniform(0.5e-3, 1.0e-3)
    places = np.arange(-HALF_WIDTH + side / 2, HALF_WIDTH - side / 2 + 1e-9, side)
    hatch = rng.uniform(0.08e-3, 0.15e-3)
    while True:
        for k in rng.permutation(len(places) ** 2):
            centre = complex(places[k % len(places)], places[k // len(places)])
            turn = 1j ** int(rng.integers(4))
            yield [centre + turn * z for line in hatch_lines(side, side, hatch) for z in line], 1.0


def draw_hairpin(rng: Generator, length: float) -> Figures:
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


def draw_spiral(rng: Generator, length: float) -> Figures:
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


def draw_star(rng: Generator, length: float) -> Figures:
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


def draw_zigzag(rng: Generator, length: float) -> Figures:
    """Teeth of one size and angle, reflected at the edges of the area."""
    tooth, turn = rng.uniform(0.3e-3, 1.2e-3), rng.uniform(np.radians(60), np.radians(160))
    heading = rng.uniform(-np.pi, np.pi)
    here = tuple(rng.uniform(-0.8, 0.8, 2) * HALF_WIDTH)
    for k in count():
        angle = heading + (turn if k % 2 else 0.0)
        reached, _ = bounce(here, (float(np.cos(angle)), float(np.sin(angle))), tooth)
        yield [complex(*z) for z in (here, *reached)], 1.0
        here = reached[-1]


def draw_arc(rng: Generator, length: float) -> Figures:
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


def draw_corners(rng: Generator, length: float) -> Figures:
    """The random polylines of the paper's corner-rich ensemble."""
    yield [complex(x, y) for x, y in draw_polyline(rng, length=length)], 1.0


def draw_strokes(rng: Generator, length: float) -> Figures:
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


def draw_speeds(rng: Generator, length: float) -> Figures:
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
    "raster": draw_raster,
    "island": draw_island,
    "hairpin": draw_hairpin,
    "spiral": draw_spiral,
    "star": draw_star,
    "zigzag": draw_zigzag,
    "arc": draw_arc,
    "polyline": draw_corners,
    "stroke": draw_strokes,
    "speed": draw_speeds,
}
