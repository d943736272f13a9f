"""Many loops at once with the physics twin as the plant: a million ticks a second to practise on.

What differs from the loop on the plant: heat is the twin's, noise is added to the peak instead of to pixels,
and in dark ticks the reading is that of the beam's surroundings, not of the hottest place of the plate.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from laserloop.arena.environments.loop_env import ACTIONS, OBSERVATIONS, Info
from laserloop.arena.environments.reward import find_reward
from laserloop.arena.levels import LEVELS, Level
from laserloop.arena.tasks import PLANT, SPLITS, Task
from laserloop.bad_input import BadInput
from laserloop.control.policy import SPOTS, Vector
from laserloop.loop.scenario import TICKS, Scenario
from laserloop.native.build import NoCompiler
from laserloop.native.twin_loops import TwinLoops
from laserloop.paths import ScanPath
from laserloop.paths.shapes import FAMILIES
from laserloop.process import Process, find_process
from laserloop.process.process import mismatch

FloatArray = NDArray[np.float64]
Bools = NDArray[np.bool_]

PATHS = 20  # of each family
TRUTHS = 16  # plates that differ from what the process says
SHARE = 0.9  # standard deviation of the peak that a camera reads over that of its pixels,
LIFT = 0.022  # 1/K: and how far above the truth it reads, over its pixels' variance; measured on the plant


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
        if level not in LEVELS or split not in SPLITS:
            raise BadInput(f"level and split must be known, got {level!r} and {split!r}: choose others")
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
