"""Heat in a plate as a sum of Gaussians, and its field on the surface.

E  absorbed energy, J      τ  its age, s      C  scatter of where it was absorbed, m²      h  thickness, m
u  ∫k dT from ambient, W/m      S = C + (σ² + 2ατ) I, m²      d  distance from the centre of a Gaussian, m

    u(x) = Σ E α D(τ) / (√(πατ) 2π √det S) · exp(−½ dᵀ S⁻¹ d)

D is what is left above a bottom held at ambient: image sources of alternating sign while the heat is young,
decaying modes when it is old. Sides let no heat through: their images are Gaussians too.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

YOUNG = 0.5  # ατ/h² up to which three images, above which three modes, leave 1e-7


class Field(NamedTuple):
    """u, W/m, its gradient and its second derivatives xx, xy, yy, at some points."""

    value: FloatArray  # (…,)
    slope: FloatArray  # (…, 2)
    bend: FloatArray  # (…, 3)


class Gaussians(NamedTuple):
    """Heat at one moment, or at several: centre, inverse of S and height of each, (…, n)."""

    x: FloatArray
    y: FloatArray
    ixx: FloatArray
    ixy: FloatArray
    iyy: FloatArray
    height: FloatArray

    def weights(self, points: FloatArray) -> FloatArray:
        """What each adds to u (…, n) at points (…, 2)."""
        dx, dy = points[..., 0, None] - self.x, points[..., 1, None] - self.y
        form = self.ixx * dx * dx + 2.0 * self.ixy * dx * dy + self.iyy * dy * dy
        return np.asarray(self.height * np.exp(-0.5 * form))

    def at(self, points: FloatArray) -> FloatArray:
        """u (…,) at points (…, 2)."""
        return np.asarray(self.weights(points).sum(-1))

    def field(self, points: FloatArray) -> Field:
        """u and its derivatives at points (…, 2)."""
        dx, dy = points[..., 0, None] - self.x, points[..., 1, None] - self.y
        px, py = self.ixx * dx + self.ixy * dy, self.ixy * dx + self.iyy * dy
        g = self.height * np.exp(-0.5 * (px * dx + py * dy))
        slope = np.stack((-(g * px).sum(-1), -(g * py).sum(-1)), axis=-1)
        bend = (g * (px * px - self.ixx), g * (px * py - self.ixy), g * (py * py - self.iyy))
        return Field(g.sum(-1), slope, np.stack([part.sum(-1) for part in bend], axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Body:
    """What the heat spreads in, as far as the twin knows it."""

    sigma: float  # m
    alpha: float  # m²/s
    plate: tuple[float, float, float]  # m

    def spread(
        self, energy: FloatArray, tau: FloatArray, place: FloatArray, scatter: FloatArray
    ) -> Gaussians:
        """What heats have become at these ages; `place` (…, 2), `scatter` (…, 3): xx, xy, yy."""
        grown = self.sigma**2 + 2.0 * self.alpha * tau
        xx, xy, yy = scatter[..., 0] + grown, scatter[..., 1], scatter[..., 2] + grown
        det = xx * yy - xy * xy
        depth = np.sqrt(np.pi * self.alpha * tau)
        height = energy * self.alpha * self.left_above_bottom(tau) / (depth * 2.0 * np.pi * np.sqrt(det))
        return Gaussians(place[..., 0], place[..., 1], yy / det, -xy / det, xx / det, height)

    def left_above_bottom(self, tau: FloatArray) -> FloatArray:
        """D(τ); 1 for young heat in a thick plate."""
        x = self.alpha * tau / self.plate[2] ** 2
        young, old = np.clip(x, 1e-3, YOUNG), np.maximum(x, YOUNG)
        images = sum((-1.0) ** n * np.exp(-(n**2) / young) for n in (1, 2, 3))
        modes = sum(np.exp(-(((n + 0.5) * np.pi) ** 2) * old) for n in (0, 1, 2))
        return np.where(x < YOUNG, 1.0 + 2.0 * images, 2.0 * np.sqrt(np.pi * old) * modes)


def reflect(heat: Gaussians, axis: int, wall: float) -> Gaussians:
    """Heat together with its images in a side of the plate at x or y = `wall`, m."""
    image = heat._replace(ixy=-heat.ixy)
    image = image._replace(x=2.0 * wall - heat.x) if axis == 0 else image._replace(y=2.0 * wall - heat.y)
    return Gaussians(*(np.concatenate(pair, axis=-1) for pair in zip(heat, image, strict=True)))


def repeat(heat: Gaussians, axis: int, length: float) -> Gaussians:
    """Heat and the same again a length, m, to either side: its images in two sides of the plate."""
    steps = (0.0, length, -length)
    name = "xy"[axis]
    copies = [heat._replace(**{name: getattr(heat, name) + by}) for by in steps]
    return Gaussians(*(np.concatenate(parts, axis=-1) for parts in zip(*copies, strict=True)))
