"""Plans of layers, one after another on the same plate: speeds, powers, and what they lead to."""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.paths import Track
from laserloop.paths.text import Schedule
from laserloop.planning.commands import Commands, PlanSettings, Route, cut, make_schedule
from laserloop.planning.powers import (
    HORIZON,
    CommandOptimizer,
    Course,
    PlanCorrection,
    calibrate_gain,
    make_player,
    plan_ticks,
)
from laserloop.planning.scores import LayerResult, count_ticks, score_layers
from laserloop.predict.twin.rollout import needed_power
from laserloop.process import Process
from laserloop.store import save
from laserloop.versions import hash_code

SCORES = ("ticks", "t_max_k", "t_min_k", "below_fraction", "n_over", "starts")
FIELDS = ("starts", "ends", "powers", "power", "temperature", "speeds")  # of a kept layer

ROUNDS = 9  # of bisection: speeds to 1 %
REPAIRS = 12  # rounds in which what is still too fast slows down,
SLOWER = 0.96  # by this factor
NEAR = 0.1  # of the window's width that a tick may lie from its middle
WHOLE = 1e-4  # m/s, of which speeds are whole numbers

FloatArray = NDArray[np.float64]
Progress = Callable[[str, int, int], None]  # what is being done, how much of it, of how much


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What has to be known of a planned layer to go on after it."""

    commands: Commands
    powers: FloatArray  # (commands,), W
    course: Course
    speeds: FloatArray  # (stretches,), m/s; NaN: as the file says


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerPlan:
    """What is planned for one layer."""

    route: Route
    kept: Kept
    schedule: Schedule
    correction: PlanCorrection  # of the twin that planned it
    result: LayerResult  # as the twin expects it

    @property
    def commands(self) -> Commands:
        """When the power changes."""
        return self.kept.commands

    @property
    def powers(self) -> FloatArray:
        """Of the commands, W."""
        return self.kept.powers

    @property
    def course(self) -> Course:
        """Tick by tick, as the twin expects it with these commands."""
        return self.kept.course

    def series(self) -> dict[str, FloatArray]:
        """Tick by tick, as a figure has it."""
        path = self.route.path
        return {
            "t_s": path.times[1:],
            "lit": path.lit.astype(np.float64),
            "power_w": self.course.power,
            "t_planned_k": self.course.temperature,
        }

    def tell(self, window: tuple[float, float]) -> dict[str, Any]:
        """In numbers, over the ticks that count."""
        path, scores = self.route.path, score_layers([self.result], window)
        return {
            "vectors": len(self.route),
            "commands": len(self.commands),
            **{name: scores[name] for name in SCORES},
            "power_mean_w": float(self.course.power[path.lit].mean()),
            "time_s": self.route.time,
        }


class Planner:
    """The twin of a plate that is planned on, layer after layer; it keeps the heat of those before."""

    def __init__(self, process: Process, settings: PlanSettings, *, fastest: float, usual: float) -> None:
        """`fastest` and `usual` are speeds of lit moves, m/s."""
        self.process, self.settings = process, settings
        self.gain = calibrate_gain(process, usual)  # a simulation: a planner serves all rounds of a job
        middle = 0.5 * sum(process.window)
        self._kelvin_per_watt = (middle - process.ambient) / needed_power(process, usual)
        self._ahead, self._follower = (
            make_player(process, horizon=horizon, speed=fastest, gain=self.gain) for horizon in (HORIZON, 1)
        )

    def reset(self) -> None:
        """The plate at rest."""
        for player in (self._ahead, self._follower):
            player.reset()

    def try_ticks(self, route: Route) -> Course:
        """What every tick would best get; the plate stays as it is."""
        state = self._ahead.save()
        course = plan_ticks(self._ahead, route.path)
        self._ahead.restore(state)
        return course

    def plan(
        self,
        route: Route,
        *,
        speeds: FloatArray | None = None,
        correction: PlanCorrection | None = None,
        progress: Progress | None = None,
    ) -> LayerPlan:
        """Powers for a route; the plate is then as they leave it. `speeds`, m/s, are what its moves get."""
        state = self._ahead.save()
        nominal = plan_ticks(self._ahead, route.path, _about("planning", progress), correction).power
        commands = cut(route, nominal, self.settings, self._kelvin_per_watt)
        optimizer = CommandOptimizer(
            self._follower, self.process, route, nominal, self.settings.step, correction
        )
        powers, course = optimizer.solve(commands, _about("commands", progress))
        self._ahead.restore(state)
        self._ahead.follow(route.path.positions, course.power * route.path.lit_shares)
        ordered = np.full(len(route), np.nan) if speeds is None else speeds
        return self._finish(route, Kept(commands, powers, course, ordered), correction)

    def replay(self, route: Route, kept: Kept, correction: PlanCorrection | None = None) -> LayerPlan:
        """A layer that was planned before; the plate is then as it leaves it."""
        for player in (self._ahead, self._follower):
            player.follow(route.path.positions, kept.course.power * route.path.lit_shares)
        return self._finish(route, kept, correction)

    def pause(self, seconds: float, place: FloatArray) -> None:
        """The plate cools while the beam goes dark to a place, m."""
        for player in (self._ahead, self._follower):
            player.pause(seconds, place)

    def _finish(self, route: Route, kept: Kept, correction: PlanCorrection | None) -> LayerPlan:
        """What is planned for a route, with the commands that it makes."""
        counted = count_ticks(self.process, route.path, kept.course.power)
        return LayerPlan(
            route=route,
            kept=kept,
            schedule=make_schedule(route, kept.commands, kept.powers, kept.speeds),
            correction=correction or PlanCorrection(self.process, np.ones(len(route.path))),
            result=LayerResult(kept.course.temperature, *counted),
        )


def _about(what: str, progress: Progress | None) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(what, done, total)


def free_speeds(
    track: Track,
    lay: Callable[[Track], Route],
    planner: Planner,
    limits: tuple[float, float],
    progress: Progress | None = None,
) -> tuple[Track, FloatArray]:
    """The track at its best speeds between `limits`, m/s, and the speed of each of its stretches.

    All vectors are judged at once: faster ones take more power, and hand on less heat.
    """
    slowest, fastest = limits
    route = lay(track)
    moving = route.lengths > 0
    low, high = np.full(len(route), slowest), np.full(len(route), fastest)
    speeds = high.copy()
    total = ROUNDS + REPAIRS
    for k in range(total):
        if progress is not None:
            progress("speeds", k, total)
        fine = _judge(lay(set_speeds(track, route, speeds)), planner)
        if k < ROUNDS:
            low, high = np.where(fine, np.maximum(low, speeds), low), np.where(fine, high, speeds)
            speeds = _round(np.sqrt(low * high) if k < ROUNDS - 1 else low)
            continue
        if fine[moving].all() or (speeds[moving & ~fine] <= slowest).all():
            break
        speeds = _round(np.where(fine, speeds, np.maximum(slowest, SLOWER * speeds)))
    return set_speeds(track, route, speeds), np.where(moving, speeds, np.nan)


def set_speeds(track: Track, route: Route, speeds: FloatArray) -> Track:
    """The track with the speed of each stretch of its route, m/s."""
    known = np.isfinite(speeds)
    of_move = dict(zip(route.moves[known].tolist(), speeds[known].tolist(), strict=True))
    legs = [
        of_move.get(move, old) for move, old in zip(track.moves.tolist(), track.speeds.tolist(), strict=True)
    ]
    return replace(track, speeds=np.where(track.lit & (track.moves >= 0), legs, track.speeds))


def _judge(route: Route, planner: Planner) -> NDArray[np.bool_]:
    """Whether each stretch keeps near the window's middle wherever full power could have reached it."""
    course, path, (floor, ceiling) = planner.try_ticks(route), route.path, planner.process.window
    T, middle, near = course.temperature, 0.5 * (floor + ceiling), NEAR * (ceiling - floor)
    reached = count_ticks(planner.process, path, course.power, middle - near).below
    off = (path.lit & (middle + near < T)) | (reached & (middle - near > T))
    total = np.concatenate(([0], np.cumsum(off)))
    first = np.clip((route.starts / path.tick + 0.5).astype(np.intp), 0, len(path))
    last = np.clip((route.ends / path.tick + 0.5).astype(np.intp), first, len(path))
    fine: NDArray[np.bool_] = total[last] == total[first]
    return fine


