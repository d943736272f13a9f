"""The one number that is fed back, by a scalar Kalman filter: g, what is measured over what is expected.

g wanders by `walk` a tick and is known as 1 ± `prior` at the start. A reading outside the gate is a bad frame
and is left out; if the next one says the same, the plant has changed, and is believed.
"""

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True, kw_only=True)
class GainSettings:
    """How much a reading is believed."""

    prior: float = 0.1  # standard deviation of g at the start; of an absorptivity that nobody measured
    walk: float = 0.003  # by which g may change in a tick; larger follows faster and is noisier
    floor: float = 0.01  # of a reading without noise: the twin's own error; less diverges if a lag is unknown
    gate: float = 6.0  # standard deviations beyond which a single reading is a bad frame
    bounds: tuple[float, float] = (0.2, 5.0)  # of g, whatever is read


# Without noise in the way, changes at turns are followed at once: 778–782 K instead of 777.5–784 K on 304.
# Under an unknown lag of the laser that is no worse; with noise it would be.
EXACT = GainSettings(walk=0.01, floor=0.005)


class GainFilter:
    """Mean and variance of g."""

    def __init__(self, settings: GainSettings) -> None:
        self._settings = settings
        self.reset()

    def reset(self) -> None:
        """As little as at the start is known."""
        self.gain = 1.0
        self.variance = self._settings.prior**2
        self.refused = 0  # readings left out so far
        self._outlier: float | None = None

    def wait(self, ticks: int) -> None:
        """Let time pass."""
        most = self._settings.prior**2
        self.variance = min(self.variance + ticks * self._settings.walk**2, max(most, self.variance))

    def read(self, ratio: float, noise: float) -> bool:
        """Take in a ratio of measured to expected, with its standard deviation; False if it is left out."""
        s = self._settings
        variance = noise**2 + s.floor**2
        near = abs(ratio - self.gain) <= s.gate * sqrt(self.variance + variance)  # never true of NaN
        if not near:
            if not self._repeats(ratio, variance):
                self._outlier = ratio
                self.refused += 1
                return False
            self.variance = (ratio - self.gain) ** 2
        self._outlier = None
        weight = self.variance / (self.variance + variance)
        self.gain = min(max(self.gain + weight * (ratio - self.gain), s.bounds[0]), s.bounds[1])
        self.variance *= 1.0 - weight
        return True

    def _repeats(self, ratio: float, variance: float) -> bool:
        """Did the reading before say the same?"""
        s = self._settings
        return self._outlier is not None and abs(ratio - self._outlier) <= s.gate * sqrt(
            2.0 * variance + s.walk**2
        )
