"""The plate under the beam: a rectangle centred on the origin, given as (width, height) in m."""

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput

DEFAULT_PLATE = (15e-3, 10e-3)  # m
ROUNDING = 1e-9  # m; a point on the edge is on the plate
HUGE = 1e6  # m; no unit explains more
TINY = 4.0  # σ; a path as small was given in another unit
SLIP = 20.0  # times the plate: a path as large was given in another unit


def check_plate(plate: tuple[float, float]) -> None:
    """Refuse a plate without area."""
    if not all(np.isfinite(side) and side > 0 for side in plate):
        raise BadInput(
            f"the plate's sides must be positive and finite, but are {plate} m; give width and height."
        )


def first_off_plate(points: NDArray[np.float64], plate: tuple[float, float]) -> int | None:
    """The index of the first of `points` (n, 2) beyond the plate's edge, if there is one."""
    off = np.flatnonzero(~(np.abs(points) <= np.array(plate) / 2 + ROUNDING).all(axis=1))  # NaN is off too
    return int(off[0]) if len(off) else None


def check_on_plate(
    name: str,
    positions: NDArray[np.float64],  # (n+1, 2), m
    lit: NDArray[np.bool_],  # (n,)
    plate: tuple[float, float],
    *,
    cure: str = "",
    units: tuple[str, str] = ("mm", "m"),
) -> None:
    """Refuse a beam that heats where there is no plate; `units` are those of a slip, given and meant."""
    ticks = np.flatnonzero(lit)
    ends = np.union1d(ticks, ticks + 1)
    off = first_off_plate(positions[ends], plate)
    if off is not None:
        cure = tell_size(positions[ends], plate, units) or cure
        raise off_plate(f"{name}, tick {ends[off]}", positions[ends[off]], plate, cure=cure)


def tell_size(points: NDArray[np.float64], plate: tuple[float, float], units: tuple[str, str]) -> str:
    """How a sentence about an edge goes on if no shift would help; `units`: the given and the meant one."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.ptp(points, axis=0)
    if not (size > np.array(plate) + ROUNDING).any() or not (size < HUGE).all():
        return ""
    told = f"; {1e3 * size[0]:.4g} × {1e3 * size[1]:.4g} mm of path do not fit on it"
    if (size > SLIP * np.array(plate)).any() and (size / 1e3 <= np.array(plate)).all():
        told += f", a thousandth would: give {units[1]}, not {units[0]}"
    return told


def tell_tiny(
    name: str, positions: NDArray[np.float64], lit: NDArray[np.bool_], sigma: float
) -> tuple[str, ...]:
    """A note if a path is hardly wider than its beam; a sentence without its full stop."""
    ticks = np.flatnonzero(lit)
    size = np.ptp(positions[np.union1d(ticks, ticks + 1)], axis=0)
    if not 0 < size.max() < TINY * sigma:
        return ()
    inches = 25.4 * size.max() >= TINY * sigma
    meant = "inches, multiply them by 25.4" if inches else "m, multiply them by 1000"
    return (
        f"{name}: its lit part is only {1e3 * size[0]:.2g} × {1e3 * size[1]:.2g} mm, hardly wider than the "
        f"beam; if its numbers are {meant}",
    )


def off_plate(
    where: str, point: NDArray[np.float64], plate: tuple[float, float], *, cure: str = ""
) -> BadInput:
    """The sentence for a `point` beyond the edge."""
    x_mm, y_mm = 1e3 * float(point[0]), 1e3 * float(point[1])
    width_mm, height_mm = plate[0] * 1e3, plate[1] * 1e3
    return BadInput(
        f"{where}: every point must lie on the {width_mm:g} × {height_mm:g} mm plate centred on the origin, "
        f"but ({x_mm:g}, {y_mm:g}) mm does not; keep |x| ≤ {width_mm / 2:g} and |y| ≤ {height_mm / 2:g} mm"
        f"{cure}."
    )
