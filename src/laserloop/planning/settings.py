"""What a machine takes of a plan."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from laserloop.bad_input import BadInput

By = Literal["point", "segment", "vector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """How often and how finely the power may change."""

    by: By = "point"
    segment: float = 0.5e-3  # m, of the pieces by segment
    tolerance: float = 1.0  # K, that pieces by point may cost; less makes more of them
    step: float = 0.01  # W, of the laser: powers are whole numbers of it
    rate: float = float("inf")  # 1/s, most commands
    speeds: tuple[float, float] | None = None  # m/s, between which a vector may go; None: as the file says

    def __post_init__(self) -> None:
        for name, unit in (("segment", "m"), ("tolerance", "K"), ("step", "W"), ("rate", "1/s")):
            value = getattr(self, name)
            if not value > 0 or not (isfinite(value) or name == "rate"):
                raise BadInput(f"the {name} of a plan must be positive, but is {value} {unit}; change it.")
        if self.speeds is not None and not 0 < self.speeds[0] <= self.speeds[1] < float("inf"):
            raise BadInput(
                f"the speeds of a plan must be positive, low before high, but are {self.speeds} m/s; change."
            )
