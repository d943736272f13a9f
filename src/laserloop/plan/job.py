"""A job: a file in, the same file with planned powers out, and an account of it."""

import hashlib
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import Track
from laserloop.paths.orders import Orders, join_orders
from laserloop.paths.path import SETTLING_TICKS
from laserloop.paths.sampling import DEFAULT_JUMP_SPEED
from laserloop.paths.scan_file import ScanFile
from laserloop.plan.correction import Correction
from laserloop.plan.plan import LayerPlan, Planner, Progress
from laserloop.plan.route import Route, lay_route
from laserloop.plan.settings import PlanSettings
from laserloop.plan.shelf import Shelf
from laserloop.plan.speeds import free_speeds, set_speeds
from laserloop.plan.window import check_window, tell_melting, tell_missed
from laserloop.predict.twin.reach import find_speed, judge_reach
from laserloop.process import Process

FloatArray = NDArray[np.float64]

SUMS = ("ticks", "vectors", "commands", "n_over")  # of layers


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What a simulation of a planned layer taught."""

    correction: Correction
    speeds: FloatArray  # (stretches,), m/s, that the layer was simulated at; NaN: as the file says


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be planned, on what, and how."""

    file: ScanFile
    process: Process
    settings: PlanSettings = field(default_factory=PlanSettings)
    layer: int | None = None  # None: all
    offset: tuple[float, float] = (0.0, 0.0)  # m
    centre: bool = False
    jump_speed: float = DEFAULT_JUMP_SPEED  # m/s, of dark moves without their own
    recoating: float = 10.0  # s, between two layers
    settling: float = np.inf  # m, see `Route`; of free speeds ten ticks at the file's own
    folder: Path | None = None  # where layers are kept that are done; None: nowhere
    refine: int = 0  # how often the plan is simulated and made anew, see `plan_refined`
    learned: tuple[Learned, ...] = ()  # of each layer, once it was simulated

    @property
    def shelf(self) -> Shelf | None:
        """The layers of this job that are done."""
        if self.folder is None:
            return None
        names = ("layer", "offset", "centre", "jump_speed", "recoating")
        more = {name: getattr(self, name) for name in names} | {"s_max": self.file.s_max}
        if self.learned:
            factors = (each.correction.factor.tobytes() for each in self.learned)
            more["learned"] = [hashlib.sha256(factor).hexdigest() for factor in factors]
        return Shelf(self.folder, self.file.name, self.process, self.settings, more)

    def read(self) -> list[Track]:
        """The layers that are meant, where they lie on the plate."""
        layers = self.file.read_layers()
        if self.layer is not None:
            if self.layer > len(layers):
                raise BadInput(
                    f"{self.file.name}: the layer must be 1 to {len(layers)}, but is {self.layer}; "
                    "choose one of these."
                )
            layers = [layers[self.layer - 1].add_notes(layers[0].notes)]
        placed = [track.centre() if self.centre else track.shift(self.offset) for track in layers]
        for track in placed:
            track.check(self.file.name, self.process.plate[:2])
        return placed

    def lay(self, track: Track) -> Route:
        """A layer at its own speeds."""
        return lay_route(
            track,
            self.process,
            name=self.file.name,
            jump_speed=self.jump_speed,
            settling=self.settling,
        )

    def again(self, file: str) -> "Job":
        """The same for a file that was written by it."""
        return replace(self, file=replace(self.file, name=file))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FilePlan:
    """Plans of all layers of a job."""

    job: Job
    layers: tuple[LayerPlan, ...]
    gain: float  # of the twin
    time_before: float  # s, of the file as it was, without recoating
    notes: tuple[str, ...]

    @property
    def orders(self) -> Orders:
        """Of the whole file."""
        return join_orders([layer.orders for layer in self.layers])

    def write(self) -> bytes:
        """The content of the planned file."""
        return self.job.file.write(self.orders)

    def tell(self) -> dict[str, Any]:
        """The account, in numbers."""
        process, settings = self.job.process, self.job.settings
        layers = [layer.tell(process.window) for layer in self.layers]
        counted = [int(layer.route.counted.sum()) for layer in self.layers]
        below = sum(n * told["below_fraction"] for n, told in zip(counted, layers, strict=True))
        time = sum(told["time_s"] for told in layers)
        coldest, hottest = min(told["t_min_k"] for told in layers), max(told["t_max_k"] for told in layers)
        outside = (below + sum(told["n_over"] for told in layers)) / sum(counted)
        return {
            "path": self.job.file.name,
            "by": settings.by,
            "refined": self.job.refine,
            **{name: sum(told[name] for told in layers) for name in SUMS},
            "t_max_k": hottest,
            "t_min_k": coldest,
            "below_fraction": below / sum(counted),
            "power_w": [watts for layer in self.layers for watts in layer.powers.tolist()],
            "time_s": time,
            "time_saved_s": self.time_before - time,
            "layers": layers,
            "gain": self.gain,
            "window_k": list(process.window),
            "process": process.to_json(),
            "version": version("laserloop"),
            "notes": [*self.notes, *tell_missed(process.window, coldest, hottest, outside)],
        }


