"""What the plate does over what the twin expects of it, tick by tick: learned from a simulation of the plan.

u  ∫k dT from ambient, W/m; the twin's gain is a factor of it
"""

import ctypes
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from laserloop.native.engine import address
from laserloop.native.twin_player import TwinPlayer
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]

LIMITS = 0.5, 2.0  # of a factor: where a line begins the plate is cold, and a ratio means little
ROUND = 0.75, 1.3  # of its change in a round: what is missed after a miss is not all a tick's own
LEAST_SHARE = 0.2  # of a miss that a round takes up
HOTTEST = 3.0  # times u of the window's top that temperatures are converted up to,
KNOTS = 4096  # interpolated between so many


class TaughtPlayer(TwinPlayer):
    """A twin that can be told its gain anew before every tick."""

    def trust(self, factor: float) -> None:
        """From now on take so many times the gain that it was built with."""
        self._library.laserloop_trust(address(self._memory), ctypes.c_double(factor * self._gain))


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Factors of the twin's u along one layer, and what the last change of them made of the miss."""

    process: Process
    factor: FloatArray  # (ticks,)
    missed: FloatArray | None = None  # (ticks,), ln u found over expected, before the factor was last changed
    share: FloatArray | None = None  # (ticks,), of that which the change took up

    def apply(self, temperature: FloatArray, first: int) -> FloatArray:
        """What the twin expects of the ticks from `first` on, K, corrected."""
        u, T = _tabulate(self.process)
        factor = self.factor[first : first + len(temperature)]
        return np.interp(factor * np.interp(temperature, T, u), u, T)

    def improve(
        self, expected: FloatArray, found: FloatArray, lit: NDArray[np.bool_], part: float = 1.0
    ) -> "Correction":
        """The factors with which the twin would have expected what was found in lit ticks, K; `part` of it.

        Where the last change of a factor turned its miss around, the next takes the share up that would have
        been right (secant): a plate that melts answers a watt more than the twin, and would be missed on
        either side in turn for ever.
        """
        u, T = _tabulate(self.process)
        least = u[1]
        missed = np.log(
            np.maximum(np.interp(found, T, u), least) / np.maximum(np.interp(expected, T, u), least)
        )
        share = np.ones(len(missed))
        if self.missed is not None and self.share is not None:
            turned = self.missed * missed < 0
            span = np.where(turned, np.abs(self.missed) + np.abs(missed), 1.0)
            share = np.where(turned, self.share * np.abs(self.missed) / span, self.share)
            share = np.maximum(share, LEAST_SHARE)
        share = part * share
        factor = np.clip(self.factor * np.clip(np.exp(share * missed), *ROUND), *LIMITS)
        return replace(self, factor=np.where(lit, factor, 1.0), missed=missed, share=share)


@lru_cache(maxsize=4)
def _tabulate(process: Process) -> tuple[FloatArray, FloatArray]:
    """u and T, both rising."""
    table = tabulate(process.material, process.ambient)
    top = float(table.theta_of(np.array([process.window[1]]))[0])
    u = np.linspace(0.0, HOTTEST * top, KNOTS)
    return u, table.temperature_of(u)
