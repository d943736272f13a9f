"""Environments for learners: the loop of a task on the plant, and many loops at once on the twin.

A power in, what a controller sees out. On the plant it is the loop of `laserloop control`, tick by tick: the
same plant, camera, delays, faults and previews. On the twin it is a million ticks a second, and what differs
is that heat is the twin's, noise is added to the peak instead of to pixels, and in dark ticks the reading is
that of the beam's surroundings, not of the hottest place of the plate.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control import LIMIT, SIZE, SPOTS, Observer, Scales, Vector
from laserloop.loop import TICKS, Scenario, Testbed, prepare
from laserloop.native import NoCompiler, TwinLoops
from laserloop.paths import FAMILIES, ScanPath
from laserloop.plant import Surface
from laserloop.predict import Starts
from laserloop.process import Process, find_process, mismatch
from laserloop.studies.arena.machine import misplace
from laserloop.studies.arena.tasks import (
    LEARNED_LEVELS,
    LEVELS,
    PLANT,
    SPLITS,
    Level,
    Misplacement,
    Task,
    find_task,
)

FloatArray = NDArray[np.float64]
Bools = NDArray[np.bool_]
Info = dict[str, Any]

ACTIONS = Box(-1.0, 1.0, (1,), np.float32)
OBSERVATIONS = Box(-LIMIT, LIMIT, (SIZE,), np.float32)
WORST = 10.0  # of a tick: whoever is further away loses no more, so that the start is no catastrophe
PATHS = 20  # of each family
TRUTHS = 16  # plates that differ from what the process says
SHARE = 0.9  # standard deviation of the peak that a camera reads over that of its pixels,
LIFT = 0.022  # 1/K: and how far above the truth it reads, over its pixels' variance; measured on the plant


def find_reward(T: FloatArray, lit: Bools, scales: Scales) -> FloatArray:
    """−min(e², WORST) of each lit tick, e the distance from the middle over half the window's width.

    On the window's edges |e| = 1; a dark tick gives nothing.
    """
    e = (T - scales.middle) / scales.half_width
    reward: FloatArray = np.where(lit, -np.minimum(e**2, WORST), 0.0)
    return reward


class LoopEnv(gymnasium.Env[Vector, Vector]):
    """A path, new at each reset, on the `graded` plant.

    `path` is a family of the arena or a path that `laserloop control` knows; `task` is the name of one task
    of the arena instead, the same at every reset.
    """

    metadata = {"render_modes": []}  # noqa: RUF012  # Gymnasium's own name and kind

    def __init__(
        self,
        *,
        path: str = "diagonal",
        process: str = "304",
        level: str = "off",
        split: str = "public",
        ticks: int = TICKS,
        task: str | None = None,
    ) -> None:
        if level not in LEVELS or split not in SPLITS:
            raise BadInput(
                f"level and split must be of {', '.join(LEVELS)} and {', '.join(SPLITS)}, got {level!r} and "
                f"{split!r}: choose others"
            )
        self._path, self._process, self._level, self._split, self._ticks = path, process, level, split, ticks
        self._task = None if task is None else find_task(task)
        self.observation_space, self.action_space = OBSERVATIONS, ACTIONS
        self._base: Process = self._task.find_process() if self._task else find_process(process)
        self.told = self._base  # what a controller is told: from the first reset on with the level's camera
        self._observer = Observer(self.told)
        self._testbed: Testbed | None = None

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Vector, Info]:
        """A plate at rest at the start of a path; the seed draws path, mismatch, noise and faults."""
        super().reset(seed=seed)
        case, error = self._draw()
        setup = misplace(prepare(case), error)
        path = setup.path
        self._testbed = setup.testbed(setup.make_plant())
        self.told = case.process
        self._observer, self._starts = Observer(self.told), Starts(self.told, path)
        self._tick, surface = 0, self._testbed.reset()
        self._seen = self._observe(surface)
        return self._seen.copy(), {"path": path.name, "mismatch": dict(case.mismatch)}

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, Info]:
        """One tick at a share of the laser's range; a plant that cannot go on ends the episode."""
        if self._testbed is None or self._tick >= len(self._testbed.path):
            raise BadInput("an environment must be reset before its first step and after its last: reset it")
        rig, k, scales = self._testbed, self._tick, self._observer.scales
        try:
            surface = rig.apply(k, float(scales.watts(float(np.ravel(action)[0]))))
        except BadInput as failure:
            lost = -WORST * float(np.sum(rig.path.lit[k:]))
            self._tick = len(rig.path)
            return self._seen.copy(), lost, True, False, {"ending": str(failure)}
        self._tick = k + 1
        T = rig.plant.t_max(surface).temperature
        reward = float(find_reward(np.array(T), rig.path.lit[k], scales))
        self._seen = self._observe(surface)
        told = {"t_max_k": T, "power_w": rig.powers[-1], **self._tell_counting(k, rig)}
        return self._seen.copy(), reward, False, self._tick == len(rig.path), told

    @property
    def rig(self) -> Testbed:
        """What stands behind it: for looking at, not for learning from."""
        if self._testbed is None:
            raise BadInput("there is no rig before the first reset: reset it")
        return self._testbed

    def _tell_counting(self, k: int, rig: Testbed) -> Info:
        """Does a tick count above the window, and below it?"""
        lit, excused = bool(rig.path.lit[k]), self._starts.excuses(rig.powers[-1], self.told.window[0])
        return {"counts_above": lit, "counts_below": lit and not excused}

    def _observe(self, surface: Surface) -> Vector:
        assert self._testbed is not None
        image = self._testbed.measure(self._tick, surface)
        observer = self._observer
        return observer.observe(
            image, self._testbed.look_ahead(self._tick, observer.horizon, observer.memory)
        )

    def _draw(self) -> tuple[Scenario, Misplacement | None]:
        """The case of an episode, and what is not where it says."""
        if self._task is not None:
            return self._task.make_case(), self._task.misplace()
        seed = int(self.np_random.integers(len(SPLITS[self._split])))
        if self._path in FAMILIES:
            place = SPLITS[self._split][seed]
            task = Task(
                family=self._path, process=self._process, level=self._level, seed=place, ticks=self._ticks
            )
            return task.make_case(), task.misplace()
        case = Scenario(path=self._path, plant=PLANT, process=self._base, ticks=self._ticks)
        level = LEVELS[self._level]
        return level.disturb(case, (seed,)), level.misplace((seed,))


