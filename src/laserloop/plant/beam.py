"""The laser beam: a Gaussian flux of given width on the lasered surface."""

from dataclasses import dataclass
from math import erf

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant.conduction import Source
from laserloop.plant.grid import Grid

FloatArray = NDArray[np.float64]

REACH = 6.0  # beam widths beyond which its flux (4e-9 of the power) is left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Beam:
    """q(x, y) = ηP/(2πσ²) · exp(−r²/2σ²), W/m²."""

    sigma: float = 100e-6  # m, standard deviation of the Gaussian
    absorptivity: float = 1.0  # η, share of the power that becomes heat

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise BadInput(f"the beam's sigma must be a positive length in m, got {self.sigma}")
        if not 0 < self.absorptivity <= 1:
            raise BadInput(f"absorptivity must lie in (0, 1], got {self.absorptivity}")

    def flux(self, grid: Grid, power: float, x: float, y: float) -> Source:
        """The flux at the nodes of the surface with the beam centred at (x, y).

        Scaled so that the control volumes together receive exactly the power that falls on the plate.
        """
        heat = self.absorptivity * power
        return Source(
            heat * self._profile(grid.x, grid.widths[2], x), self._profile(grid.y, grid.widths[1], y)
        )

    def _profile(self, nodes: FloatArray, widths: FloatArray, centre: float) -> FloatArray:
        """Normal density at the nodes, 1/m, with the exact integral from the first to the last of them."""
        density = np.exp(-0.5 * ((nodes - centre) / self.sigma) ** 2)
        reach = self.sigma * 2.0**0.5
        share = 0.5 * (erf((nodes[-1] - centre) / reach) - erf((nodes[0] - centre) / reach))
        return density * (share / float(density @ widths))
