"""The beam's flux on the nodes of the lasered surface."""

from math import erf

import numpy as np
from numpy.typing import NDArray

from laserloop.plant.conduction import Source
from laserloop.plant.grid import Grid
from laserloop.process.beam import Beam

FloatArray = NDArray[np.float64]

REACH = 6.0  # beam widths beyond which its flux (4e-9 of the power) is left out


def find_flux(beam: Beam, grid: Grid, power: float, x: float, y: float) -> Source:
    """The flux at the nodes of the surface with the beam centred at (x, y).

    Scaled so that the control volumes together receive exactly the power that falls on the plate.
    """
    if power == 0.0:  # wherever the beam is, which may be off the plate
        return Source(np.zeros_like(grid.x), np.zeros_like(grid.y))
    heat = beam.absorptivity * power
    return Source(
        heat * _profile(beam.sigma, grid.x, grid.widths[2], grid.edges[:2], x),
        _profile(beam.sigma, grid.y, grid.widths[1], grid.edges[2:], y),
    )


def _profile(
    sigma: float, nodes: FloatArray, widths: FloatArray, edges: tuple[float, ...], centre: float
) -> FloatArray:
    """Normal density at the nodes, 1/m, with the exact integral from one edge of the plate to the other."""
    density = np.exp(-0.5 * ((nodes - centre) / sigma) ** 2)
    reach = sigma * 2.0**0.5
    share = 0.5 * (erf((edges[1] - centre) / reach) - erf((edges[0] - centre) / reach))
    return density * (share / float(density @ widths))
