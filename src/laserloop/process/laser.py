"""The laser: what it can give, and how fast it follows its command."""

from dataclasses import dataclass
from math import exp

from laserloop.bad_input import BadInput, is_finite, show


@dataclass(frozen=True, slots=True, kw_only=True)
class Laser:
    """Power limits, and a first-order lag: Ṗ = (command − P)/τ."""

    power: tuple[float, float] = (0.0, 20.0)  # W
    lag: float = 0.0  # τ, s; 0 follows at once

    def __post_init__(self) -> None:
        pair = self.power if isinstance(self.power, tuple | list) and len(self.power) == 2 else (1, 0)
        if not (all(is_finite(limit) for limit in pair) and 0 <= pair[0] < pair[1]):
            told = show(self.power) if not isinstance(self.power, tuple | list) else self.power
            raise BadInput(
                f"the laser's power must be two numbers from 0 W on, low before high, got {told}: "
                "correct them"
            )
        if not (is_finite(self.lag) and self.lag >= 0):
            raise BadInput(
                f"the laser's lag must be a finite time of at least 0 s, got {show(self.lag)}: correct it"
            )

    def follow(self, power: float, command: float, tick: float) -> tuple[float, float]:
        """What it gives on average during a tick that begins at `power`, and at its end, W."""
        if self.lag == 0.0:
            return command, command
        left = exp(-tick / self.lag)
        mean = command + (power - command) * (1.0 - left) * self.lag / tick
        return mean, command + (power - command) * left
