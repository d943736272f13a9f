"""Exact solutions of the heat equation under a moving beam.

P  absorbed power, W      σ  standard deviation of the beam, m      v  speed of the beam, m/s
k  conductivity, W/mK     α  diffusivity k/(ρc), m²/s               h  thickness of the plate, m
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad_vec
from scipy.optimize import minimize, minimize_scalar

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-11  # of the largest rise asked for,
FLOOR = 1e-14  # or of the rise under a beam at rest
FOREVER = 40.0  # in q = asinh(√(2ατ)/σ): what was absorbed before weighs 1/cosh q < 1e-17
PANELS = 48  # to begin with; sees the narrow past of points 10⁴ σ behind the beam
GAUSS = np.polynomial.legendre.leggauss(6)
STRIDE = 0.5  # beam widths that the beam moves, and q that passes, in one panel of these nodes at most
SEARCH = 0.25  # beam widths between the places at which the search for a peak may begin
SHORT = 0.1  # ατ/h² below which image sources, above which cosine modes, need fewest terms


class Peak(NamedTuple):
    """The hottest point in the frame of the beam."""

    rise: float  # K above ambient
    behind: float  # m behind the centre of the beam


def moving_gaussian(
    points: ArrayLike,
    time: float,
    *,
    power: float,
    velocity: tuple[float, float],
    sigma: float,
    conductivity: float,
    diffusivity: float,
    start: tuple[float, float] = (0.0, 0.0),
    thickness: float | None = None,
) -> FloatArray:
    """Temperature rise, K, at `points` (…, 3) = (x, y, depth) under a Gaussian flux switched on at t = 0.

    ΔT = ∫₀ᵗ 2P/(ρc) · exp(−r²/(2w))/(2πw) · exp(−z²/(4ατ))/√(4πατ) dτ,   w = σ² + 2ατ,

    where r is the distance to the beam at t − τ, which moves at `velocity` from `start`. The body is a
    half-space; with `thickness` it is a plate whose lower face is held at ambient.
    """
    beam = _Beam(power, float(np.hypot(*velocity)), sigma, conductivity, diffusivity, thickness)
    if not (np.isfinite(time) and time >= 0):
        raise BadInput(f"time must be finite and not negative, got {time}: count from the switching on")
    x, y, depth = beam.check_points(points)
    east, north = (np.array(velocity) / beam.speed) if beam.speed > 0 else (1.0, 0.0)
    from_beam_x = x - start[0] - velocity[0] * time
    from_beam_y = y - start[1] - velocity[1] * time
    ahead = from_beam_x * east + from_beam_y * north
    aside = from_beam_y * east - from_beam_x * north
    return beam.rise(ahead, aside, depth, until=float(np.arcsinh(np.sqrt(2 * diffusivity * time) / sigma)))


def quasi_steady_gaussian(
    points: ArrayLike,
    *,
    power: float,
    speed: float,
    sigma: float,
    conductivity: float,
    diffusivity: float,
    thickness: float | None = None,
) -> FloatArray:
    """Temperature rise, K, long after the start, at `points` (…, 3) = (ahead of the beam, aside, depth).

    The limit t → ∞ of `moving_gaussian` in the frame of the beam.
    """
    beam = _Beam(power, speed, sigma, conductivity, diffusivity, thickness)
    return beam.rise(*beam.check_points(points), until=FOREVER)


@lru_cache(maxsize=64)  # a quarter of a second, and every run of a process asks for the same
def quasi_steady_peak(
    *,
    power: float,
    speed: float,
    sigma: float,
    conductivity: float,
    diffusivity: float,
    thickness: float | None = None,
) -> Peak:
    """The largest rise of `quasi_steady_gaussian` and how far behind the beam it lies.

    At rest ΔT = P/(√(8π) k σ) at the centre; the faster the beam, the nearer the lag comes to 0.765 σ.
    """
    beam = _Beam(power, speed, sigma, conductivity, diffusivity, thickness)

    def rise(behind: float) -> float:
        return float(beam.rise(np.array(-behind), np.array(0.0), np.array(0.0), until=FOREVER))

    if speed == 0 or power == 0:
        return Peak(rise(0.0), 0.0)
    found = minimize_scalar(
        lambda behind: -rise(behind) / power,
        bounds=(0.0, sigma),
        method="bounded",
        options={"xatol": 1e-6 * sigma},
    )
    return Peak(rise(float(found.x)), float(found.x))


@dataclass(frozen=True, slots=True)
class Pulses:
    """Gaussians of temperature rise that add up on a surface, each left at a point of a beam's way."""

    rises: FloatArray  # K, in their middles
    centres: FloatArray  # (…, 2), m
    spreads: FloatArray  # m, standard deviations
    way: FloatArray  # (…, 2), m, where the beam was

    def rise(self, points: ArrayLike) -> FloatArray:
        """K at `points` (…, 2) = (x, y)."""
        away = np.asarray(points, dtype=np.float64)[..., np.newaxis, :] - self.centres
        return np.asarray(np.exp(-0.5 * (away**2).sum(axis=-1) / self.spreads**2) @ self.rises)

    def peak(self) -> tuple[float, FloatArray]:
        """The largest rise, K, and where it is.

        It is searched from every place on the beam's way that is hotter than those before and after it: where
        the power has fallen, what lies behind may be hotter than what is under the beam.
        """
        along = np.concatenate(([0.0], np.hypot(*np.diff(self.way, axis=0).T))).cumsum()
        unit = float(self.spreads.min())
        count = max(2, int(np.ceil(along[-1] / (SEARCH * unit))) + 1)
        starts = np.column_stack(
            [np.interp(np.linspace(0.0, along[-1], count), along, axis) for axis in self.way.T]
        )
        found = np.pad(self.rise(starts), 1, constant_values=-np.inf)
        highest = float(found.max())
        tops = (found[1:-1] >= found[:-2]) & (found[1:-1] >= found[2:]) & (found[1:-1] > 0.5 * highest)

        def fall(place: FloatArray) -> tuple[float, FloatArray]:
            away = unit * place - self.centres
            shares = self.rises * np.exp(-0.5 * (away**2).sum(axis=1) / self.spreads**2) / highest
            return -float(shares.sum()), unit * (shares / self.spreads**2) @ away

        searched = [minimize(fall, at / unit, jac=True, method="BFGS", tol=1e-7) for at in starts[tops]]
        best = min(searched, key=lambda result: float(result.fun))
        return -highest * float(best.fun), unit * best.x


