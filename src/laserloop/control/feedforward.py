"""Feed-forward: less power where the beam comes back to where it has just been. No camera needed.

D_k = Σ_j exp(−(t_k − t_j)/τ) exp(−|ξ_k − ξ_j|²/2r²)      dwell, over the lit ticks j before k
P_k = P₀ (1 − κ (D_k/D_line − 1)), D_line the dwell of a straight line at the same speed that was lit as long
"""

from dataclasses import dataclass

import numpy as np

from laserloop.control.action import Action, Status
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image

MEMORY = 6.0  # of τ; what is older has e⁻⁶ of its weight


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedforwardGains:
    """Found by `tune_feedforward` for one plant and window."""

    power: float  # P₀, W, what a straight line needs
    relief: float  # κ; larger takes more away where the path comes back
    memory: float  # τ, s, how long a place stays warm
    reach: float  # r, m, how far its warmth goes


class FeedforwardController:
    """Scales the power by the local dwell of the path, and looks at nothing else."""

    name = "feedforward"
    horizon = 1
    memory = 0

    def __init__(self, gains: FeedforwardGains, power: tuple[float, float]) -> None:
        self.gains = gains
        self._power = power
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._way: list[tuple[float, float]] = []
        self._lit: list[bool] = []

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Decide the power of the coming tick."""
        gains = self.gains
        now, target = preview.ahead[0], preview.ahead[1]
        self._way.append((float(now[0]), float(now[1])))
        self._lit.append(bool(preview.lit[0]))
        first = -max(1, int(MEMORY * gains.memory / preview.tick))
        self._way, self._lit = self._way[first:], self._lit[first:]
        past, lit = np.array(self._way[::-1]), np.array(self._lit[::-1])
        ages = np.arange(1, len(past) + 1)
        fading = np.exp(-ages * preview.tick / gains.memory)
        hop = float(np.hypot(*(target - now)))
        dwell = (lit * fading) @ np.exp(-np.sum((past - target) ** 2, axis=1) / (2 * gains.reach**2))
        since = max(1, int(np.argmin(np.append(lit, False))))  # ticks that the laser has been on
        line = fading[:since] @ np.exp(-((ages[:since] * hop) ** 2) / (2 * gains.reach**2))
        wanted = gains.power * (1.0 - gains.relief * (dwell / line - 1.0))
        low, high = self._power
        return Action(power=float(min(max(wanted, low), high)), status=Status.SOLVED)
