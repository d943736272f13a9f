"""A plant that differs from what its process says: how a controller does when the numbers are wrong."""

from collections.abc import Mapping
from dataclasses import replace

from numpy.polynomial import Polynomial
from scipy.interpolate import PchipInterpolator

from laserloop.bad_input import BadInput, guess
from laserloop.process import Material, Process
from laserloop.process.material import Property

FACTORS = ("absorptivity", "conductivity", "heat-capacity", "emissivity", "laser-lag")
LAG = "laser-lag-us"  # a lag in µs, which is no factor: for a process that says there is none
LOWEST, HIGHEST = 0.1, 10.0
LONGEST_LAG = 1e5  # µs


def check_factors(factors: Mapping[str, float]) -> None:
    """Refuse a name that means nothing and a factor out of range."""
    for name, factor in factors.items():
        if name == LAG:
            _check_lag(factor, factors)
            continue
        if name not in FACTORS:
            raise BadInput(
                f"a mismatch must be one of {', '.join(FACTORS)} or {LAG}, got "
                f"{name[:40]!r}{guess(name, (*FACTORS, LAG))}: choose one"
            )
        if not LOWEST <= factor <= HIGHEST:
            raise BadInput(
                f"a factor of mismatch must lie between {LOWEST:g} and {HIGHEST:g}, got {factor:g} for "
                f"{name}: 0.9 is 10 % less than the process says"
            )


def _check_lag(lag: float, factors: Mapping[str, float]) -> None:
    if not 0.0 <= lag <= LONGEST_LAG:
        raise BadInput(f"{LAG} of a mismatch must be 0 to {LONGEST_LAG:g} µs, got {lag:g}: correct it")
    if "laser-lag" in factors:
        raise BadInput(f"a lag is a factor or a time, but laser-lag and {LAG} are both given: drop one")


def mismatch(process: Process, factors: Mapping[str, float]) -> Process:
    """The process as it really is; absorptivity and emissivity are not part of it, see `PlantSettings`."""
    check_factors(factors)
    k, cp = factors.get("conductivity", 1.0), factors.get("heat-capacity", 1.0)
    material = scale_material(process.material, k=k, cp=cp)
    lag = process.laser.lag * factors.get("laser-lag", 1.0) if LAG not in factors else 1e-6 * factors[LAG]
    return replace(process, material=material, laser=replace(process.laser, lag=lag))


def scale_material(material: Material, *, k: float, cp: float) -> Material:
    """The same alloy with conductivity and heat capacity multiplied."""
    if k == cp == 1.0:
        return material
    melting = None if material.melting is None else material.melting.scale(k=k, cp=cp)
    return replace(material, k=_scale(material.k, k), cp=_scale(material.cp, cp), melting=melting)


def _scale(curve: Property, factor: float) -> Property:
    if isinstance(curve, Polynomial):
        return curve * factor
    return PchipInterpolator(curve.x, factor * curve(curve.x), extrapolate=False)
