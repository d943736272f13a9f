"""Heat table: the material as the solver sees it, one smooth curve H(θ) and its way back to T.

T  temperature, K      θ  ∫k dT from ambient, W/m      H  ∫ρc dT from ambient, J/m³

With θ as unknown the heat equation is ∂H(θ)/∂t = ∇²θ: conduction is linear and the material enters only
through dH/dθ = ρc/k. Both H(θ) and T(θ) are quadratic pieces on a uniform grid of θ.
Outside the material's range they go on linearly, which is what properties held at the limit mean.
An alloy that melts has more pieces of the same step, up to its boiling point; where it melts, H(θ) is steep.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.process.material import Material

FloatArray = NDArray[np.float64]

RIGHT = 1e-9  # K
MOST_CELLS = 200_000  # with the melt
CELLS = 2048  # 304 steel: H(θ) and T(θ) exact to 3e-7 K (tests/process/test_heat_table.py)


@dataclass(frozen=True, slots=True, eq=False)
class HeatTable:
    """Quadratic pieces; piece j+1 serves θ from low + j·step to low + (j+1)·step; the ends are linear."""

    ambient: float  # K, where θ = H = 0
    low: float  # θ of the first knot
    per_step: float  # 1 / step of θ
    heat: FloatArray  # (cells + 2, 3) coefficients of H, lowest power first, in units of the step
    temperature: FloatArray  # the same for T
    stiffest: float  # the largest dH/dθ = ρc/k of the solid, s/m²

    def temperature_of(self, theta: FloatArray) -> FloatArray:
        """T(θ)."""
        return self._evaluate(self.temperature, theta)

    def heat_of(self, theta: FloatArray) -> FloatArray:
        """H(θ)."""
        return self._evaluate(self.heat, theta)

    def theta_of(self, temperature: FloatArray) -> FloatArray:
        """θ(T), by Newton on T(θ), which is monotone."""
        theta = np.asarray((temperature - self.ambient) / (self.temperature[1, 1] * self.per_step))
        for _ in range(60):
            error = self.temperature_of(theta) - temperature
            theta = theta - error / self._slope(self.temperature, theta)
            if np.all(np.abs(error) < 1e-10):
                return np.asarray(theta)
        raise BadInput(
            "temperatures must be finite and near the material's range to be converted: correct them"
        )

    def stiffness_of(self, theta: FloatArray) -> FloatArray:
        """dH/dθ = ρc/k, s/m²."""
        return self._slope(self.heat, theta)

    def by_heat(self) -> tuple[FloatArray, float, float]:
        """θ(H) in quadratic pieces (3, n) as above but of equal H; H of the first knot, and pieces per H."""
        knots, ends = self.low + np.arange(len(self.heat) - 1) / self.per_step, self.heat[1:, 0]
        step = float(ends[CELLS] - ends[0]) / CELLS  # in the solid as many as there
        heat = ends[0] + step * np.arange(int((ends[-1] - ends[0]) / step) + 1)
        theta = np.interp(heat, ends, knots)
        for _ in range(8):
            off = (self.heat_of(theta) - heat) / self.stiffness_of(theta)
            theta = np.clip(theta - off, knots[0], knots[-1])
        pieces = _quadratics(theta, step / self.stiffness_of(theta))
        part, zero = np.modf(-heat[0] / step)
        pieces[:, 0] -= pieces[int(zero) + 1] @ (1.0, part, part * part)  # no heat is exactly no rise
        return np.ascontiguousarray(pieces.T), float(heat[0]), 1.0 / step

    @property
    def ambient_capacity(self) -> float:
        """ρc at ambient temperature, J/m³K: turns residuals of H into kelvin."""
        zero = np.zeros(1)
        return float((self._slope(self.heat, zero) / self._slope(self.temperature, zero))[0])

    def _locate(self, theta: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
        place = (theta - self.low) * self.per_step
        piece = np.clip(np.floor(place), -1, len(self.heat) - 2).astype(np.int64)
        return piece + 1, place - np.maximum(piece, 0)

    def _evaluate(self, pieces: FloatArray, theta: FloatArray) -> FloatArray:
        piece, f = self._locate(theta)
        c = pieces[piece]
        return c[..., 0] + f * (c[..., 1] + f * c[..., 2])

    def _slope(self, pieces: FloatArray, theta: FloatArray) -> FloatArray:
        piece, f = self._locate(theta)
        c = pieces[piece]
        return (c[..., 1] + f * 2 * c[..., 2]) * self.per_step


@lru_cache(maxsize=8)  # of one material each: whoever asks for it gets the same
def tabulate(material: Material, ambient: float, cells: int = CELLS) -> HeatTable:
    """Integrate a material from `ambient` into a heat table over its range of validity."""
    if not (np.isfinite(ambient) and ambient > 0):
        raise BadInput(f"ambient temperature must be positive kelvin, got {ambient}: correct it")
    solid = _Integrals(material, (*material.valid, ambient), material.knots())
    low, high = solid.at(np.array(material.valid))[:, 0]
    theta = np.linspace(low, high, cells + 1)
    T = solid.invert(theta)
    step = theta[1] - theta[0]
    heat, capacity, k = solid.at(T)[:, 1], material.apparent_capacity(T), material.conductivity(T)
    slopes = _quadratics(heat, capacity / k * step)[:, 1] / step
    if material.melting is not None:
        melt = _Integrals(material, (material.valid[1], material.last), material.melting.knots())
        more = _check_cells(melt.sums[-1, 0] / step, material)
        beyond = melt.invert(step * np.arange(1, more + 1))
        heat = np.concatenate((heat, heat[-1] + melt.at(beyond)[:, 1]))
        T = np.concatenate((T, beyond))
        right = np.concatenate((T[:cells], T[cells:] + RIGHT))  # beside a kink its right side counts
        capacity, k = material.apparent_capacity(right), material.conductivity(right)
    table = HeatTable(
        ambient=ambient,
        low=float(low),
        per_step=float(1.0 / step),
        heat=_quadratics(heat, capacity / k * step),
        temperature=_quadratics(T, step / k),
        stiffest=float(slopes.max()),
    )
    table.heat[:, 0] -= table.heat_of(np.zeros(1))  # so that a plate at rest holds exactly no heat
    table.temperature[:, 0] += ambient - table.temperature_of(np.zeros(1))
    return table


def _check_cells(wanted: float, material: Material) -> int:
    if wanted > MOST_CELLS:
        raise BadInput(
            f"the melt of material {material.name} spans {wanted / CELLS:.0f} times the ∫k dT of its solid, "
            f"more than {MOST_CELLS // CELLS}: widen `valid` or correct `melting`"
        )
    return int(np.ceil(wanted))


def _quadratics(value: FloatArray, slope: FloatArray) -> FloatArray:
    """Pieces with exact ends and exact first slope; a linear one before the first and after the last."""
    rise, first = np.diff(value), slope[:-1].copy()
    first = np.where(first < 2.0 * rise, first, rise)  # a piece that would bend over becomes a straight line
    inner = np.stack((value[:-1], first, rise - first), axis=1)
    before = (value[0], slope[0], 0.0)
    after = (value[-1], slope[-1], 0.0)
    return np.vstack((before, inner, after))


class _Integrals:
    """θ(T) and H(T) from a start, by Gauss–Legendre between knots, exact for the shipped polynomials."""

    def __init__(self, material: Material, span: tuple[float, ...], knots: FloatArray) -> None:
        """`span`: K, lowest and highest temperature and, if not the lowest, where the integrals start."""
        self.material = material
        self.span = span[0], span[1]
        fine = np.linspace(*self.span, 1025)
        self.knots = np.unique(np.concatenate((fine, knots, span[2:])))
        pieces = self._between(self.knots[:-1], self.knots[1:])
        self.sums = np.vstack((np.zeros(2), np.cumsum(pieces, axis=0)))
        self.sums -= self.sums[np.searchsorted(self.knots, span[2] if len(span) > 2 else span[0])]

    def at(self, T: FloatArray) -> FloatArray:
        """(n, 2): θ and H at each temperature."""
        left = np.clip(np.searchsorted(self.knots, T, side="right") - 1, 0, len(self.knots) - 1)
        return self.sums[left] + self._between(self.knots[left], T)

    def invert(self, theta: FloatArray) -> FloatArray:
        """T at which ∫k dT = θ."""
        T = np.interp(theta, self.sums[:, 0], self.knots)
        for _ in range(4):
            step = (self.at(T)[:, 0] - theta) / self.material.conductivity(T)
            T = np.clip(T - step, *self.span)
        return np.asarray(T)

    def _between(self, a: FloatArray, b: FloatArray) -> FloatArray:
        nodes, weights = np.polynomial.legendre.leggauss(6)
        T = 0.5 * (a + b)[:, None] + 0.5 * (b - a)[:, None] * nodes
        m = self.material
        heat = m.apparent_capacity(T)
        return 0.5 * (b - a)[:, None] * np.stack((m.conductivity(T) @ weights, heat @ weights), axis=1)
