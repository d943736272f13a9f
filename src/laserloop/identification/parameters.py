"""What is fitted: factors on a process, a gain of the readings, what is late, and where images lie.

Conductivity, heat capacity and absorptivity times one number leave every temperature as it is, so of these
three peaks tell two. Conductivity stays as the process has it; diffusivity is changed through heat capacity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.process import Process
from laserloop.process.process import scale_material

FACTORS = ("absorptivity", "diffusivity", "sigma", "gain")  # fitted as logarithms
MISPLACED = 0.05  # σ, by which the plant may tell a place wrongly, whatever the noise
SURE = 0.1  # σ, standard error of an offset above which it is not told
DELAYS = 300  # ticks, the most that is looked for: cameras are up to 30 ms late
LAG = "laser_lag_us"  # fitted in times that the beam takes for σ: it may be 0, which no factor reaches
SCANNER = "scanner_late_ticks"  # fitted in the same unit
OFFSETS = ("offset_x_um", "offset_y_um")  # of the camera's images; fitted in σ
AMBIENT = "ambient_k"  # of the plate before the laser; fitted as a difference, K
NAMES = (*FACTORS, "delay", LAG, AMBIENT, SCANNER, *OFFSETS)
SENSOR = (
    "sensor"  # 1 if a reading is the maximum of a camera's pixels, 0 if it is a pyrometer's; never reported
)
TRAIL = "trail"  # σ, by which the plant may tell wrongly how far a peak is behind the beam; never reported
OF_HEAT = ("absorptivity", "diffusivity", "sigma")  # change the temperatures, not only how they are read
CHANGE_HEAT = (*OF_HEAT, LAG, AMBIENT, SCANNER)
DEFAULTS = ("absorptivity", "diffusivity", "sigma", "delay")
WITH_PLACES = (*DEFAULTS, LAG, SCANNER, *OFFSETS)  # the usual ones of a log that says where peaks were seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a parameter may go: a logarithm of a factor, ticks, times that the beam takes for σ, or σ."""

    prior: float  # standard deviation of what a process file says
    held: bool = True  # to what the process says, where readings say nothing?
    sure: float  # standard error above which readings say hardly anything of it
    low: float  # where the fit ends, whatever readings say
    high: float
    farthest: float  # in one step
    usual: float  # change that matters
    slope: float = 0.0  # to either side, for slopes of the heat


_FACTOR = Reach(prior=0.5, sure=0.25, low=-1.6, high=1.6, farthest=0.4, usual=0.05, slope=0.02)
_OFFSET = Reach(prior=10.0, held=False, sure=SURE, low=-10.0, high=10.0, farthest=5.0, usual=0.1)
REACHES = {
    **dict.fromkeys(FACTORS, _FACTOR),
    "sigma": replace(_FACTOR, low=-0.7, high=0.7),  # a grid for less is finer and takes for ever
    "delay": Reach(prior=DELAYS, held=False, sure=10.0, low=-0.5, high=DELAYS + 1.0, farthest=1.5, usual=0.5),
    LAG: Reach(prior=0.4, sure=0.2, low=0.0, high=20.0, farthest=0.6, usual=0.2, slope=0.04),
    AMBIENT: Reach(prior=20.0, sure=10.0, low=-100.0, high=300.0, farthest=50.0, usual=5.0, slope=2.0),
    SCANNER: Reach(prior=0.4, sure=0.2, low=-2.0, high=2.0, farthest=0.6, usual=0.2, slope=0.1),
    **dict.fromkeys(OFFSETS, _OFFSET),
    TRAIL: Reach(prior=MISPLACED, sure=np.inf, low=-1.0, high=1.0, farthest=1.0, usual=MISPLACED),
    SENSOR: Reach(prior=0.5, sure=np.inf, low=-2.0, high=3.0, farthest=2.0, usual=0.5),
}


def check_names(names: tuple[str, ...], *, alone: bool = True) -> tuple[str, ...]:
    """Refuse a name that means nothing; in the order of `NAMES`. Are these `alone` what is fitted?"""
    for name in names:
        if name not in NAMES:
            raise BadInput(
                f"what is fitted must be some of {', '.join(NAMES)}, but got {name[:40]!r}; choose"
            )
    if alone and not any(name in OF_HEAT for name in names):
        raise BadInput(f"at least one of {', '.join(OF_HEAT)} must be fitted, but none is; add one")
    both = OFFSETS if any(name in OFFSETS for name in names) else ()
    return tuple(name for name in NAMES if name in (*names, *both))


def apply(
    process: Process, factors: Mapping[str, float], lag: float | None = None, warmer: float = 0.0
) -> Process:
    """The process with some of its numbers multiplied, another lag of the laser, s, and a warmer plate, K.

    More than all of the power cannot be absorbed: beyond 1, conductivity and heat capacity are less instead,
    which is the same to every temperature.
    """
    absorptivity = process.beam.absorptivity * factors.get("absorptivity", 1.0)
    beyond = max(absorptivity, 1.0)
    cp = 1.0 / (beyond * factors.get("diffusivity", 1.0))
    return replace(
        process,
        ambient=process.ambient + warmer,
        material=scale_material(process.material, k=1.0 / beyond, cp=cp),
        beam=replace(
            process.beam,
            absorptivity=absorptivity / beyond,
            sigma=process.beam.sigma * factors.get("sigma", 1.0),
        ),
        laser=process.laser if lag is None else replace(process.laser, lag=lag),
    )
