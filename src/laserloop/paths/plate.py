"""The plate under the beam: a rectangle centred on the origin, given as (width, height) in m."""

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput

DEFAULT_PLATE = (15e-3, 10e-3)  # m
ROUNDING = 1e-9  # m; a point on the edge is on the plate


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
