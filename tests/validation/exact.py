"""Exact solutions of the heat equation that only tests need: a cosine, and one made to measure."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar

from laserloop.predict.twin.exact import quasi_steady_gaussian

FloatArray = NDArray[np.float64]


def cosine_decay(
    x: ArrayLike, t: ArrayLike, *, length: float, amplitude: float, diffusivity: float, mode: int = 1
) -> FloatArray:
    """Temperature rise in a rod 0 ≤ x ≤ L with insulated ends: A cos(μx) exp(−αμ²t) with μ = mode·π/L."""
    mu = mode * np.pi / length
    decay = np.exp(-diffusivity * mu**2 * np.asarray(t, dtype=np.float64))
    return np.asarray(amplitude * np.cos(mu * np.asarray(x, dtype=np.float64)) * decay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manufactured:
    """A temperature chosen first, and the source and flux that make it solve the nonlinear heat equation.

    T = T₀ + A (1 − e^{−t/τ}) cos(aπ(x/Lx + ½)) cos(bπ(y/Ly + ½)) sin(cπz/Lz),   ρc ∂T/∂t = ∇·(k∇T) + source

    in |x| ≤ Lx/2, |y| ≤ Ly/2, 0 ≤ z ≤ Lz: uniform at t = 0, insulated sides, T₀ at the bottom z = 0.
    """

    conductivity: Polynomial  # k(T), W/mK; a polynomial, so that dk/dT is exact
    capacity: Callable[[FloatArray], FloatArray]  # ρc(T), J/m³K; a Polynomial will do
    size: tuple[float, float, float]  # Lx, Ly, Lz, m
    ambient: float = 300.0  # T₀, K
    amplitude: float = 100.0  # A, K; T stays within T₀ ± 0.87 A
    time_constant: float = 1e-3  # τ, s
    modes: tuple[int, int] = (1, 1)  # a, b: half waves across the plate
    rise: float = 1 / 3  # c: of a half wave from the bottom to the top; at 1/2 nothing flows through the top

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
        return np.asarray(np.pi * np.array([*self.modes, self.rise]) / np.array(self.size))

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


def find_pool(*, power: float, speed: float, sigma: float, k: float, alpha: float, rise: float) -> FloatArray:
    """Length, width and depth, m, of what is hotter than `rise`, K, under a quasi-steady Gaussian beam."""

    def excess(ahead: float, aside: float, depth: float) -> float:
        points = [[ahead, aside, depth]]
        beam = {"power": power, "speed": speed, "sigma": sigma, "conductivity": k, "diffusivity": alpha}
        return float(quasi_steady_gaussian(points, **beam)[0]) - rise

    front = float(brentq(lambda x: excess(x, 0.0, 0.0), 0.0, 10.0 * sigma))
    end = float(brentq(lambda x: excess(x, 0.0, 0.0), -100.0 * sigma, -sigma))

    def reach(aside: float, depth: float) -> float:
        """How far it goes that way, where it goes farthest."""

        def here(x: float) -> float:
            return -float(brentq(lambda s: excess(x, s * aside, s * depth), 0.0, 20.0 * sigma))

        near = minimize_scalar(
            here, bounds=(0.95 * end, 0.0), method="bounded", options={"xatol": 1e-4 * sigma}
        )
        return -float(near.fun)

    return np.array([front - end, 2.0 * reach(1.0, 0.0), reach(0.0, 1.0)])