def _round(speeds: FloatArray) -> FloatArray:
    return np.asarray(np.round(np.floor(speeds / WHOLE + 1e-6) * WHOLE, 9))


class LayerCache:
    """A folder with one file for each layer, named by everything that it depends on."""

    def __init__(
        self, folder: Path, content: bytes, process: Process, settings: PlanSettings, more: dict[str, object]
    ) -> None:
        facts = {
            "file": hashlib.sha256(content).hexdigest(),
            "process": process.hash,
            "settings": asdict(settings),
            "code": hash_code(),
            **more,
        }
        self._folder = folder
        self._name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def find(self, layer: int) -> Kept | None:
        """A layer, counted from 0, if it is there."""
        file = self._file(layer)
        if not file.exists():
            return None
        with np.load(file) as kept:
            starts, ends, powers, power, temperature, speeds = (kept[name] for name in FIELDS)
        return Kept(Commands(starts, ends), powers, Course(power, temperature), speeds)

    def keep(self, layer: int, kept: Kept) -> None:
        """Put a layer there."""
        course, commands = kept.course, kept.commands
        values = (commands.starts, commands.ends, kept.powers, course.power, course.temperature, kept.speeds)
        write_arrays(self._file(layer), dict(zip(FIELDS, values, strict=True)))

    def place(self, what: str) -> Path:
        """Where something of this job lies."""
        return self._folder / f"{self._name}-{what}"

    def _file(self, layer: int) -> Path:
        return self.place(f"{layer + 1:05d}.npz")


def write_arrays(file: Path, arrays: Mapping[str, ArrayLike]) -> None:
    """All of them or nothing."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    save(file, stream.getvalue())
