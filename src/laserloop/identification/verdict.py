"""Whether a fit may be believed: what it leaves of the readings must be noise, and what it finds possible.

e  residuals over the share of a pixel's noise that each reading has, in the order of arrival      n  readings
whiteness = √n Σ e_i e_{i+1} / Σ e_i²      below 2.6 in logs that the model can tell, above 3.2 in others
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

FloatArray = NDArray[np.float64]

WHITE = 3.0  # standard deviations of whiteness
BINS = 8  # that residuals are averaged in, over time, power and temperature
CHANCE = 1e-4  # of one such row of means by noise alone
LOUD = 2.0  # times the noise that the process tells of
ROUGH = 0.1  # of the heat: noise beyond it hides what is wrong
ASTRAY = 0.35  # of the readings under the laser may be far off
EXACT = 2e-3  # of the heat: smaller residuals are as good as none
COLD, FREEZING = 2, 20.0  # readings so many K colder than the plate cannot be, nor by five times the noise
NONE = 1.0  # what machines write where they have no reading is not more
UNSETTLED = 0.5  # standard deviations of a last step


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was tested and what failed."""

    whiteness: float
    trends: dict[str, float]  # chance that means over time, power and temperature are noise
    reasons: tuple[str, ...]  # sentences without their full stop; none: the fit holds
    noise: float  # K

    @property
    def holds(self) -> bool:
        """May the values be used?"""
        return not self.reasons

    @property
    def sentence(self) -> str:
        """One line for people."""
        if self.holds:
            left = f"noise of {self.noise:.1f} K (whiteness {self.whiteness:.1f})"
            return f"the fit holds: what it leaves of the readings is {left}"
        return f"the fit does not hold: {'; '.join(self.reasons)}"

    def to_json(self) -> dict[str, Any]:
        """What was found."""
        return {
            "sentence": self.sentence,
            "reasons": list(self.reasons),
            "whiteness": self.whiteness,
            "whiteness_limit": WHITE,
            "chance": self.trends,
            "chance_limit": CHANCE,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What a verdict is taken from."""

    residuals: FloatArray  # (n,), K, over the share of each reading
    time: FloatArray  # (n,), s
    power: FloatArray  # (n,), W
    fitted: FloatArray  # (n,), K
    ambient: float  # K
    noise: float  # K, found
    told: float  # K, by the process; 0 if it does not say
    astray: float  # share of the readings under the laser that were far off
    whole: FloatArray  # K, all readings that came
    moved: float  # standard deviations, by which the last step would still have moved a parameter
    suspicious: tuple[str, ...] = ()  # sentences about values that cannot be, or logs that begin hot


def judge(seen: Evidence) -> Verdict:
    """Test a fit."""
    e = seen.residuals
    heat = float(np.median(seen.fitted)) - seen.ambient
    if float(np.sqrt(np.mean(e**2))) < EXACT * heat:  # a log without noise: what is left is arithmetic
        e = np.zeros_like(e)
    whiteness = find_whiteness(e)
    trends = {
        "time": test_trend(e, seen.time),
        "power": test_trend(e, seen.power),
        "temperature": test_trend(e, seen.fitted),
    }
    reasons = list(seen.suspicious)
    least = seen.ambient - max(FREEZING, 5.0 * seen.noise)
    cold = int(np.count_nonzero((seen.whole > NONE) & (seen.whole < least)))
    if cold >= COLD:
        reasons.append(
            f"{cold} readings are colder than the plate of {seen.ambient:g} K: are they in °C, or is "
            "ambient_k off?"
        )
    if seen.astray > ASTRAY:
        reasons.append(f"{seen.astray:.0%} of the readings under the laser are far from any fit")
    if seen.moved > UNSETTLED:
        reasons.append("the values had not settled")
    if seen.noise > ROUGH * heat:
        reasons.append(
            f"readings scatter by {seen.noise:.0f} K, more than a tenth of their {heat:.0f} K of heat"
        )
    if 0.0 < LOUD * seen.told < seen.noise:
        reasons.append(
            f"readings scatter by {seen.noise:.1f} K, but the process tells of {seen.told:g} K of noise"
        )
    if whiteness > WHITE:
        reasons.append(
            f"residuals follow each other (whiteness {whiteness:.1f}, at most {WHITE:g}): something acts "
            "that the model has not"
        )
    for name, chance in trends.items():
        if chance < CHANCE:
            reasons.append(f"residuals change with {name}")
    return Verdict(whiteness=whiteness, trends=trends, reasons=tuple(reasons), noise=seen.noise)


def find_whiteness(residuals: FloatArray) -> float:
    """Lag-1 autocorrelation times √n."""
    e = residuals - residuals.mean()
    power = float(e @ e)
    return float(e[1:] @ e[:-1]) / power * float(np.sqrt(len(e))) if power > 0.0 else 0.0


def test_trend(residuals: FloatArray, along: FloatArray) -> float:
    """The chance that means of residuals, in bins along something, differ as much from 0 by noise."""
    order = np.argsort(along, kind="stable")
    spread = float(np.std(np.diff(residuals[order]))) / np.sqrt(2.0)  # of neighbours: without the trend
    if spread <= 0.0:
        return 1.0
    means = [np.sqrt(len(part)) * part.mean() / spread for part in np.array_split(residuals[order], BINS)]
    return float(chi2.sf(np.square(means).sum(), BINS))
