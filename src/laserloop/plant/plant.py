"""The plant: a plate under a moving laser, stepped tick by tick. The referee of everything else."""

import warnings
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil, isfinite

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.plant.conduction import Conduction, Source, State
from laserloop.plant.flux import REACH, find_flux
from laserloop.plant.grid import Grid, find_depths
from laserloop.plant.melt_pool import MeltPool, cut_out, find_box, measure_pool
from laserloop.plant.moving_grid import Focus
from laserloop.plant.rest import cool_down
from laserloop.plant.settings import PlantSettings
from laserloop.plant.surface import Hottest, Surface, reach_edges
from laserloop.process.heat_table import HeatTable, tabulate

FloatArray = NDArray[np.float64]

STRIDE = 0.4  # beam widths moved per step at most; costs 0.5 K of 600 at constant power
JUMPS = (0.01, 0.25)  # changes of power, as a share of it, that each take one substep more
REST = 0.05  # K, error of one step of a pause
SLACK = 1e-9  # m; a beam on the edge is on the plate


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A plant's state at one moment, to come back to."""

    state: State
    time: float
    power: float
    emitted: float
    pace: int
    heading: float
    focus: tuple[Focus, Focus] | None  # of a moving grid
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
        x_low, x_high, y_low, y_high = (float(edge) for edge in settings.grid.edges)
        self._plate = x_low - SLACK, x_high + SLACK, y_low - SLACK, y_high + SLACK
        self._identity = _identify(settings.grid, self.table)
        self._focus: tuple[Focus, Focus] | None = None  # where a moving grid is fine
        self._warned: set[str] = set()
        self._power = 0.0  # W, of the latest tick
        self._emitted = 0.0  # W, what a laser with a lag gives right now
        self._pace = 1  # its substeps
        self._failed = False
        self._heading = 0.0  # rad, of the beam when it last moved
        self.time = 0.0  # s

    def reset(self) -> Surface:
        """The whole plate back to ambient temperature."""
        if self.grid is self.settings.grid:
            self._conduction.reset()
        else:  # it has moved, or grown
            self._conduction.restart(self.settings.grid)
        self._focus = None
        self._warned.clear()
        self.time = self._power = self._emitted = 0.0
        self._pace, self._failed, self._heading = 1, False, 0.0
        return self.surface()

    def step(self, power: float, spot: FloatArray) -> Surface:
        """One tick at a constant command, W, the beam going from spot[0] to spot[1], m.

        A laser with a lag gives the mean of what it emits meanwhile; one without gives just the command. With
        the command 0 the beam may go anywhere; off the plate, what a lagging laser still emits is lost.
        """
        self._check_running()
        spot = np.asarray(spot, dtype=float)
        s = self.settings
        self._check(power)
        self._check_spot(power, spot)
        power, emitted = s.process.laser.follow(self._emitted, s.absorbed * power, s.tick)
        if self._is_off_plate(spot):
            power = 0.0
        else:
            reach = REACH * s.beam.sigma
            self._follow(power, spot)
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

    def rest(self, seconds: float, *, tolerance: float = REST) -> Surface:
        """The laser off for some seconds, in as few steps as keep the error of each below `tolerance`, K.

        The beam is away: what a lagging laser still emits is lost.
        """
        self._check_running()
        for what, value in (("pause", seconds), ("tolerance", tolerance)):
            if not (isfinite(value) and value > 0):
                raise BadInput(
                    f"the {what} of a plate at rest must be a positive number, got {value}: correct it"
                )
        s = self.settings
        self._failed = True  # until it is done
        cool_down(self._conduction, seconds, shortest=s.tick / 2, tolerance=tolerance)
        self._failed = False
        _, self._emitted = s.process.laser.follow(self._emitted, 0.0, seconds)
        self._power, self._pace = 0.0, 1
        self.time += seconds
        return self.surface()

    def add_layer(self, thickness: float) -> Surface:
        """Fresh solid metal at ambient temperature on top, m; the bottom stays where it is, at ambient.

        Powder is not modelled: what is added conducts at once, and touches the plate everywhere.
        """
        self._check_running()
        if not (isfinite(thickness) and thickness > 0):
            raise BadInput(f"a layer's thickness must be a positive length in m, got {thickness}: correct it")
        old = self.grid.z
        coarsest = float(np.diff(self.settings.grid.z).max())
        first = float(self.settings.grid.z[1])
        self._conduction.raise_surface(find_depths(float(old[-1]) + thickness, first, coarsest=coarsest))
        return self.surface()

    def _check_running(self) -> None:
        if self._failed:
            raise BadInput("the last tick failed half done: reset the plant or restore a snapshot first")

    def _follow(self, power: float, spot: FloatArray) -> None:
        """Keep a moving grid fine around a beam that heats; in the dark it stays with the heat."""
        moving = self.settings.moving
        if moving is None or power == 0.0:
            return
        focus = moving.follow(self._focus, spot)
        if focus != self._focus:
            self._conduction.move(moving.grid(focus, self.grid.z))
            self._focus = focus

    @property
    def grid(self) -> Grid:
        """The grid of this moment."""
        return self._conduction.grid

    def surface(self) -> Surface:
        """The lasered surface now."""
        grid = self.grid
        temperature, row, col = self._conduction.read_surface()
        if grid.x[0] == grid.x_faces[0]:  # a node on every edge, as on all fixed grids
            return Surface(grid.x, grid.y, temperature, self.time, (row, col))
        x, turned = reach_edges(grid.x, grid.x_faces, temperature.T)
        y, temperature = reach_edges(grid.y, grid.y_faces, turned.T)
        return Surface(x, y, temperature, self.time)

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
        box = find_box(self._conduction.surface_temperature() - melting.liquidus)
        theta = self._conduction.column_block(*box)
        liquidus = float(self.table.theta_of(np.array([melting.liquidus]))[0])
        return measure_pool(cut_out(self.grid, box, theta - liquidus), self._heading)

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
            focus=self._focus,
            identity=self._identity,
        )

    def restore(self, snapshot: Snapshot) -> Surface:
        """Back to a snapshot of this plant, or of one with the same grid and material."""
        if snapshot.identity != self._identity:
            raise BadInput(
                "a snapshot must come from a plant with the same grid, material and ambient: take one of this"
            )
        self._conduction.load(snapshot.state)
        self.time, self._power, self._pace = snapshot.time, snapshot.power, snapshot.pace
        self._emitted, self._heading = snapshot.emitted, snapshot.heading
        self._focus = snapshot.focus
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
        return tuple(
            find_flux(s.beam, self.grid, power, *(spot[0] + p * (spot[1] - spot[0]))) for p in places
        )

    @staticmethod
    def _check(power: float) -> None:
        if not (isfinite(power) and power >= 0):
            raise BadInput(f"laser power must be a finite number ≥ 0 W, got {power}: correct it")

    def _is_off_plate(self, spot: FloatArray) -> bool:
        """Does the beam leave the plate during the tick?"""
        x_low, x_high, y_low, y_high = self._plate
        return not all(x_low <= x <= x_high and y_low <= y <= y_high for x, y in spot.tolist())

    def _check_spot(self, power: float, spot: FloatArray) -> None:
        """A beam that heats must be where the grid is made for it; a dark one may be anywhere."""
        if spot.shape != (2, 2) or not all(map(isfinite, spot.flat)):
            raise BadInput(f"a spot is two finite points (x, y) in m, got {spot.tolist()}: correct it")
        if power == 0.0:
            return
        self._check_inside(spot, self.settings.grid.edges, "the beam must stay on the plate of")
        if self.settings.region is not None:
            rule = "the beam must stay where the grid is fine (give graded_settings a larger region):"
            self._check_inside(spot, self.settings.region, rule)

    @staticmethod
    def _check_inside(spot: FloatArray, box: tuple[float, float, float, float], rule: str) -> None:
        x_low, x_high, y_low, y_high = box
        for x, y in spot.tolist():
            if not (x_low - SLACK <= x <= x_high + SLACK and y_low - SLACK <= y <= y_high + SLACK):
                raise BadInput(
                    f"{rule} x {x_low:g} to {x_high:g} and y {y_low:g} to {y_high:g} m, "
                    f"got ({x:g}, {y:g}): move it"
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
