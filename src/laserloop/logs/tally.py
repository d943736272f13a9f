"""Which readings of a recording are bad: counted, and marked, but not repaired."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from laserloop.logs.recording import Readings

CREDIBLE = (50.0, 5000.0)  # K; colder or hotter is a broken pixel, not a plate
REPEATS = 5  # equal readings in a row, from which on they are called frozen
LATE = 1.5  # usual ages beyond which a reading is late


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """How many readings came, and what was wrong with them; `usable` marks those with nothing wrong."""

    readings: int
    lost: int  # that the cadence promises and that are not there
    late: int  # older than one that came before, or much older than usual
    nan: int
    saturated: int
    frozen: int
    usable: NDArray[np.bool_]  # (readings,)
    stale: NDArray[np.bool_]  # (readings,), frozen: says nothing new

    def to_json(self) -> dict[str, int]:
        """The counts."""
        return {
            name: getattr(self, name) for name in ("readings", "lost", "late", "nan", "saturated", "frozen")
        }


def count_faults(readings: Readings) -> Tally:
    """Judge every reading of a recording."""
    peak = readings.peak
    broken = ~np.isfinite(peak)
    with np.errstate(invalid="ignore"):
        saturated = readings.saturated | (peak > CREDIBLE[1])
        cold = ~broken & (peak < CREDIBLE[0])
    stale, late = find_frozen(peak), find_late(readings)
    return Tally(
        readings=len(readings),
        lost=count_lost(readings),
        late=int(late.sum()),
        nan=int(broken.sum() + cold.sum()),
        saturated=int(saturated.sum()),
        frozen=int(stale.sum()),
        usable=~(broken | cold | saturated | stale | late),
        stale=stale,
    )


def find_frozen(peak: NDArray[np.float64]) -> NDArray[np.bool_]:
    """All but the first of at least `REPEATS` equal readings in a row, broken ones between them or not."""
    frozen = np.zeros(len(peak), np.bool_)
    whole = np.flatnonzero(np.isfinite(peak))
    if not len(whole):
        return frozen
    changes = np.flatnonzero(np.diff(peak[whole]) != 0.0) + 1
    for first, end in pairwise((0, *changes.tolist(), len(whole))):
        if end - first >= REPEATS:
            frozen[whole[first + 1 : end]] = True
    return frozen


def find_late(readings: Readings) -> NDArray[np.bool_]:
    """Readings taken before one that has already arrived, or much older than usual."""
    taken = readings.taken
    known = np.isfinite(taken)
    late = np.zeros(len(taken), np.bool_)
    if not known.any():
        return late
    newest = np.maximum.accumulate(np.where(known, taken, -np.inf))
    late[1:] = known[1:] & (taken[1:] < newest[:-1])
    age = readings.arrived - taken
    usual, cadence = float(np.median(age[known])), find_cadence(readings)
    with np.errstate(invalid="ignore"):
        late |= known & (age > usual + LATE * cadence)
    return late


def find_cadence(readings: Readings) -> float:
    """The usual time between two readings, s; 0 of fewer than two."""
    return float(np.median(np.diff(readings.arrived))) if len(readings) > 1 else 0.0


def count_lost(readings: Readings) -> int:
    """Readings that are missing between others, by the usual time between two."""
    cadence = find_cadence(readings)
    if cadence <= 0.0:
        return 0
    return int(np.maximum(np.round(np.diff(readings.arrived) / cadence) - 1, 0).sum())
