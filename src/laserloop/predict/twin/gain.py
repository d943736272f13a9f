"""The few numbers that images correct, by one Kalman filter.

g  gain: what is measured over what is expected
e  ticks by which power is late          q  what a tick of that changes in the heat expected, of itself
d  ticks by which places are late        h  way of the beam in a tick, m
c  offset of the images, m

    measured / expected      = g (1 + q δe) + noise
    place seen − expected    = δc − δd h    + noise

Images alone tell what is late after the image: a stamp that is too young makes power and places late alike, a
slow laser the power, a slow scanner the places. Along one straight line c and d cannot be told apart; a turn
tells them.

g wanders by `walk` a tick and is known as 1 ± `prior` at the start. A reading outside the gate is a bad frame
and is left out; if the next one says the same, the plant has changed, and is believed.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from laserloop.process.keys import HEAT_RATIO

FloatArray = NDArray[np.float64]

G, E, D, X, Y = range(5)  # of the state
OFFSET = 0.7  # σ, standard deviation of c at the start
STAMP, LAG = 0.7, 0.7  # ticks: of what makes both late, and of either alone
DRIFT = 0.002  # σ and ticks, by which c, d and e may wander in a tick
MOST_LATE = 3.0  # ticks, either way
CRUDE = 0.2  # of e, by which one reading may tell it wrongly: a lag is no plain delay
ROUGH = 0.05  # σ, by which a place may be told wrongly, whatever the noise
TURNED = 0.3  # of what d may be wrong by: where the way turns, how places move with d is not known as well
FALL = 0.05  # of g, in one reading: smoke must not double the power
SURE = 3.0
DOUBT = 0.3  # ticks, by which each bad frame makes e less certain: a wrong e makes good ones look bad
FLAT = 0.02  # of the heat: a tick of delay that changes less tells nothing of e


@dataclass(frozen=True, slots=True, kw_only=True)
class GainSettings:
    """How much a reading is believed."""

    prior: float = 0.1  # standard deviation of g at the start; of an absorptivity that nobody measured
    walk: float = 0.003  # by which g may change in a tick; larger follows faster and is noisier
    floor: float = 0.01  # of a reading without noise: the twin's own error; less diverges if a lag is unknown
    gate: float = 6.0  # standard deviations beyond which a single reading is a bad frame


# Without noise in the way, changes at turns are followed at once: 778–782 K instead of 777.5–784 K on 304.
# Under an unknown lag of the laser that is no worse; with noise it would be.
EXACT = GainSettings(walk=0.01, floor=0.005)


class GainFilter:
    """Mean and covariance of g, e, d and c."""

    def __init__(
        self, settings: GainSettings, bounds: tuple[float, float] = HEAT_RATIO, sigma: float = 1e-4
    ) -> None:
        """`bounds`: of g; who reads less looks at no heated plate."""
        self._settings = settings
        self._bounds = bounds
        self._sigma = sigma
        self.reset()

    def reset(self) -> None:
        """As little as at the start is known."""
        self.state = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
        late, place = STAMP**2 + LAG**2, (OFFSET * self._sigma) ** 2
        self.covariance = np.diag([self._settings.prior**2, late, late, place, place])
        self.covariance[E, D] = self.covariance[D, E] = STAMP**2
        self._most = np.diag(self.covariance).copy()
        self.refused = 0  # readings left out so far
        self._outlier: float | None = None
        self._astray = False

    @property
    def gain(self) -> float:
        """g."""
        return float(self.state[G])

    @property
    def variance(self) -> float:
        """Of g."""
        return float(self.covariance[G, G])

    @property
    def between(self) -> float:
        """Ticks by which places are later than power, as far as that is sure."""
        P, value = self.covariance, float(self.state[D] - self.state[E])
        unsure = SURE**2 * float(P[D, D] + P[E, E] - 2.0 * P[D, E])
        return value * max(0.0, 1.0 - unsure / value**2) if value else 0.0

    def wait(self, ticks: int) -> None:
        """Let time pass."""
        wander = DRIFT * self._sigma
        drift = np.array([self._settings.walk, DRIFT, DRIFT, wander, wander])
        grown = np.diag(self.covariance) + ticks * drift**2
        np.fill_diagonal(self.covariance, np.minimum(grown, np.maximum(self._most, np.diag(self.covariance))))

    def read(self, ratio: float, noise: float, slope: float = 0.0) -> bool:
        """Take in a ratio of measured to expected, with its standard deviation; False if it is left out.

        `slope`: q, what a tick's delay of the power would change in what is expected, of itself.
        """
        s = self._settings
        slope *= max(0.0, 1.0 - (FLAT / slope) ** 2) if slope else 0.0
        crude = (CRUDE * slope) ** 2 * float(self.state[E] ** 2 + self.covariance[E, E])
        variance = noise**2 + s.floor**2 + crude
        H = np.array([1.0, self.gain * slope, 0.0, 0.0, 0.0])
        off = ratio - self.gain
        low, high = self._bounds
        if not ratio + s.gate * noise >= low:  # true of NaN; what reads too hot is believed in the end
            self.refused += 1
            return False
        near = abs(off) <= s.gate * sqrt(float(H @ self.covariance @ H) + variance)  # never true of NaN
        if not near:
            if not self._repeats(ratio, variance):
                self._outlier = ratio
                self.refused += 1
                self.covariance[E, E] = min(self.covariance[E, E] + DOUBT**2, self._most[E])
                return False
            self.covariance[G] = self.covariance[:, G] = 0.0
            self.covariance[G, G] = off * off
        self._outlier = None
        least = (1.0 - FALL) * self.state[G]
        self._take(H, off, variance)
        if self.state[G] < least:  # the rest may come with the next readings
            self.state[G] = least
            self.covariance[G, G] = max(self.covariance[G, G], off * off)
        self.state[G] = min(max(self.state[G], low), high)
        return True

    def place(self, off: FloatArray, hop: FloatArray, noise: float, turn: float = 0.0) -> FloatArray | None:
        """Take in by how much the spot lies off from where it is expected, m, ± `noise` along each axis.

        `turn`: m, by which `hop` differs from those of the ticks before. Returns how much of it is believed,
        m; None if it is far off and left out, but not twice in a row.
        """
        turned = (TURNED * turn) ** 2 * float(self.covariance[D, D])
        variance = noise**2 + (ROUGH * self._sigma) ** 2 + turned
        H = np.zeros((2, 5))
        H[0, X] = H[1, Y] = 1.0
        H[:, D] = -hop
        spread = np.einsum("ai,ij,aj->a", H, self.covariance, H)
        if not np.all(np.abs(off) <= self._settings.gate * np.sqrt(spread + variance)):
            self._astray = not self._astray
            if self._astray:
                self.refused += 1
                return None
            self.covariance[X:] = self.covariance[:, X:] = 0.0  # the camera was knocked
            self.covariance[X, X] = self.covariance[Y, Y] = float(off @ off)
        self._astray = False
        before = self.state
        for axis in (0, 1):
            self._take(H[axis], float(off[axis]) - float(H[axis] @ (self.state - before)), variance)
        return np.asarray(H @ (self.state - before))

    def _take(self, H: FloatArray, off: float, variance: float) -> None:
        """One number seen, by how much it is off, and its variance."""
        P = self.covariance
        weight = P @ H / (float(H @ P @ H) + variance)
        self.state = self.state + weight * off
        self.state[[E, D]] = np.clip(self.state[[E, D]], -MOST_LATE, MOST_LATE)
        self.covariance = P - np.outer(weight, P @ H)

    def _repeats(self, ratio: float, variance: float) -> bool:
        """Did the reading before say the same, or was it too hot as well?"""
        s = self._settings
        if self._outlier is None:
            return False
        same = s.gate * sqrt(2.0 * variance + s.walk**2)
        return min(ratio, self._outlier) > self.gain or abs(ratio - self._outlier) <= same
