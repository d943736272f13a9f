"""The exact solution of melting and freezing: Neumann's, of the one- and the two-phase Stefan problem.

λ  how fast the front goes      α₁, k₁  of the phase beside the face      α₂, k₂  of the other
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import erf, erfc, erfcx

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stefan:
    """Neumann's solution: a half-space of one phase whose face is suddenly held beyond the melting point.

    The new phase, beside the face at depth 0, grows into the old one as s = 2λ√(α₁t). With the body at the
    melting point to begin with this is the one-phase problem. It serves melting and freezing alike.
    """

    face: float  # K, of the face from t = 0 on
    melting: float  # K
    body: float  # K, at first and far away
    conductivity: tuple[float, float]  # W/mK, of the new and of the old phase
    capacity: float  # ρc, J/m³K, of both
    latent: float  # J/m³

    def __post_init__(self) -> None:
        for value in (self.capacity, self.latent, *self.conductivity):
            if not (np.isfinite(value) and value > 0):
                raise BadInput(
                    f"capacity, latent heat and conductivities must be positive, got {value}: correct it"
                )
        drop, rest = self.face - self.melting, self.melting - self.body
        if drop == 0 or drop * rest < 0:
            raise BadInput(
                f"the melting point must lie between face and body, got {self.face}, {self.melting} and "
                f"{self.body} K: correct them"
            )

    @property
    def rate(self) -> float:
        """λ, the root of k₁ΔT₁ e^{−λ²}/erf λ = k₂ΔT₂ √(α₁/α₂) e^{−λ²α₁/α₂}/erfc(λ√(α₁/α₂)) + √π Lα₁λ."""
        new, old = self.conductivity
        ratio = np.sqrt(new / old)  # √(α₁/α₂)
        drop, rest = abs(self.face - self.melting), abs(self.melting - self.body)
        latent = np.sqrt(np.pi) * self.latent * new / self.capacity

        def excess(x: float) -> float:
            taken = old * rest * ratio / erfcx(x * ratio)
            return float(new * drop * np.exp(-(x**2)) / erf(x) - taken - latent * x)

        return float(brentq(excess, 1e-12, 10.0, xtol=1e-14))

    def front(self, t: ArrayLike) -> FloatArray:
        """Depth of the front, m."""
        alpha = self.conductivity[0] / self.capacity
        return np.asarray(2.0 * self.rate * np.sqrt(alpha * np.asarray(t, dtype=np.float64)))

    def temperature(self, depth: ArrayLike, t: float) -> FloatArray:
        """T at a depth, m, and a time after 0, K."""
        depth = np.asarray(depth, dtype=np.float64)
        new, old = (k / self.capacity for k in self.conductivity)
        root = self.rate
        near = erf(depth / np.sqrt(4 * new * t)) / erf(root)
        far = erfc(depth / np.sqrt(4 * old * t)) / erfc(root * np.sqrt(new / old))
        behind = self.face + (self.melting - self.face) * near
        beyond = self.body + (self.melting - self.body) * far
        return np.asarray(np.where(depth < self.front(t), behind, beyond))

    def flux(self, t: float) -> float:
        """Heat through the face into the body, W/m²."""
        alpha = self.conductivity[0] / self.capacity
        slope = (self.face - self.melting) / (erf(self.rate) * np.sqrt(np.pi * alpha * t))
        return float(self.conductivity[0] * slope)
