"""What is fitted: factors on a process, a gain of the readings, and the camera's delay.

Conductivity, heat capacity and absorptivity times one number leave every temperature as it is, so of these
three peaks tell two. Conductivity stays as the process has it; diffusivity is changed through heat capacity.
"""

from collections.abc import Mapping
from dataclasses import replace

from laserloop.bad_input import BadInput
from laserloop.plant.mismatch import scale_material
from laserloop.process import Process

FACTORS = ("absorptivity", "diffusivity", "sigma", "gain")  # fitted as logarithms
NAMES = (*FACTORS, "delay")
OF_HEAT = ("absorptivity", "diffusivity", "sigma")  # change the temperatures, not only how they are read
USUAL = ("absorptivity", "diffusivity", "sigma", "delay")


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a name that means nothing; in the order of `NAMES`."""
    for name in names:
        if name not in NAMES:
            raise BadInput(
                f"what is fitted must be some of {', '.join(NAMES)}, but got {name[:40]!r}; choose"
            )
    if not any(name in OF_HEAT for name in names):
        raise BadInput(f"at least one of {', '.join(OF_HEAT)} must be fitted, but none is; add one")
    return tuple(name for name in NAMES if name in names)


def apply(process: Process, factors: Mapping[str, float]) -> Process:
    """The process with absorptivity, diffusivity and sigma multiplied.

    More than all of the power cannot be absorbed: beyond 1, conductivity and heat capacity are less instead,
    which is the same to every temperature.
    """
    absorptivity = process.beam.absorptivity * factors.get("absorptivity", 1.0)
    beyond = max(absorptivity, 1.0)
    cp = 1.0 / (beyond * factors.get("diffusivity", 1.0))
    return replace(
        process,
        material=scale_material(process.material, k=1.0 / beyond, cp=cp),
        beam=replace(
            process.beam,
            absorptivity=absorptivity / beyond,
            sigma=process.beam.sigma * factors.get("sigma", 1.0),
        ),
    )