def plan_job(job: Job, *, progress: Progress | None = None) -> FilePlan:
    """Plan all layers of a file one after another, the plate cooling in between; once, see `plan_refined`."""
    check_window(job.process)
    job = replace(job, settings=_coarsen(job))
    tracks = job.read()
    routes = [job.lay(track) for track in tracks]
    speeds = np.concatenate([route.path.lit_speeds for route in routes])
    usual = float(np.median(speeds)) or job.process.speed
    fastest, limits = max(float(speeds.max()), usual), job.settings.speeds
    if limits is not None:
        job = replace(job, settling=SETTLING_TICKS * job.process.tick * usual)
        usual = float(np.clip(find_speed(job.process, job.process.laser.power[1]), *limits))
        fastest = max(fastest, limits[1])
    planner = Planner(job.process, job.settings, fastest=fastest, usual=usual)
    layers = list[LayerPlan]()
    for k, (track, route) in enumerate(zip(tracks, routes, strict=True)):
        if k:
            planner.pause(job.recoating, route.path.positions[0])
        layers.append(_plan_layer(job, planner, (k, track, route), progress))
    reach = judge_reach(job.process, usual)
    notes = [note for route in routes for note in route.path.notes] + ([] if reach is None else [reach])
    notes += tell_melting(job.process)
    return FilePlan(
        job=job,
        layers=tuple(layers),
        gain=planner.gain,
        time_before=sum(route.time for route in routes),
        notes=tuple(dict.fromkeys(notes)),
    )


def _plan_layer(
    job: Job, planner: Planner, layer: tuple[int, Track, Route], progress: Progress | None
) -> LayerPlan:
    """One layer: from the shelf if it is there, at its own speeds or at free ones."""
    k, track, route = layer
    shelf = job.shelf
    kept = None if shelf is None else shelf.find(k)
    learned = job.learned[k] if job.learned else None
    correction = None if learned is None else learned.correction

    def move(speeds: FloatArray) -> Route:
        return route if np.isnan(speeds).all() else job.lay(set_speeds(track, route, speeds))

    if kept is not None:
        return planner.replay(move(kept.speeds), kept, correction)
    if learned is not None:
        planned = planner.plan(
            move(learned.speeds), speeds=learned.speeds, correction=correction, progress=progress
        )
    elif job.settings.speeds is None:
        planned = planner.plan(route, progress=progress)
    else:
        faster, chosen = free_speeds(track, job.lay, planner, job.settings.speeds, progress)
        planned = planner.plan(job.lay(faster), speeds=chosen, progress=progress)
    if shelf is not None:
        shelf.keep(k, planned.kept)
    return planned


def _coarsen(job: Job) -> PlanSettings:
    """Steps as coarse as the file's own numbers."""
    return replace(job.settings, step=max(job.settings.step, job.file.find_step()))
