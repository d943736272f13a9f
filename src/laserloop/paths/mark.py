"""A mark: one stroke of the beam with the laser on, as a path file tells it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where the lit beam goes without a pause; what it does between marks is not told."""

    line: int  # of the file
    points: Sequence[complex]  # x + iy, m; one alone is a spot
    level: float = 0.0  # m, height of its layer
    speed: float | None = None  # m/s; None where the file gives none
    rest: float = 0.0  # s, lit, at the last point
