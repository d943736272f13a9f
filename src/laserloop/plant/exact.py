"""Exact solutions of the heat equation, for tests and documentation; that of melting is in stefan.py.

P  absorbed power, W      σ  standard deviation of the beam, m      v  speed of the beam, m/s
k  conductivity, W/mK     α  diffusivity k/(ρc), m²/s               h  thickness of the plate, m
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad_vec
from scipy.optimize import minimize_scalar

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-11  # of the largest rise asked for,
FLOOR = 1e-14  # or of the rise under a beam at rest
FOREVER = 40.0  # in q = asinh(√(2ατ)/σ): what was absorbed before weighs 1/cosh q < 1e-17
PANELS = 48  # to begin with; sees the narrow past of points 10⁴ σ behind the beam (tests/plant/test_exact.py)
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


def cosine_decay(
    x: ArrayLike, t: ArrayLike, *, length: float, amplitude: float, diffusivity: float, mode: int = 1
) -> FloatArray:
    """Temperature rise in a rod 0 ≤ x ≤ L with insulated ends: A cos(μx) exp(−αμ²t) with μ = mode·π/L."""
    _require_positive(length=length, diffusivity=diffusivity)
    mu = mode * np.pi / length
    decay = np.exp(-diffusivity * mu**2 * np.asarray(t, dtype=np.float64))
    return np.asarray(amplitude * np.cos(mu * np.asarray(x, dtype=np.float64)) * decay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manufactured:
    """A temperature chosen first, and the source and flux that make it solve the nonlinear heat equation.

    T = T₀ + A (1 − e^{−t/τ}) cos(aπ(x/Lx + ½)) cos(bπ(y/Ly + ½)) sin(πz/(3Lz)),   ρc ∂T/∂t = ∇·(k∇T) + source

    in |x| ≤ Lx/2, |y| ≤ Ly/2, 0 ≤ z ≤ Lz: uniform at t = 0, insulated sides, T₀ at the bottom z = 0.
    """

    conductivity: Polynomial  # k(T), W/mK; a polynomial, so that dk/dT is exact
    capacity: Callable[[FloatArray], FloatArray]  # ρc(T), J/m³K; a Polynomial will do
    size: tuple[float, float, float]  # Lx, Ly, Lz, m
    ambient: float = 300.0  # T₀, K
    amplitude: float = 100.0  # A, K; T stays within T₀ ± 0.87 A
    time_constant: float = 1e-3  # τ, s
    modes: tuple[int, int] = (1, 1)  # a, b: half waves across the plate

    def __post_init__(self) -> None:
        for length in (*self.size, self.time_constant):
            _require_positive(length_or_time=length)

    def temperature(self, x: ArrayLike, y: ArrayLike, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """T(x, y, z, t), K."""
        wave = self._wave(x, y, z)
        return np.asarray(self.ambient + self.amplitude * self._growth(t) * wave[0] * wave[1] * wave[2])

    def volumetric_source(self, x: ArrayLike, y: ArrayLike, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """ρc ∂T/∂t − ∇·(k∇T) = ρc ∂T/∂t − k ∇²T − k′(T) |∇T|², W/m³."""
        T = self.temperature(x, y, z, t)
        X, Y, Z = self._wave(x, y, z)
        dX, dY, dZ = self._wave_slope(x, y, z)
        rate = self.amplitude * (1 - self._growth(t)) / self.time_constant * X * Y * Z
        scale = self.amplitude * self._growth(t)
        laplacian = -np.sum(self._wave_numbers() ** 2) * (T - self.ambient)
        slope_squared = scale**2 * ((dX * Y * Z) ** 2 + (X * dY * Z) ** 2 + (X * Y * dZ) ** 2)
        k, dk = self.conductivity(T), self.conductivity.deriv()(T)
        return np.asarray(self.capacity(T) * rate - k * laplacian - dk * slope_squared)

    def surface_flux(self, x: ArrayLike, y: ArrayLike, t: ArrayLike) -> FloatArray:
        """k ∂T/∂z at the top, W/m²: positive into the plate."""
        top = self.size[2]
        X, Y, _ = self._wave(x, y, top)
        slope = self.amplitude * self._growth(t) * X * Y * self._wave_slope(x, y, top)[2]
        return np.asarray(self.conductivity(self.temperature(x, y, top, t)) * slope)

    def _growth(self, t: ArrayLike) -> FloatArray:
        return np.asarray(-np.expm1(-np.asarray(t, dtype=np.float64) / self.time_constant))

    def _wave_numbers(self) -> FloatArray:
        return np.asarray(np.pi * np.array([*self.modes, 1 / 3]) / np.array(self.size))

    def _wave(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        phase_x, phase_y, phase_z = self._phases(x, y, z)
        return np.cos(phase_x), np.cos(phase_y), np.sin(phase_z)

    def _wave_slope(
        self, x: ArrayLike, y: ArrayLike, z: ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        phase_x, phase_y, phase_z = self._phases(x, y, z)
        mu_x, mu_y, mu_z = self._wave_numbers()
        return -mu_x * np.sin(phase_x), -mu_y * np.sin(phase_y), mu_z * np.cos(phase_z)

    def _phases(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        mu_x, mu_y, mu_z = self._wave_numbers()
        shift_x, shift_y = np.array(self.modes) * np.pi / 2
        return mu_x * np.asarray(x) + shift_x, mu_y * np.asarray(y) + shift_y, mu_z * np.asarray(z)


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
