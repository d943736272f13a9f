"""Links: how strongly neighbouring nodes exchange heat in one implicit step, and what the solver needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from laserloop.plant.checkerboard import Checkerboard
from laserloop.plant.grid import Grid
from laserloop.process.heat_table import HeatTable

FloatArray = NDArray[np.float64]

GAINED = 1e-3  # by which the sweeps of one correction shrink the error, each by (overrelaxation − 1)
FORGOTTEN = 7.0  # diffusion lengths √(ατ) after which a correction has faded to e⁻⁷
POLISH = 0.9  # of a Jacobi step; a full one would feed the ripple of the parabolic guess


@dataclass(frozen=True, slots=True)
class Links:
    """Coefficients between neighbouring nodes for one implicit step τ."""

    tau: float
    exact: tuple[FloatArray, ...]  # west, east, south, north, up, down
    rough: tuple[NDArray[np.float32], ...]  # the same
    overrelaxation: np.float32
    sweeps: int  # of over-relaxation per Newton correction
    margins: tuple[np.uintp, ...]  # nodes around an open balance corrected with it: sideways, downwards
    reach: float  # m, that heat may go in the step
    gain: tuple[NDArray[np.float32], ...]  # of kernels.polish
    stiffness: FloatArray  # (depth) J/m³ of imbalance per K that the node still has to move


def make_links(grid: Grid, board: Checkerboard, tau: float, table: HeatTable) -> Links:
    """The links of a grid for one implicit step of `tau` seconds."""
    (west, east), (south, north), (up, down) = (
        _axis_links(nodes, widths, tau)
        for nodes, widths in zip((grid.x, grid.y, grid.z), reversed(grid.widths), strict=True)
    )
    exact = (*map(board.pack_x, (west, east)), *map(board.pack_y, (south, north)), up, down)
    # Young's optimum 2/(1 + √(1−ρ²)); ρ is the contraction of the Jacobi iteration by depth columns.
    sideways = float((west + east).max() + (south + north).max())
    softest, stiffest = table.slopes
    rho = np.clip(sideways / (sideways + softest), 1e-6, 1.0 - 1e-12)
    overrelaxation = 2.0 / (1.0 + np.sqrt(1.0 - rho**2))
    sweeps = int(np.ceil(np.log(GAINED) / np.log(overrelaxation - 1.0)))
    gain = _make_gain(stiffest + sideways + up + down, up, down)
    stiffness = table.ambient_capacity * (1.0 + (sideways + up + down) / stiffest)
    reach = FORGOTTEN * float(np.sqrt(tau / softest))
    finest = min(np.diff(grid.x).min(), np.diff(grid.y).min())
    margins = tuple(np.uintp(max(3, np.ceil(reach / gap))) for gap in (finest, np.diff(grid.z).min()))
    rough = tuple(link.astype(np.float32) for link in exact)
    return Links(
        tau, exact, rough, np.float32(overrelaxation), max(2, sweeps), margins, reach, gain, stiffness
    )


def _make_gain(diagonal: FloatArray, up: FloatArray, down: FloatArray) -> tuple[NDArray[np.float32], ...]:
    """Thomas' algorithm for one depth column, prepared: damping·pivot, up·pivot, down·pivot."""
    pivot = np.empty_like(diagonal)
    for k in range(len(diagonal)):
        pivot[k] = 1.0 / (diagonal[k] - (up[k] * down[k - 1] * pivot[k - 1] if k else 0.0))
    return tuple(a.astype(np.float32) for a in (POLISH * pivot, up * pivot, down * pivot))


def _axis_links(nodes: FloatArray, width: FloatArray, tau: float) -> tuple[FloatArray, FloatArray]:
    """τ/(distance · width) to the previous and to the next node; 0 where there is none."""
    gap = np.diff(nodes)
    previous, following = np.zeros_like(nodes), np.zeros_like(nodes)
    previous[1:] = tau / (gap * width[1:])
    following[:-1] = tau / (gap * width[:-1])
    return previous, following
