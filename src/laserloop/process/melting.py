"""Melting: where an alloy melts, what heat that takes, and what the liquid is like.

Between solidus and liquidus the liquid's share rises in proportion to temperature, and with it properties and
latent heat. The melt is at rest and loses nothing: evaporation and flow are not modelled.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]

NARROWEST = 0.01  # K between solidus and liquidus; nearer, and the latent heat has no finite capacity
NOT_MODELLED = "evaporation and flow of the melt are not modelled"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Melting:
    """Two temperatures, a heat between them, and the liquid's properties; held above its last row."""

    source: str  # where the numbers come from
    solidus: float  # K
    liquidus: float  # K
    latent: float  # J/kg
    boiling: float  # K, above which nothing here is true
    T: FloatArray  # K, rising, of the rows below
    k: FloatArray  # W/mK
    rho: FloatArray  # kg/m³
    cp: FloatArray  # J/kgK

    def __post_init__(self) -> None:
        order = (self.solidus, self.liquidus, self.boiling)
        if not (0 < order[0] <= order[1] - NARROWEST and order[1] < order[2] < np.inf):
            raise BadInput(
                "solidus, liquidus and boiling point must rise, the first two by at least "
                f"{NARROWEST:g} K, got {order[0]:g}, {order[1]:g} and {order[2]:g} K: correct them"
            )
        if not (np.isfinite(self.latent) and self.latent > 0):
            raise BadInput(f"the latent heat must be positive, got {self.latent:g} J/kg: correct it")

    def fraction(self, T: ArrayLike) -> FloatArray:
        """The liquid's share, 0 to 1."""
        return np.asarray(np.clip((np.asarray(T) - self.solidus) / (self.liquidus - self.solidus), 0.0, 1.0))

    def carry_on(self, T: FloatArray, at_solidus: FloatArray, name: str) -> FloatArray:
        """A property of the liquid, or in proportion between the solid at the solidus and the liquid."""
        rows = getattr(self, name)
        melt = np.interp(T, self.T, rows)
        first = np.interp(self.liquidus, self.T, rows)
        share = self.fraction(T)
        return np.asarray(np.where(share < 1.0, at_solidus + share * (first - at_solidus), melt))

    def latent_capacity(self, T: ArrayLike) -> FloatArray:
        """What the latent heat adds to the heat capacity, J/kgK."""
        T = np.asarray(T, dtype=np.float64)
        inside = (self.solidus < T) & (self.liquidus > T)
        return np.where(inside, self.latent / (self.liquidus - self.solidus), 0.0)

    def knots(self) -> FloatArray:
        """Temperatures up to the boiling point where a property is not smooth."""
        rows = self.T[(self.liquidus < self.T) & (self.boiling > self.T)]
        return np.array([self.solidus, self.liquidus, *rows, self.boiling])

    def scale(self, *, k: float, cp: float) -> "Melting":
        """The same with conductivity and heat capacity multiplied; the latent heat stays."""
        return replace(self, k=k * self.k, cp=cp * self.cp)

    def numbers(self) -> dict[str, Any]:
        """All of it but the source, as a file has it."""
        return {
            "solidus_k": self.solidus,
            "liquidus_k": self.liquidus,
            "latent_heat_kj_kg": _round(1e-3 * self.latent),
            "boiling_k": self.boiling,
            "liquid": {
                "T_k": self.T.tolist(),
                "k_w_mk": [_round(value) for value in self.k],
                "rho_kg_m3": [_round(value) for value in self.rho],
                "cp_j_kgk": [_round(value) for value in self.cp],
            },
        }


def _round(value: float) -> float:
    return float(f"{value:.12g}")
