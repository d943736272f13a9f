"""A plant that differs from what its process says: how a controller does when the numbers are wrong."""

from collections.abc import Mapping
from dataclasses import replace

from numpy.polynomial import Polynomial
from scipy.interpolate import PchipInterpolator

from laserloop.bad_input import BadInput
from laserloop.process import Material, Process
from laserloop.process.material import Property

FACTORS = ("absorptivity", "conductivity", "heat-capacity", "emissivity", "laser-lag")
LOWEST, HIGHEST = 0.1, 10.0


def check_factors(factors: Mapping[str, float]) -> None:
    """Refuse a name that means nothing and a factor out of range."""
    for name, factor in factors.items():
        if name not in FACTORS:
            raise BadInput(f"a mismatch must be one of {', '.join(FACTORS)}, got {name[:40]!r}: choose one")
        if not LOWEST <= factor <= HIGHEST:
            raise BadInput(
                f"a factor of mismatch must lie between {LOWEST:g} and {HIGHEST:g}, got {factor:g} for "
                f"{name}: 0.9 is 10 % less than the process says"
            )


def mismatch(process: Process, factors: Mapping[str, float]) -> Process:
    """The process as it really is; absorptivity and emissivity are not part of it, see `PlantSettings`."""
    check_factors(factors)
    k, cp = factors.get("conductivity", 1.0), factors.get("heat-capacity", 1.0)
    material = scale_material(process.material, k=k, cp=cp)
    lag = process.laser.lag * factors.get("laser-lag", 1.0)
    return replace(process, material=material, laser=replace(process.laser, lag=lag))


def scale_material(material: Material, *, k: float, cp: float) -> Material:
    """The same alloy with conductivity and heat capacity multiplied."""
    if k == cp == 1.0:
        return material
    return replace(material, k=_scale(material.k, k), cp=_scale(material.cp, cp))


def _scale(curve: Property, factor: float) -> Property:
    if isinstance(curve, Polynomial):
        return curve * factor
    return PchipInterpolator(curve.x, factor * curve(curve.x), extrapolate=False)
