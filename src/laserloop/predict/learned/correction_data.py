"""What the correction learns from: along recorded ticks, the heat at the twin's peak and what was there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.paths.path import ScanPath
from laserloop.predict.learned.heat_features import describe_heat
from laserloop.predict.twin.peak import find_headings
from laserloop.predict.twin.rollout import follow_heat
from laserloop.process import Process

FloatArray = NDArray[np.float64]

NEAR = 0.15  # of ln u over the wanted one: the width of what counts around the window's middle
LEAST = 0.02  # weight below which a tick is left out


@dataclass(frozen=True, slots=True, eq=False)
class HeatSamples:
    """Features (n, features), u true over expected (n,), and how much each counts (n,)."""

    features: FloatArray
    ratio: FloatArray
    weight: FloatArray


def gather_samples(process: Process, path: ScanPath, power: ArrayLike, t_peak: FloatArray) -> HeatSamples:
    """From a path driven with one power, W, for each tick, whose peaks, K, were seen at their ends."""
    features, expected, wanted, seen = [], [], 0.0, np.empty(0)
    for part in follow_heat(process, path, power):
        twin = part.twin
        wanted = twin.wanted
        ends = path.positions[part.ticks.start : part.ticks.stop + 1]
        sigma = twin.body.sigma
        features.append(
            describe_heat(part.heat, part.places, find_headings(ends), sigma=sigma, wanted=wanted)
        )
        expected.append(part.heat.at(part.places))
        seen = np.append(seen, twin.table.theta_of(t_peak[part.ticks.start : part.ticks.stop]))
    return _keep(np.concatenate(features), np.concatenate(expected) / wanted, seen / wanted, path, power)


def join_samples(parts: list[HeatSamples]) -> HeatSamples:
    """All of them."""
    return HeatSamples(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in HeatSamples.__slots__)
    )


def _keep(
    features: FloatArray, expected: FloatArray, seen: FloatArray, path: ScanPath, power: ArrayLike
) -> HeatSamples:
    """The lit ticks that have settled and are near the window, where the beam was on before, too."""
    count = len(seen)
    lit = path.counted[:count] & (np.asarray(power)[:count] > 0.0)
    weight = np.exp(-0.5 * (np.log(np.maximum(seen, 1e-9)) / NEAR) ** 2)
    chosen = lit & (weight > LEAST) & (expected > 0.0)
    return HeatSamples(features[chosen], (seen / np.maximum(expected, 1e-9))[chosen], weight[chosen])
