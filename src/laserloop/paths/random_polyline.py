"""Random polylines: the corner-rich paths of the paper's augmented ensemble."""

from math import cos, inf, pi, radians, sin

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.area import HALF_WIDTH, check_length

SEGMENT = (0.12e-3, 0.25e-3)  # m, about the distance travelled in one prediction window
NEAR_REVERSAL = (radians(120), radians(170))
OTHER_TURN = (radians(30), radians(120))
REVERSAL_PROBABILITY = 0.5

Point = tuple[float, float]


def draw_polyline(rng: np.random.Generator, *, length: float) -> NDArray[np.float64]:
    """Waypoints (m) of a random polyline at least `length` long that reflects at the scan area's edge.

    A segment that meets the edge gains a vertex there and goes on reflected; the next turn starts from the
    reflected heading. A longer path from the same generator state begins with the shorter one.
    """
    check_length(length)
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
