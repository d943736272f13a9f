"""Power profiles: one value per tick, drawn from the paper's three excitation classes."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput

DEFAULT_POWER_MAX = 20.0  # W
HOLD = (5, 20)  # ticks, both included
MAX_TICKS = 10_000_000


class Excitation(StrEnum):
    """The class of a power profile; the value is its name for people."""

    PERSISTENT = "persistent"  # holds of 5–20 ticks: the slow thermal modes
    HF_RANDOM = "hf-random"  # a new amplitude each tick: the fast response
    BANG_BANG = "bang-bang"  # random switching between the limits: extreme transients


def parse_excitation(text: str) -> Excitation:
    """The excitation that `text` names."""
    try:
        return Excitation(text)
    except ValueError:
        raise BadInput(
            f"an excitation must be one of {', '.join(Excitation)}, but got {text!r}; choose one of these."
        ) from None


def draw_power(
    kind: Excitation | str,
    ticks: int,
    rng: np.random.Generator,
    *,
    power_max: float = DEFAULT_POWER_MAX,
    switch_probability: float = 0.3,
) -> NDArray[np.float64]:
    """Power in W for each of `ticks` ticks, between 0 and `power_max`.

    `switch_probability` belongs to bang-bang: the chance per tick to change sides; more of it is faster.
    """
    _check_settings(ticks, power_max, switch_probability)
    match parse_excitation(kind):
        case Excitation.PERSISTENT:
            return power_max * _draw_holds(ticks, rng)
        case Excitation.HF_RANDOM:
            return power_max * rng.random(ticks)
        case Excitation.BANG_BANG:
            return power_max * _draw_switches(ticks, rng, switch_probability)


def _draw_holds(ticks: int, rng: np.random.Generator) -> NDArray[np.float64]:
    shortest, longest = HOLD
    count = -(-ticks // shortest)
    durations = rng.integers(shortest, longest, size=count, endpoint=True)
    return np.repeat(rng.random(count), durations)[:ticks]


def _draw_switches(ticks: int, rng: np.random.Generator, probability: float) -> NDArray[np.float64]:
    changes = rng.random(ticks) < probability
    changes[0] = rng.random() < 0.5  # the first change decides the side to start on
    return (np.cumsum(changes) % 2).astype(np.float64)


def _check_settings(ticks: int, power_max: float, switch_probability: float) -> None:
    if not 1 <= ticks <= MAX_TICKS:
        raise BadInput(
            f"a power profile must have 1 to {MAX_TICKS} ticks, but {ticks} were asked for; stay within."
        )
    if not (np.isfinite(power_max) and power_max > 0):
        raise BadInput(
            f"the largest power must be positive and finite, but is {power_max} W; the default is 20 W."
        )
    if not 0 <= switch_probability <= 1:
        raise BadInput(
            f"the switch probability must be 0 to 1, but is {switch_probability}; give a chance per tick."
        )
