"""Preview: what the scanner knows at a tick, the way ahead, the way behind and the powers it gave."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preview:
    """The beam's way around now, one position a tick; entry `past` of `positions` is where it is now."""

    time: float  # s, now
    tick: float  # s
    positions: FloatArray  # (past + n + 1, 2), m
    powers: FloatArray  # (past,), W, that led from each past position to the next
    lit: BoolArray = field(default_factory=lambda: np.ones(0, np.bool_))  # (n,), the coming ticks; () is all
    was_lit: BoolArray = field(default_factory=lambda: np.ones(0, np.bool_))  # (past,); () is all

    def __post_init__(self) -> None:
        for name, ticks in (("lit", len(self.ahead) - 1), ("was_lit", len(self.powers))):
            given = len(getattr(self, name))
            if not given:
                object.__setattr__(self, name, np.ones(ticks, np.bool_))
            elif given != ticks:
                raise BadInput(f"{name} must tell of {ticks} ticks, got {given}: cut it to the preview")

    @property
    def power(self) -> float:
        """The power of the tick that ends now, W; a laser that has not started gives none."""
        return float(self.powers[-1]) if len(self.powers) else 0.0

    @property
    def ahead(self) -> FloatArray:
        """(n + 1, 2): where the beam is now and will be, m."""
        return self.positions[len(self.powers) :]

    def age(self, moment: float) -> int:
        """How many ticks ago that moment was."""
        return round((self.time - moment) / self.tick)

    def rewound(self, ticks: int) -> "Preview":
        """The same way as seen some ticks ago; the powers since then are no longer part of it."""
        if ticks == 0:
            return self
        return Preview(
            time=self.time - ticks * self.tick,
            tick=self.tick,
            positions=self.positions,
            powers=self.powers[: len(self.powers) - ticks],
            lit=np.concatenate((self.was_lit[len(self.powers) - ticks :], self.lit)),
            was_lit=self.was_lit[: len(self.powers) - ticks],
        )

    def kinematics(self, horizon: int) -> FloatArray:
        """(horizon, 4): position, m, and velocity, m/s, at the start of each coming tick."""
        way = self.ahead[: horizon + 1]
        return np.concatenate((way[:-1], (way[1:] - way[:-1]) / self.tick), axis=1)