def polyline_gaussian(
    positions: FloatArray,
    powers: FloatArray,
    tick: float,
    *,
    sigma: float,
    conductivity: float,
    diffusivity: float,
) -> Pulses:
    """What a beam of n `powers`, W, leaves going from each of n + 1 `positions`, m, to the next in a tick.

    The integral of `moving_gaussian` over a half-space's surface for a beam that turns and changes its power:
    each tick is divided until its heat is smooth in q, √(2ατ) = σ sinh q, and taken by Gauss's rule.
    """
    _require_positive(tick=tick, sigma=sigma, conductivity=conductivity, diffusivity=diffusivity)
    hop = float(np.hypot(*np.diff(positions, axis=0).T).max())
    spread = 2 * diffusivity * tick / (sigma * np.sinh(STRIDE)) ** 2
    parts = int(np.ceil(max(hop / (STRIDE * sigma), spread, 1.0)))
    ticks = len(positions) - 1
    times = np.linspace(0.0, ticks, ticks * parts + 1)
    way = np.column_stack([np.interp(times, np.arange(ticks + 1.0), axis) for axis in positions.T])
    q = np.arcsinh(np.sqrt(2 * diffusivity * tick * (ticks - times)) / sigma)
    lit = np.repeat(powers, parts) > 0.0
    middle, half = (0.5 * (q[:-1] + q[1:]))[lit], (0.5 * (q[:-1] - q[1:]))[lit]
    nodes = middle[:, np.newaxis] + half[:, np.newaxis] * GAUSS[0]
    born = ticks - (sigma * np.sinh(nodes)) ** 2 / (2 * diffusivity * tick)
    centres = np.stack([np.interp(born, np.arange(ticks + 1.0), axis) for axis in positions.T], axis=-1)
    weights = np.repeat(powers, parts)[lit][:, np.newaxis] * half[:, np.newaxis] * GAUSS[1]
    rises = weights / (np.sqrt(2) * np.pi**1.5 * conductivity * sigma * np.cosh(nodes))
    spreads = sigma * np.cosh(nodes)
    return Pulses(rises.ravel(), centres.reshape(-1, 2), spreads.ravel(), way)


