"""Layers as PySLM (or libSLM) has them: their moves, and the same as a Common Layer Interface file.

Objects are known by what they have, so nothing of PySLM is needed here: a layer has `z` (µm) and `geometry`,
a geometry `coords` (mm), `mid` and `bid`, and a model `mid` and `buildStyles`, of which each has a `bid`.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.paths.move import Move
from laserloop.paths.text import format_number
from laserloop.paths.track import Track, lay_track

NAME = "layers of PySLM"
DIGITS = 5  # of mm, mm/s and W
HATCHES, CONTOUR, POINTS = "HatchGeometry", "ContourGeometry", "PointsGeometry"


class Style(NamedTuple):
    """How a geometry is scanned; NaN where its build style does not say, or there is none."""

    power: float  # W
    speed: float  # m/s
    exposure: float  # s, of a point


def lay_layers_of_pyslm(layers: Sequence[Any], models: Sequence[Any] = (), *, layer: int = 1) -> Track:
    """The track of one layer, counted from 1; `sample_track` makes a path of it.

    Speeds and powers are those of the models' build styles, if there are any.
    """
    return lay_track(follow_layers(layers, models), file=NAME, layer=layer)


def follow_layers(layers: Iterable[Any], models: Sequence[Any] = ()) -> Iterator[Move]:
    """The moves of layers in their order; a move's line is the number of its geometry, from 1."""
    styles = {
        (int(model.mid), int(style.bid)): _read_style(style)
        for model in models
        for style in model.buildStyles
    }
    count = 0
    for layer in layers:
        for geometry in layer.geometry:
            count += 1
            where = f"{NAME}, geometry {count}"
            style = _find_style(styles, geometry, where)
            yield from _follow(geometry, count, float(layer.z) * 1e-6, style, where)


def tell_layers(layers: Sequence[Any], models: Sequence[Any] = (), *, maker: str = "PySLM") -> str:
    """The layers as the text of an ASCII Common Layer Interface file in mm, with $$POWER and $$SPEED."""
    lines = ["$$HEADERSTART", "$$ASCII", "$$UNITS/1", f"$$LAYERS/{len(layers)}", f"// made with {maker} //"]
    lines += ["$$HEADEREND", "$$GEOMETRYSTART"]
    power = speed = nan
    for layer in layers:
        lines.append(f"$$LAYER/{format_number(float(layer.z) * 1e-3, DIGITS)}")
        hatches = list[Move]()
        for move in follow_layers([layer], models):
            if move.rest > 0:
                raise BadInput(
                    f"{NAME}, z = {layer.z:g} µm: a layer file has lines only, but this layer has points; "
                    "scan lines."
                )
            told = [*_tell("POWER", power, move.power), *_tell("SPEED", speed, 1e3 * move.speed)]
            power, speed = move.power, 1e3 * move.speed
            is_hatch = len(move.points) == 2
            if hatches and (told or not is_hatch):
                lines.append(_tell_hatches(hatches))
                hatches = []
            lines += told
            if is_hatch:
                hatches.append(move)
            else:
                lines.append(f"$$POLYLINE/1,1,{len(move.points)},{_tell_points(move.points)}")
        if hatches:
            lines.append(_tell_hatches(hatches))
    return "\n".join([*lines, "$$GEOMETRYEND", ""])


def _follow(geometry: Any, line: int, level: float, style: Style, where: str) -> Iterator[Move]:
    """The moves of one geometry."""
    kind = next((name.__name__ for name in type(geometry).__mro__ if name.__name__ in SIZES), None)
    if kind is None:
        raise BadInput(
            f"{where}: a geometry must be hatches, a contour or points, but is {type(geometry).__name__}; "
            "leave it out."
        )
    z = _read_points(geometry, where)
    size = SIZES[kind] or len(z)
    if size and len(z) % size:
        raise BadInput(f"{where}: hatches must be pairs of points, but there are {len(z)} points; correct.")
    if kind == POINTS and isnan(style.exposure):
        raise BadInput(
            f"{where}: points need an exposure time, but have none; give the models with their build styles."
        )
    for k in range(0, len(z), size or 1):
        own = z[k : k + size] * (2 if kind == POINTS else 1)
        rest = style.exposure if kind == POINTS else 0.0
        speed = nan if kind == POINTS else style.speed
        yield Move(line=line, points=own, level=level, speed=speed, power=style.power, rest=rest)


SIZES = {HATCHES: 2, CONTOUR: 0, POINTS: 1}  # points of a move; 0: all


def _read_points(geometry: Any, where: str) -> list[complex]:
    """x + iy, m."""
    coords = np.asarray(geometry.coords, dtype=np.float64)
    if coords.ndim != 2 or coords.shape[1] < 2 or not np.isfinite(coords).all():
        raise BadInput(
            f"{where}: coords must be finite pairs of x and y in mm, but have shape {coords.shape}; correct."
        )
    found: list[complex] = (1e-3 * (coords[:, 0] + 1j * coords[:, 1])).tolist()
    return found


def _find_style(styles: dict[tuple[int, int], Style], geometry: Any, where: str) -> Style:
    if not styles:
        return Style(nan, nan, nan)
    found = styles.get((int(geometry.mid), int(geometry.bid)))
    if found is None:
        raise BadInput(
            f"{where}: its build style must be in its model, but model {geometry.mid} has no {geometry.bid}; "
            "give all models, or none."
        )
    return found


def _read_style(style: Any) -> Style:
    """A speed of 0 is that of points, µm apart, of which each takes some µs."""
    power, speed = float(style.laserPower), 1e-3 * float(style.laserSpeed)
    distance, exposure, delay = (
        float(value) for value in (style.pointDistance, style.pointExposureTime, style.pointDelay)
    )
    if speed <= 0 and exposure + delay > 0:
        speed = distance / (exposure + delay)
    numbers = (power, speed, 1e-6 * exposure)
    return Style(*(value if isfinite(value) and value > 0 else nan for value in numbers))


def _tell(name: str, before: float, now: float) -> list[str]:
    return [] if isnan(now) or now == before else [f"$${name}/{format_number(now, DIGITS)}"]


def _tell_hatches(moves: list[Move]) -> str:
    points = [point for move in moves for point in move.points]
    return f"$$HATCHES/1,{len(moves)},{_tell_points(points)}"


def _tell_points(points: Sequence[complex]) -> str:
    return ",".join(format_number(1e3 * value, DIGITS) for z in points for value in (z.real, z.imag))
