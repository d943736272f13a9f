"""Plans of layers, one after another on the same plate: the powers of each, and what they lead to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.paths.text import Schedule
from laserloop.planning.commands import Commands, cut, make_schedule
from laserloop.planning.correction import Correction
from laserloop.planning.powers import HORIZON, Course, Settler, make_player, plan_ticks
from laserloop.planning.route import Route
from laserloop.planning.scores import LayerResult, count_ticks, score_layers
from laserloop.planning.settings import PlanSettings
from laserloop.planning.shelf import Kept
from laserloop.planning.trim import calibrate_gain
from laserloop.predict.twin.rollout import needed_power
from laserloop.process import Process

SCORES = ("ticks", "t_max_k", "t_min_k", "below_fraction", "n_over", "starts")

FloatArray = NDArray[np.float64]
Progress = Callable[[str, int, int], None]  # what is being done, how much of it, of how much


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerPlan:
    """What is planned for one layer."""

    route: Route
    kept: Kept
    schedule: Schedule
    correction: Correction  # of the twin that planned it
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
        correction: Correction | None = None,
        progress: Progress | None = None,
    ) -> LayerPlan:
        """Powers for a route; the plate is then as they leave it. `speeds`, m/s, are what its moves get."""
        state = self._ahead.save()
        nominal = plan_ticks(self._ahead, route.path, _about("planning", progress), correction).power
        commands = cut(route, nominal, self.settings, self._kelvin_per_watt)
        settler = Settler(self._follower, self.process, route, nominal, self.settings.step, correction)
        powers, course = settler.settle(commands, _about("commands", progress))
        self._ahead.restore(state)
        self._ahead.follow(route.path.positions, course.power * route.path.lit_shares)
        ordered = np.full(len(route), np.nan) if speeds is None else speeds
        return self._finish(route, Kept(commands, powers, course, ordered), correction)

    def replay(self, route: Route, kept: Kept, correction: Correction | None = None) -> LayerPlan:
        """A layer that was planned before; the plate is then as it leaves it."""
        for player in (self._ahead, self._follower):
            player.follow(route.path.positions, kept.course.power * route.path.lit_shares)
        return self._finish(route, kept, correction)

    def pause(self, seconds: float, place: FloatArray) -> None:
        """The plate cools while the beam goes dark to a place, m."""
        for player in (self._ahead, self._follower):
            player.pause(seconds, place)

    def _finish(self, route: Route, kept: Kept, correction: Correction | None) -> LayerPlan:
        """What is planned for a route, with the commands that it makes."""
        counted = count_ticks(self.process, route.path, kept.course.power)
        return LayerPlan(
            route=route,
            kept=kept,
            schedule=make_schedule(route, kept.commands, kept.powers, kept.speeds),
            correction=correction or Correction(self.process, np.ones(len(route.path))),
            result=LayerResult(kept.course.temperature, *counted),
        )


def _about(what: str, progress: Progress | None) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(what, done, total)