class TwinVectorEnv(VectorEnv[Vector, Vector, NDArray[Any]]):
    """Loops that end with their paths and begin anew in the same step, as `AutoresetMode.SAME_STEP` says."""

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        *,
        families: Sequence[str] = tuple(FAMILIES),
        process: str = "304",
        level: str = "off",
        split: str = "public",
        ticks: int = TICKS,
        paths: int = PATHS,
    ) -> None:
        """`paths`: of each family, the first of its split; a pool that episodes draw from."""
        if level not in LEARNED_LEVELS or split not in SPLITS:
            raise BadInput(
                f"level and split must be of {', '.join(LEARNED_LEVELS)} and {', '.join(SPLITS)}, got "
                f"{level!r} and {split!r}: choose others"
            )
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = OBSERVATIONS, ACTIONS
        self.observation_space = batch_space(OBSERVATIONS, num_envs)
        self.action_space = batch_space(ACTIONS, num_envs)
        self.level = LEVELS[level]
        self.told, self.truths = draw_truths(find_process(process), self.level)
        tasks = [
            Task(family=family, process=process, seed=seed, ticks=ticks)
            for family in families
            for seed in SPLITS[split][:paths]
        ]
        self.paths: list[ScanPath] = [task.make_case().find_path() for task in tasks]
        try:
            self.loops = TwinLoops(self.told, self.truths, self.paths, num_envs)
        except NoCompiler as missing:
            raise BadInput(f"twins in a batch are compiled, but {missing}: install a C compiler") from None
        self._outage = np.zeros(num_envs, np.intp)  # the tick from which on images stay away
        self._limit = np.zeros(num_envs, np.intp)  # ticks of the episode

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Vector, Info]:
        """All loops from rest; with options {"stagger": True} the first episodes do not end all at once."""
        super().reset(seed=seed)
        everyone = np.arange(self.num_envs)
        seen = self._begin(everyone)
        if options and options.get("stagger"):
            self._limit = self.np_random.integers(1, self._limit + 1)
        return seen, {}

    def step(self, actions: Vector) -> tuple[Vector, FloatArray, Bools, Bools, Info]:
        """One tick of each loop."""
        command = self.loops.scales.watts(np.asarray(actions, np.float64).reshape(self.num_envs))
        T = self.loops.step(command, self._draw_noise(), self._draw_lost())
        reward = find_reward(T, self.loops.lit, self.loops.scales)
        seen = self.loops.seen
        info: Info = {"t_max_k": T, "power_w": self.loops.power}
        ended = self.loops.tick >= self._limit
        if ended.any():
            final = np.full(self.num_envs, None, object)
            which = np.flatnonzero(ended)
            final[which] = list(seen[which])
            info |= {"final_obs": final, "_final_obs": ended.copy()}
            seen[which] = self._begin(which)
        return seen, reward, np.zeros(self.num_envs, np.bool_), ended, info

    def _begin(self, which: NDArray[np.intp]) -> Vector:
        """Some loops at rest at the start of a path, each on a plate of its own."""
        rng, n, off = self.np_random, len(which), self.level.absorptivity
        path, truth = rng.integers(len(self.paths), size=n), rng.integers(len(self.truths), size=n)
        seen = self.loops.begin(which, path, truth, rng.uniform(1 - off, 1 + off, n))
        self._limit[which] = self.loops.length[which]
        self._outage[which] = rng.integers(self._limit[which] // 4, self._limit[which])
        return seen

    def _draw_noise(self) -> NDArray[np.float32]:
        """K, of the peak and of the spots ahead."""
        shape, noise = (self.num_envs, 1 + len(SPOTS)), self.level.noise_k
        if not noise:
            return np.zeros(shape, np.float32)
        drawn = np.float32(SHARE * noise) * self.np_random.standard_normal(shape, dtype=np.float32)
        drawn[:, 0] += LIFT * noise**2
        return drawn

    def _draw_lost(self) -> Bools:
        """Whose image does not come."""
        k = self.loops.tick + 1
        lost: Bools = (k >= self._outage) & (k < self._outage + self.level.outage_ticks)
        return lost | (self.np_random.random(self.num_envs) < self.level.lost) if self.level.lost else lost


def draw_truths(process: Process, level: Level) -> tuple[Process, list[Process]]:
    """The process as it is told at a level, and plates as they may be; absorptivity is drawn by episode."""
    case = Scenario(path="diagonal", plant=PLANT, process=process)
    drawn = [level.disturb(case, (seed,)) for seed in range(TRUTHS)]
    told = replace(drawn[0].process, camera=replace(drawn[0].process.camera, seed=0))
    if not drawn[0].mismatch:
        return told, [told]
    return told, [mismatch(told, dict(found.mismatch)) for found in drawn]
