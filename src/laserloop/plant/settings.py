"""What defines a plant: a process, and how its heat is computed. Three ways to choose it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.plant.conduction import BACKWARD_EULER, SDIRK2, Scheme
from laserloop.plant.grid import Grid, find_depths, graded_grid, uniform_grid
from laserloop.plant.moving_grid import MovingGrid, make_axis
from laserloop.process import Beam, Material, Process

SCAN_AREA = (-1.5e-3, 1.5e-3, -1.5e-3, 1.5e-3)  # m: x_min, x_max, y_min, y_max

# Of a grid that moves with the beam, in beam widths; how they were chosen is in docs/decisions/0007
AHEAD = 4.0  # the fine part reaches at least this far beyond the beam
BEHIND = 10.0  # and this far back, where the heat is younger than 3 ms at 0.3 m/s
STRIDE = 3.0  # it is pushed on by this much at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlantSettings:
    """Everything that defines a plant: a process, and how its heat is computed."""

    name: str
    process: Process
    grid: Grid
    scheme: Scheme
    continuous: bool  # does the beam move within a tick, or stand at its end (the paper)?
    subgrid: bool  # is T_max the peak between the nodes, or the hottest node (the paper)?
    region: tuple[float, float, float, float] | None = (
        None  # m: where the grid is made for the beam, if not all
    )
    moving: MovingGrid | None = None  # a grid that follows the beam; `grid` is where it starts
    absorbed: float = 1.0  # share of the heat that the process promises; a trial may tell the controller more
    tolerance: float = 1e-4  # K, of each node's heat balance; smaller is slower
    edge: float = 1e-4  # K, rise at the edge of the solved window that makes it grow

    def __post_init__(self) -> None:
        for name in ("tolerance", "edge", "absorbed"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise BadInput(f"{name} must be a positive number, got {value}: correct it")
        spacing = min(np.diff(self.grid.x).min(), np.diff(self.grid.y).min())
        if self.beam.sigma < spacing / 3.0:
            raise BadInput(
                f"the beam's sigma of {self.beam.sigma:g} m is too narrow for a grid of {spacing:g} m: "
                f"take at least a third of the spacing, or the graded plant"
            )

    @property
    def beam(self) -> Beam:
        """The process's."""
        return self.process.beam

    @property
    def material(self) -> Material:
        """The process's."""
        return self.process.material

    @property
    def ambient(self) -> float:
        """Initial temperature and that of the bottom, K."""
        return self.process.ambient

    @property
    def tick(self) -> float:
        """The control period, s."""
        return self.process.tick


NUMERICS = ("tolerance", "edge")  # the rest of what may be changed belongs to the process


def paper_settings(
    process: Process | None = None,
    *,
    grid: Grid | None = None,
    scheme: Scheme = BACKWARD_EULER,
    **changes: Any,
) -> PlantSettings:
    """The paper's plant: uniform 100 µm grid, backward Euler, beam at the end of its tick, nodal T_max.

    `changes` are fields of the process, the paper's unless given, or the tolerance or edge of its solution.
    """
    numerics = {name: changes.pop(name) for name in NUMERICS if name in changes}
    process = replace(process or Process(), **changes)
    return PlantSettings(
        name="paper",
        process=process,
        grid=grid or uniform_grid(process.plate),
        scheme=scheme,
        continuous=False,
        subgrid=False,
        **numerics,
    )


def graded_settings(
    process: Process | None = None,
    *,
    region: tuple[float, float, float, float] = SCAN_AREA,
    fastest: float | None = None,
    refine: float = 1.0,
    scheme: Scheme = SDIRK2,
    **changes: Any,
) -> PlantSettings:
    """The plant to trust: resolved where the beam goes, second order in time, T_max between the nodes.

    `region`: m, bounding box of all lit beam positions; `fastest`: m/s, the speed that the grid is made for,
    that of the process unless given; `refine`: 2 halves every spacing. `changes` as for the paper's plant.
    """
    numerics = {name: changes.pop(name) for name in NUMERICS if name in changes}
    process = replace(process or Process(), **changes)
    fine, first_depth = _find_spacings(process, fastest, refine)
    plate = process.plate
    margin = 3.0 * process.beam.sigma
    half_x, half_y = plate[0] / 2, plate[1] / 2
    refined = (
        max(-half_x, region[0] - margin),
        min(half_x, region[1] + margin),
        max(-half_y, region[2] - margin),
        min(half_y, region[3] + margin),
    )
    grid = graded_grid(plate, refined, fine=fine, first_depth=first_depth)
    return PlantSettings(
        name="graded",
        process=process,
        grid=grid,
        scheme=scheme,
        continuous=True,
        subgrid=True,
        region=region,
        **numerics,
    )


def moving_settings(
    process: Process | None = None,
    *,
    fastest: float | None = None,
    refine: float = 1.0,
    scheme: Scheme = SDIRK2,
    **changes: Any,
) -> PlantSettings:
    """The plant to trust on a part of any size: as the graded one, on a grid that follows the beam.

    The cost of a tick depends neither on where the beam has been nor for how long. Arguments as there; the
    beam may go anywhere on the plate.
    """
    numerics = {name: changes.pop(name) for name in NUMERICS if name in changes}
    process = replace(process or Process(), **changes)
    fine, first_depth = _find_spacings(process, fastest, refine)
    sigma, plate = process.beam.sigma, process.plate
    hop = process.tick * (process.speed if fastest is None else fastest)
    moving = MovingGrid(
        x=make_axis(plate[0], fine),
        y=make_axis(plate[1], fine),
        ahead=AHEAD * sigma,
        length=(AHEAD + BEHIND + STRIDE) * sigma + hop,
        stride=STRIDE * sigma,
    )
    depths = find_depths(plate[2], first_depth, coarsest=8 * fine)
    return PlantSettings(
        name="graded",
        process=process,
        grid=moving.grid(moving.follow(None, np.zeros((2, 2))), depths),
        scheme=scheme,
        continuous=True,
        subgrid=True,
        moving=moving,
        **numerics,
    )


def _find_spacings(process: Process, fastest: float | None, refine: float) -> tuple[float, float]:
    """The spacing under the beam, in the plane and in depth, m."""
    fastest = process.speed if fastest is None else fastest
    for what, value in (("fastest", fastest), ("refine", refine)):
        if not (np.isfinite(value) and value > 0):
            raise BadInput(f"{what} must be a positive number, got {value}: correct it")
    sigma = process.beam.sigma
    layer = min(np.sqrt(_diffusivity(process.material) * sigma / fastest), sigma)
    return 0.5 * sigma / refine, layer / 4.0 / refine


def _diffusivity(material: Material) -> float:
    """k/(ρc) at the cold end, where the layer under the beam is thinnest, m²/s."""
    cold = material.valid[0]
    k, rho, cp = material.conductivity(cold), material.density(cold), material.heat_capacity(cold)
    return float(k / (rho * cp))
