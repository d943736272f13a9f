"""A job: a file in, the same file with planned powers out, and an account of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import Placement, ScanFile, Track
from laserloop.paths.text import Schedule
from laserloop.planning.commands import PlanSettings, Route, lay_route
from laserloop.planning.plan import SCORES, LayerCache, LayerPlan, Planner, Progress, free_speeds, set_speeds
from laserloop.planning.powers import PlanCorrection
from laserloop.planning.scores import LayerResult, Verdict, judge_plan, score_layers
from laserloop.planning.window import check_window, note_melting
from laserloop.predict.twin.rollout import find_speed, judge_reach
from laserloop.process import Process

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What a simulation of a planned layer taught."""

    correction: PlanCorrection
    speeds: FloatArray  # (stretches,), m/s, that the layer was simulated at; NaN: as the file says


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be planned, on what, and how."""

    file: ScanFile
    process: Process
    settings: PlanSettings = field(default_factory=PlanSettings)
    placement: Placement = field(default_factory=Placement)
    recoating: float = 10.0  # s, between two layers
    folder: Path | None = None  # where layers are kept that are done; None: nowhere

    def find_cache(self, learned: Sequence[Learned] = ()) -> LayerCache | None:
        """The layers of this job that are done, by a twin that has learned this."""
        if self.folder is None:
            return None
        more = asdict(self.placement) | {"recoating": self.recoating, "s_max": self.file.s_max}
        if learned:
            factors = (each.correction.factor.tobytes() for each in learned)
            more["learned"] = [hashlib.sha256(factor).hexdigest() for factor in factors]
        return LayerCache(self.folder, self.file.content, self.process, self.settings, more)

    def read(self) -> list[Track]:
        """The layers that are meant, where they lie on the plate."""
        return self.read_chosen()[0]

    def read_chosen(self) -> tuple[list[Track], int]:
        """The same, and how many layers the file has."""
        layers, layer = self.file.read_layers(), self.placement.layer
        count = len(layers)
        if layer is not None:
            if layer > count:
                raise BadInput(
                    f"{self.file.name}: the layer must be 1 to {count}, but is {layer}; choose one of these."
                )
            layers = [layers[layer - 1].add_notes(layers[0].notes)]
        placed = [self.placement.move(track) for track in layers]
        for track in placed:
            track.check(self.file.name, self.process.plate[:2])
        return placed, count

    def lay(self, track: Track) -> Route:
        """A layer at its own speeds."""
        return lay_route(track, self.process, name=self.file.name, jump_speed=self.placement.jump_speed)

    def again(self, content: bytes) -> "Job":
        """The same for what was written by it."""
        return replace(self, file=replace(self.file, content=content))


# No slots: cached_property keeps the content, which is simulated and then written.
@dataclass(frozen=True, kw_only=True, eq=False)
class FilePlan:
    """Plans of all layers of a job, and what the plant did with them if it was asked."""

    job: Job
    planner: Planner
    layers: tuple[LayerPlan, ...]
    time_before: float  # s, of the file as it was, without recoating
    notes: tuple[str, ...]
    refined: int = 0  # times that it was simulated and made anew
    results: tuple[LayerResult, ...] | None = None  # of the layers that were simulated; None: not asked
    problem: str = ""  # why the simulation ended early
    left: str = ""  # which layers of the file were left as they were; empty if none

    @property
    def schedule(self) -> Schedule:
        """Of the whole file."""
        return {move: command for layer in self.layers for move, command in layer.schedule.items()}

    def __repr__(self) -> str:
        told = self.tell()
        return (
            f"Plan({told['path']!r}: {told['commands']} powers for {told['vectors']} vectors, "
            f"{min(told['power_w']):.4g}–{max(told['power_w']):.4g} W, planned at {told['t_min_k']:.1f}–"
            f"{told['t_max_k']:.1f} K)"
        )

    def save(self, file: Path | str) -> Path:
        """Write the planned file there, in the format of the one it was made from."""
        there = Path(file)
        try:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(self.write())
        except OSError as problem:
            raise BadInput(
                f"a plan must go where files can be written, but {there} cannot ({problem.strerror}): choose "
                "another place"
            ) from problem
        return there

    @cached_property
    def content(self) -> bytes:
        """Of the planned file, without a mark."""
        return self.job.file.write(self.schedule)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether it holds, as far as it was simulated."""
        planned = tuple(layer.result for layer in self.layers)
        return judge_plan(self.job.process, self.job.settings, planned, self.results, self.problem)

    def write(self) -> bytes:
        """The content of the planned file; its head says what is not certain and what a watt means."""
        told = (self.verdict.mark, self.left, f"powers are {self.job.process.describe_power()}")
        first, *others = [part for part in told if part]
        return self.job.file.mark(self.content, ". ".join([first, *(o[0].upper() + o[1:] for o in others)]))

    def tell(self) -> dict[str, Any]:
        """The account, in numbers."""
        process, verdict = self.job.process, self.verdict
        layers = [layer.tell(process.window) for layer in self.layers]
        for told, result in zip(layers, self.results or (), strict=False):
            told["verified"] = {"plant": "graded"} | score_layers([result], process.window)
        scores = score_layers([layer.result for layer in self.layers], process.window)
        time = sum(told["time_s"] for told in layers)
        return {
            "path": self.job.file.name,
            "by": self.job.settings.by,
            "refined": self.refined,
            **{name: sum(told[name] for told in layers) for name in ("vectors", "commands")},
            **{name: scores[name] for name in SCORES},
            "holds": verdict.holds,
            **({} if verdict.scores is None else {"verified": verdict.scores}),
            "power_means": process.describe_power(),
            "power_w": [watts for layer in self.layers for watts in layer.powers.tolist()],
            "time_s": time,
            "time_saved_s": self.time_before - time,
            "layers": layers,
            "gain": self.planner.gain,
            "window_k": list(process.window),
            "process": process.to_json(),
            "version": version("laserloop"),
            "notes": [*self.notes, *verdict.notes, *self._tell_mark()],
        }

    def _tell_mark(self) -> tuple[str, ...]:
        if not (self.verdict.mark or self.left) or self.job.file.takes_marks:
            return ()
        return (f"{self.job.file.name}: a file of events has no comments, so it does not say so itself",)