@dataclass(frozen=True, slots=True)
class _Beam:
    """A Gaussian beam moving straight over a body of constant properties."""

    power: float
    speed: float
    sigma: float
    conductivity: float
    diffusivity: float
    thickness: float | None

    def __post_init__(self) -> None:
        _require_positive(sigma=self.sigma, conductivity=self.conductivity, diffusivity=self.diffusivity)
        if self.thickness is not None:
            _require_positive(thickness=self.thickness)
        if not (np.isfinite(self.power) and np.isfinite(self.speed) and self.speed >= 0):
            raise BadInput(
                "power and speed must be finite and the speed not negative, "
                f"got {self.power} W and {self.speed} m/s: correct them"
            )

    def check_points(self, points: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Three coordinates, if each point has three and lies inside the body."""
        xyz = np.asarray(points, dtype=np.float64)
        if xyz.ndim == 0 or xyz.shape[-1] != 3:
            raise BadInput(f"points must have shape (…, 3), got {xyz.shape}: give x, y and depth of each")
        depth = xyz[..., 2]
        deepest = np.inf if self.thickness is None else self.thickness
        if not (np.isfinite(xyz).all() and (depth >= 0).all() and (depth <= deepest).all()):
            raise BadInput(
                f"points must be finite with depths from 0 to {deepest:g} m, "
                f"got depths {depth.min():g} to {depth.max():g}: measure depth downward from the surface"
            )
        return xyz[..., 0], xyz[..., 1], depth

    def rise(self, ahead: FloatArray, aside: FloatArray, depth: FloatArray, *, until: float) -> FloatArray:
        """ΔT = P/(√2 π^{3/2} k σ) ∫₀^until exp(−r²/(2σ² cosh²q)) D(z, σ sinh q)/cosh q dq.

        The age τ of the absorbed heat is replaced by q, √(2ατ) = σ sinh q, in which the integrand is smooth
        and bounded, and every age up to infinity is near.
        """

        def integrand(q: float) -> FloatArray:
            spread = self.sigma * np.sinh(q)  # √(2ατ)
            age = spread**2 / (2 * self.diffusivity)
            r2 = (ahead + self.speed * age) ** 2 + aside**2
            lateral = np.exp(-r2 / (2 * (self.sigma * np.cosh(q)) ** 2))
            return np.asarray(lateral * self._depth_factor(depth, spread) / np.cosh(q))

        if until == 0:
            return np.zeros_like(depth)
        panels = np.linspace(0.0, until, PANELS + 1)[1:-1]
        integral, error = quad_vec(
            integrand, 0.0, until, epsabs=FLOOR, epsrel=TOLERANCE, norm="max", points=panels
        )
        if error > 100 * max(FLOOR, TOLERANCE * np.abs(integral).max()):
            raise ArithmeticError(f"the heat integral converged to {error:.1e} only")
        scale = self.power / (np.sqrt(2) * np.pi**1.5 * self.conductivity * self.sigma)
        return np.asarray(scale * integral)

    def _depth_factor(self, depth: FloatArray, spread: float) -> FloatArray:
        """D(z, s) = exp(−z²/(2s²)) in a half-space; Σₙ (−1)ⁿ exp(−(z − 2nh)²/(2s²)) with ambient at z = h.

        Late, s² > 2·SHORT·h², the same sum is √(2π) s/h · Σₘ cos(μz) exp(−μ²s²/2), μ = (m + ½)π/h.
        """
        if self.thickness is None:
            return np.exp(-((depth / spread) ** 2) / 2)
        h, z = self.thickness, depth[..., None]
        if spread**2 < 2 * SHORT * h**2:
            n = np.arange(-3, 4)
            return np.asarray((np.exp(-(((z - 2 * n * h) / spread) ** 2) / 2) * (-1.0) ** n).sum(axis=-1))
        mu = (np.arange(8) + 0.5) * np.pi / h
        modes = (np.cos(mu * z) * np.exp(-((mu * spread) ** 2) / 2)).sum(axis=-1)
        return np.asarray(np.sqrt(2 * np.pi) * spread / h * modes)


def _require_positive(**values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise BadInput(f"{name.replace('_', ' ')} must be finite and positive, got {value}: correct it")
