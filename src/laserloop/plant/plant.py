"""The plant: a plate under a moving laser, stepped tick by tick. The referee of everything else.

How heat spreads is the business of its solver; here are the laser, the rules of a tick and its warnings.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, check_kind
from laserloop.paths.path import ScanPath, check_on_plate
from laserloop.plant.melt_pool import MeltPool, Patch, measure_pool
from laserloop.plant.surface import Hottest, Surface
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]

PLANTS = ("paper", "graded")
SLACK = 1e-9  # m; a beam on the edge is on the plate


class HeatSolver(Protocol):
    """The heat of a plate whose bottom is held at ambient temperature; what a plant asks of its solver."""

    @property
    def identity(self) -> str:
        """Of geometry and material: what a saved state's numbers mean."""

    def reset(self) -> None:
        """Everything back to ambient temperature."""

    def advance(self, power: float, spot: FloatArray, seconds: float) -> None:
        """The absorbed `power`, W, goes straight from spot[0] to spot[1], m; 0 is dark."""

    def rest(self, seconds: float) -> None:
        """The beam is away for some seconds."""

    def raise_surface(self, thickness: float) -> None:
        """Fresh metal at ambient temperature on top, m; the bottom stays where it is."""

    def surface(self, time: float) -> Surface:
        """What the lasered surface looks like now."""

    def liquid(self, theta: float) -> Patch | None:
        """θ above `theta`, W/m, around all that is hotter, or None if nothing may be."""

    def energy(self) -> dict[str, float]:
        """Heat absorbed, lost through the bottom and stored, J."""

    def save(self) -> dict[str, NDArray[Any]]:
        """A copy of the state, as named arrays."""

    def load(self, arrays: Arrays) -> None:
        """Back to a saved state, to go on from there bit for bit."""

    def describe(self) -> str:
        """How fine it is, in a line for reports."""

    def cells(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Lines along x, y and z, m, z downwards, and temperatures (z, y, x) where they cross, K."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantSettings:
    """What defines a plant: a process, and how its heat is computed."""

    name: str
    process: Process
    absorbed: float = 1.0  # share of the heat that the process promises; a trial may tell the controller more
    refine: float = 1.0  # of the graded plant: 2 halves every spacing
    tolerance: float = 1e-4  # K, of the paper's plant: by which a node may still have to move

    def __post_init__(self) -> None:
        if self.name not in PLANTS:
            raise BadInput(
                f"a plant must be one of {', '.join(PLANTS)}, but got {self.name!r}; choose one of these."
            )
        check_kind(self.process, Process, "the process of a plant", "find one, such as find_process('paper')")
        for name in ("absorbed", "refine", "tolerance"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise BadInput(f"{name} must be a positive number, got {value}: correct it")

    @property
    def subgrid(self) -> bool:
        """Is T_max the peak between the nodes, or the hottest node as in the paper?"""
        return self.name != "paper"


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A plant's state at one moment, to come back to."""

    heat: Arrays  # the solver's
    time: float
    emitted: float
    heading: float
    identity: str  # of the geometry and the material it belongs to

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything in it by name, so that a file can hold it."""
        return {
            **{f"heat_{name}": part for name, part in self.heat.items()},
            "moment": np.array((self.time, self.emitted, self.heading)),
            "identity": np.array(self.identity),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The snapshot that they were made of; others may be among them."""
        heat = {name[5:]: part for name, part in arrays.items() if name.startswith("heat_")}
        time, emitted, heading = arrays["moment"].tolist()
        return cls(heat, time, emitted, heading, str(arrays["identity"]))


class Plant:
    """A plate at rest until `step` brings heat. Objects are ready when built."""

    def __init__(self, settings: PlantSettings, heat: HeatSolver | None = None) -> None:
        """`heat`: what computes it, unless the one that the settings name."""
        self.settings = settings
        self._heat = heat or _make_solver(settings)
        half_x, half_y = (0.5 * side + SLACK for side in settings.process.plate[:2])
        self._half = np.array((half_x, half_y))
        self._warned: set[str] = set()
        self._emitted = 0.0  # W, what a laser with a lag gives right now
        self._failed = False
        self._heading = 0.0  # rad, of the beam when it last moved
        self.time = 0.0  # s

    def reset(self) -> Surface:
        """The whole plate back to ambient temperature."""
        self._heat.reset()
        self._warned.clear()
        self.time = self._emitted = self._heading = 0.0
        self._failed = False
        return self.surface()

    def check_path(self, path: ScanPath) -> None:
        """Refuse a path with another tick, or one that is lit where there is no plate."""
        process = self.settings.process
        if process.tick != path.tick:
            raise BadInput(
                f"plant and path must share one tick, but have {process.tick} s and {path.tick} s; "
                "sample the path with that of the plant's process."
            )
        check_on_plate(path.name, path.positions, path.lit, process.plate[:2])

    def step(self, power: float, spot: FloatArray) -> Surface:
        """One tick at a constant command, W, the beam going from spot[0] to spot[1], m.

        A laser with a lag gives the mean of what it emits meanwhile; one without gives just the command. With
        the command 0 the beam may go anywhere; off the plate, what a lagging laser still emits is lost.
        """
        self._check_running()
        spot = np.asarray(spot, dtype=float)
        process = self.settings.process
        self._check(power, spot)
        power *= self.settings.absorbed
        power, emitted = process.laser.follow(self._emitted, power, process.tick)
        self._failed = True  # until the tick is done
        on_plate = (np.abs(spot) <= self._half).all()
        self._heat.advance(process.beam.absorptivity * power if on_plate else 0.0, spot, process.tick)
        self._failed = False
        self._emitted = emitted
        if (spot[1] != spot[0]).any():
            self._heading = float(np.arctan2(*(spot[1] - spot[0])[::-1]))
        self.time += process.tick
        surface = self.surface()
        self._watch_range(surface)
        return surface

    def rest(self, seconds: float) -> Surface:
        """The laser off for some seconds, in few steps; what a lagging laser still emits is lost."""
        self._check_running()
        if not (isfinite(seconds) and seconds > 0):
            raise BadInput(
                f"the pause of a plate at rest must be a positive number, got {seconds}: correct it"
            )
        self._heat.rest(seconds)
        _, self._emitted = self.settings.process.laser.follow(self._emitted, 0.0, seconds)
        self.time += seconds
        return self.surface()

    def add_layer(self, thickness: float) -> Surface:
        """Fresh solid metal at ambient temperature on top, m; the bottom stays where it is, at ambient.

        Powder is not modelled: what is added conducts at once, and touches the plate everywhere.
        """
        self._check_running()
        if not (isfinite(thickness) and thickness > 0):
            raise BadInput(f"a layer's thickness must be a positive length in m, got {thickness}: correct it")
        self._heat.raise_surface(thickness)
        return self.surface()

    def surface(self) -> Surface:
        """The lasered surface now."""
        return self._heat.surface(self.time)

    def t_max(self, surface: Surface) -> Hottest:
        """What this plant calls T_max: the sub-grid peak, or the hottest node as in the paper."""
        return surface.peak if self.settings.subgrid else surface.node

    def melt_pool(self, surface: Surface) -> MeltPool | None:
        """The liquid under the `surface` of now, along and across the beam's way; None if there is none.

        Liquid is what is hotter than the liquidus. A material without a melting point never melts.
        """
        material, ambient = self.settings.process.material, self.settings.process.ambient
        if material.melting is None or surface.node.temperature <= material.melting.solidus:
            return None
        liquidus = np.array([material.melting.liquidus])
        patch = self._heat.liquid(float(tabulate(material, ambient).theta_of(liquidus)[0]))
        return None if patch is None else measure_pool(patch, self._heading)

    def snapshot(self) -> Snapshot:
        """A copy of the state, to plan on and come back to."""
        return Snapshot(self._heat.save(), self.time, self._emitted, self._heading, self.identity)

    def restore(self, snapshot: Snapshot) -> Surface:
        """Back to a snapshot of this plant, or of one with the same grid and material."""
        if snapshot.identity != self.identity:
            raise BadInput(
                "a snapshot must come from a plant with the same grid, material and ambient: take one of this"
            )
        self._heat.load(snapshot.heat)
        self.time, self._emitted, self._heading = snapshot.time, snapshot.emitted, snapshot.heading
        self._failed = False
        return self.surface()

    @property
    def identity(self) -> str:
        """Of geometry and material: what a snapshot's numbers mean."""
        return self._heat.identity

    @property
    def books(self) -> dict[str, float]:
        """Heat absorbed, lost through the bottom and stored, J."""
        return self._heat.energy()

    def describe(self) -> str:
        """How fine it is, in a line."""
        return self._heat.describe()

    def cells(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Lines along x, y and z, m, z downwards, and temperatures (z, y, x) where they cross, K."""
        return self._heat.cells()

    def _check_running(self) -> None:
        if self._failed:
            raise BadInput("the last tick failed half done: reset the plant or restore a snapshot first")

    def _check(self, power: float, spot: FloatArray) -> None:
        """A beam that heats must be on the plate; a dark one may be anywhere."""
        if not (isfinite(power) and power >= 0):
            raise BadInput(f"laser power must be a finite number ≥ 0 W, got {power}: correct it")
        if spot.shape != (2, 2) or not np.isfinite(spot).all():
            raise BadInput(f"a spot is two finite points (x, y) in m, got {spot.tolist()}: correct it")
        off = (np.abs(spot) > self._half).any(axis=1)
        if power > 0.0 and off.any():
            (x, y), (half_x, half_y) = spot[np.argmax(off)], 0.5 * np.array(self.settings.process.plate[:2])
            raise BadInput(
                f"the beam must stay on the plate of x {-half_x:g} to {half_x:g} and y {-half_y:g} to "
                f"{half_y:g} m, got ({x:g}, {y:g}): move it"
            )

    def _watch_range(self, surface: Surface) -> None:
        """Say once per run and side that the material's range was left; refuse to go on beyond boiling."""
        material = self.settings.process.material
        if material.melting is not None and surface.node.temperature > material.melting.boiling:
            raise BadInput(
                f"after {1e3 * self.time:.4g} ms the surface is at {surface.node.temperature:.0f} K, above "
                f"the boiling point of material {material.name} ({material.melting.boiling:g} K), and "
                "evaporation is not modelled: lower the power, widen the beam or go faster"
            )
        low, high = material.valid
        complaints = {
            "above": material.outside(low, surface.node.temperature),
            "below": material.outside(self.settings.process.ambient, high),
        }
        for side, complaint in complaints.items():
            if complaint is not None and side not in self._warned:
                self._warned.add(side)
                warnings.warn(complaint, stacklevel=3)


def make_plant(
    name: str, process: Process | None = None, *, absorbed: float = 1.0, refine: float = 1.0
) -> Plant:
    """The plant called `name` of a process, the paper's unless given.

    `absorbed`: share of the heat that the process promises; `refine`: 2 halves the graded plant's spacings.
    """
    return Plant(
        PlantSettings(
            name=name, process=Process() if process is None else process, absorbed=absorbed, refine=refine
        )
    )


def _make_solver(settings: PlantSettings) -> HeatSolver:
    """The one that the settings name; its kernels are loaded only now."""
    table = tabulate(settings.process.material, settings.process.ambient)
    if settings.name == "paper":
        from laserloop.plant.paper import PaperHeat

        return PaperHeat(settings.process, table, tolerance=settings.tolerance)
    from laserloop.plant.nested import NestedHeat

    return NestedHeat(settings.process, table, refine=settings.refine)