def plan_job(
    job: Job,
    *,
    planner: Planner | None = None,
    learned: Sequence[Learned] = (),
    progress: Progress | None = None,
) -> FilePlan:
    """Plan all layers of a file one after another, the plate cooling in between.

    With a planner of the same job and what its layers have taught it is the next round of a refinement.
    """
    check_window(job.process)
    job = replace(job, settings=_coarsen(job))
    tracks, count = job.read_chosen()
    routes = [job.lay(track) for track in tracks]
    usual, fastest = _find_speeds(job, routes)
    if planner is None:
        planner = Planner(job.process, job.settings, fastest=fastest, usual=usual)
    else:
        planner.reset()
    layers = list[LayerPlan]()
    for k, (track, route) in enumerate(zip(tracks, routes, strict=True)):
        if k:
            planner.pause(job.recoating, route.path.positions[0])
        layers.append(_plan_layer(job, planner, (k, track, route), learned, progress))
    reach = judge_reach(job.process, usual)
    notes = [note for route in routes for note in route.path.notes] + ([] if reach is None else [reach])
    notes += [*note_melting(job.process), *describe_levels(tracks, job.file.name)]
    left = ""
    if len(tracks) < count:
        only = f"only layer {job.placement.layer} of {count} is planned"
        left = f"{only}, the others are as they were and NOT VERIFIED"
        notes.append(f"{job.file.name}: {left}")
    return FilePlan(
        job=job,
        planner=planner,
        layers=tuple(layers),
        time_before=sum(route.time for route in routes),
        notes=tuple(dict.fromkeys(notes)),
        left=left,
    )


def find_rises(tracks: list[Track]) -> list[float]:
    """How far the surface rises before each layer, m.

    Where z only falls the file counts downwards, as a platform is lowered: the surface rises all the same.
    """
    steps = np.diff([track.level for track in tracks])
    if (steps <= 0).all():
        steps = -steps
    return [0.0, *steps.tolist()]


def describe_levels(tracks: list[Track], file: str) -> tuple[str, ...]:
    """What is made of layers that do not rise from one to the next; sentences without their full stop."""
    steps = np.diff([track.level for track in tracks])
    falling = np.flatnonzero(steps < 0)
    if not len(falling):
        return ()
    if (steps <= 0).all():
        return (f"{file}: z falls from layer to layer, which is taken for a platform that is lowered",)
    return (
        f"{file}: layer {falling[0] + 2} lies below the one before it; a simulation lets it follow on the "
        "surface that is there",
    )


def _find_speeds(job: Job, routes: list[Route]) -> tuple[float, float]:
    """The usual and the fastest speed of lit moves, m/s, those that are free included."""
    speeds = np.concatenate([route.path.lit_speeds for route in routes])
    usual = float(np.median(speeds)) or job.process.speed
    fastest, limits = max(float(speeds.max()), usual), job.settings.speeds
    if limits is None:
        return usual, fastest
    most = find_speed(job.process, job.process.laser.power[1])
    return float(np.clip(most, *limits)), max(fastest, limits[1])


def _plan_layer(
    job: Job,
    planner: Planner,
    layer: tuple[int, Track, Route],
    learned: Sequence[Learned],
    progress: Progress | None,
) -> LayerPlan:
    """One layer: from the cache if it is there, at its own speeds or at free ones."""
    k, track, route = layer
    cache = job.find_cache(learned)
    kept = None if cache is None else cache.find(k)
    lesson = learned[k] if learned else None
    correction = None if lesson is None else lesson.correction

    def move(speeds: FloatArray) -> Route:
        return route if np.isnan(speeds).all() else job.lay(set_speeds(track, route, speeds))

    if kept is not None:
        return planner.replay(move(kept.speeds), kept, correction)
    if lesson is not None:
        planned = planner.plan(
            move(lesson.speeds), speeds=lesson.speeds, correction=correction, progress=progress
        )
    elif job.settings.speeds is None:
        planned = planner.plan(route, progress=progress)
    else:
        faster, chosen = free_speeds(track, job.lay, planner, job.settings.speeds, progress)
        planned = planner.plan(job.lay(faster), speeds=chosen, progress=progress)
    if cache is not None:
        cache.keep(k, planned.kept)
    return planned


def _coarsen(job: Job) -> PlanSettings:
    """Steps as coarse as the file's own numbers."""
    return replace(job.settings, step=max(job.settings.step, job.file.find_step()))
