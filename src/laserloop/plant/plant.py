"""The plant: a plate under a moving laser, stepped tick by tick. The referee of everything else."""

import warnings
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import ceil, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant.conduction import BACKWARD_EULER, SDIRK2, Conduction, Scheme, Source, State
from laserloop.plant.flux import REACH, find_flux
from laserloop.plant.grid import Grid, graded_grid, uniform_grid
from laserloop.plant.melt_pool import MeltPool, cut_out, find_box, measure_pool
from laserloop.plant.surface import Hottest, Surface
from laserloop.process import Beam, Material, Process
from laserloop.process.heat_table import HeatTable, tabulate

FloatArray = NDArray[np.float64]

STRIDE = 0.4  # beam widths moved per step at most; costs 0.5 K of 600 at constant power
JUMPS = (0.01, 0.25)  # changes of power, as a share of it, that each take one substep more
SLACK = 1e-9  # m; a beam on the edge is on the plate
SCAN_AREA = (-1.5e-3, 1.5e-3, -1.5e-3, 1.5e-3)  # m: x_min, x_max, y_min, y_max


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
    absorbed: float = 1.0  # share of the heat that the process promises; a trial may tell the controller more
    tolerance: float = 1e-4  # K, of each node's heat balance; smaller is slower
    edge: float = 1e-4  # K, rise at the edge of the solved window that makes it grow

    def __post_init__(self) -> None:
        for name in ("tolerance", "edge", "absorbed"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise BadInput(f"{name} must be a positive number, got {value}")
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
    fastest = process.speed if fastest is None else fastest
    for what, value in (("fastest", fastest), ("refine", refine)):
        if not (np.isfinite(value) and value > 0):
            raise BadInput(f"{what} must be a positive number, got {value}")
    sigma, plate = process.beam.sigma, process.plate
    margin = 3.0 * sigma
    half_x, half_y = plate[0] / 2, plate[1] / 2
    refined = (
        max(-half_x, region[0] - margin),
        min(half_x, region[1] + margin),
        max(-half_y, region[2] - margin),
        min(half_y, region[3] + margin),
    )
    layer = min(np.sqrt(_diffusivity(process.material) * sigma / fastest), sigma)
    grid = graded_grid(plate, refined, fine=0.5 * sigma / refine, first_depth=layer / 4.0 / refine)
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


def _diffusivity(material: Material) -> float:
    """k/(ρc) at the cold end, where the layer under the beam is thinnest, m²/s."""
    cold = material.valid[0]
    k, rho, cp = material.conductivity(cold), material.density(cold), material.heat_capacity(cold)
    return float(k / (rho * cp))


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A plant's state at one moment, to come back to."""

    state: State
    time: float
    power: float
    emitted: float
    pace: int
    heading: float
    identity: str  # of the grid and the material it belongs to


class Plant:
    """A plate at rest until `step` brings heat. Objects are ready when built."""

    def __init__(self, settings: PlantSettings) -> None:
        self.settings = settings
        self.table = tabulate(settings.material, settings.ambient)
        self._conduction = Conduction(
            settings.grid,
            self.table,
            scheme=settings.scheme,
            tolerance=settings.tolerance,
            edge=settings.edge,
        )
        x, y = settings.grid.x, settings.grid.y
        self._plate = float(x[0]) - SLACK, float(x[-1]) + SLACK, float(y[0]) - SLACK, float(y[-1]) + SLACK
        self._identity = _identify(settings.grid, self.table)
        self._warned: set[str] = set()
        self._power = 0.0  # W, of the latest tick
        self._emitted = 0.0  # W, what a laser with a lag gives right now
        self._pace = 1  # its substeps
        self._failed = False
        self._heading = 0.0  # rad, of the beam when it last moved
        self.time = 0.0  # s

    def reset(self) -> Surface:
        """The whole plate back to ambient temperature."""
        self._conduction.reset()
        self._warned.clear()
        self.time = self._power = self._emitted = 0.0
        self._pace, self._failed, self._heading = 1, False, 0.0
        return self.surface()

    def step(self, power: float, spot: FloatArray) -> Surface:
        """One tick at a constant command, W, the beam going from spot[0] to spot[1], m.

        A laser with a lag gives the mean of what it emits meanwhile; one without gives just the command. With
        the command 0 the beam may go anywhere; off the plate, what a lagging laser still emits is lost.
        """
        if self._failed:
            raise BadInput("the last tick failed half done: reset the plant or restore a snapshot first")
        spot = np.asarray(spot, dtype=float)
        s = self.settings
        self._check(power)
        self._check_spot(power, spot)
        power, emitted = s.process.laser.follow(self._emitted, s.absorbed * power, s.tick)
        if self._is_off_plate(spot):
            power = 0.0
        else:
            reach = REACH * s.beam.sigma
            (x0, y0), (x1, y1) = spot.tolist()
            west, east, south, north = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
            self._conduction.widen(west - reach, east + reach, south - reach, north + reach, reach / 2)
        substeps = self._substeps(power, spot)
        self._failed = True  # until the tick is done
        for n in range(substeps):
            self._conduction.advance(
                s.tick / substeps, self._sources(power, spot, n / substeps, 1 / substeps)
            )
        self._failed = False
        self._power, self._emitted, self._pace = power, emitted, substeps
        if (spot[1] != spot[0]).any():
            self._heading = float(np.arctan2(*(spot[1] - spot[0])[::-1]))
        self.time += s.tick
        surface = self.surface()
        self._watch_range(surface)
        return surface

    def surface(self) -> Surface:
        """The lasered surface now."""
        grid = self.settings.grid
        temperature, row, col = self._conduction.read_surface()
        return Surface(grid.x, grid.y, temperature, self.time, (row, col))

    def t_max(self, surface: Surface) -> Hottest:
        """What this plant calls T_max: the sub-grid peak, or the hottest node as in the paper."""
        return surface.peak if self.settings.subgrid else surface.node

    def melt_pool(self, surface: Surface) -> MeltPool | None:
        """The liquid under the `surface` of now, along and across the beam's way; None if there is none.

        Liquid is what is hotter than the liquidus. A material without a melting point never melts.
        """
        melting = self.settings.material.melting
        if melting is None or surface.node.temperature <= melting.solidus:
            return None
        box = find_box(surface.temperature - melting.liquidus)
        theta = self._conduction.column_block(*box)
        liquidus = float(self.table.theta_of(np.array([melting.liquidus]))[0])
        return measure_pool(cut_out(self.settings.grid, box, theta - liquidus), self._heading)

    def temperature(self) -> FloatArray:
        """The whole field (z, y, x), K; z counts downwards from the surface."""
        return self.table.temperature_of(self._conduction.field())

    def snapshot(self) -> Snapshot:
        """A copy of the state, to plan on and come back to."""
        return Snapshot(
            state=self._conduction.save(),
            time=self.time,
            power=self._power,
            emitted=self._emitted,
            pace=self._pace,
            heading=self._heading,
            identity=self._identity,
        )

    def restore(self, snapshot: Snapshot) -> Surface:
        """Back to a snapshot of this plant, or of one with the same grid and material."""
        if snapshot.identity != self._identity:
            raise BadInput("a snapshot must come from a plant with the same grid, material and ambient")
        self._conduction.load(snapshot.state)
        self.time, self._power, self._pace = snapshot.time, snapshot.power, snapshot.pace
        self._emitted, self._heading = snapshot.emitted, snapshot.heading
        self._failed = False
        return self.surface()

    @property
    def books(self) -> dict[str, float]:
        """Heat absorbed, lost through the bottom and stored, J."""
        c = self._conduction
        return {"absorbed": c.absorbed, "lost": c.lost, "stored": c.stored()}

    def _substeps(self, power: float, spot: FloatArray) -> int:
        """As many as keep the beam from moving more than 0.4 of its width in one.

        More when the power jumps, and then one fewer each tick: 20 W after 2 W costs 26 K in one step, and
        1.3 K so (test_switching_power_is_resolved_to_2_k).
        """
        if not self.settings.continuous:
            return 1
        moved = float(np.hypot(*(spot[1] - spot[0]))) if power > 0 else 0.0
        hop = moved / (STRIDE * self.settings.beam.sigma)
        jump = abs(power - self._power)
        after_jump = 1 + sum(jump > share * max(power, self._power) for share in JUMPS)
        return max(after_jump, ceil(hop - 1e-9), self._pace - 1)

    def _sources(self, power: float, spot: FloatArray, start: float, share: float) -> tuple[Source, ...]:
        """The flux at each stage of a step that covers `share` of the tick from `start` on."""
        s = self.settings
        places = (start + time * share if s.continuous else 1.0 for time, _ in s.scheme.stages)
        return tuple(find_flux(s.beam, s.grid, power, *(spot[0] + p * (spot[1] - spot[0]))) for p in places)

    @staticmethod
    def _check(power: float) -> None:
        if not (isfinite(power) and power >= 0):
            raise BadInput(f"laser power must be a finite number ≥ 0 W, got {power}")

    def _is_off_plate(self, spot: FloatArray) -> bool:
        """Does the beam leave the plate during the tick?"""
        x_low, x_high, y_low, y_high = self._plate
        return not all(x_low <= x <= x_high and y_low <= y <= y_high for x, y in spot.tolist())

    def _check_spot(self, power: float, spot: FloatArray) -> None:
        """A beam that heats must be where the grid is made for it; a dark one may be anywhere."""
        if spot.shape != (2, 2) or not all(map(isfinite, spot.flat)):
            raise BadInput(f"a spot is two finite points (x, y) in m, got {spot.tolist()}")
        if power == 0.0:
            return
        x, y = self.settings.grid.x, self.settings.grid.y
        self._check_inside(spot, (x[0], x[-1], y[0], y[-1]), "the beam must stay on the plate of")
        if self.settings.region is not None:
            rule = "the beam must stay where the grid is fine (give graded_settings a larger region):"
            self._check_inside(spot, self.settings.region, rule)

    @staticmethod
    def _check_inside(spot: FloatArray, box: tuple[float, float, float, float], rule: str) -> None:
        x_low, x_high, y_low, y_high = box
        for x, y in spot.tolist():
            if not (x_low - SLACK <= x <= x_high + SLACK and y_low - SLACK <= y <= y_high + SLACK):
                raise BadInput(
                    f"{rule} x {x_low:g} to {x_high:g} and y {y_low:g} to {y_high:g} m, got ({x:g}, {y:g})"
                )

    def _watch_range(self, surface: Surface) -> None:
        """Say once per run and side that the material's range was left; refuse to go on beyond boiling."""
        material = self.settings.material
        if material.melting is not None and surface.node.temperature > material.melting.boiling:
            raise BadInput(
                f"after {1e3 * self.time:.4g} ms the surface is at {surface.node.temperature:.0f} K, above "
                f"the boiling point of material {material.name} ({material.melting.boiling:g} K), and "
                "evaporation is not modelled: lower the power, widen the beam or go faster"
            )
        low, high = material.valid
        complaints = {
            "above": material.outside(low, surface.node.temperature),
            "below": material.outside(self.settings.ambient, high),
        }
        for side, complaint in complaints.items():
            if complaint is not None and side not in self._warned:
                self._warned.add(side)
                warnings.warn(complaint, stacklevel=3)


def _identify(grid: Grid, table: HeatTable) -> str:
    """A name for what a state's numbers mean."""
    digest = blake2b(digest_size=16)
    for array in (
        grid.x,
        grid.y,
        grid.z,
        table.heat,
        table.temperature,
        np.array([table.ambient, table.low]),
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
