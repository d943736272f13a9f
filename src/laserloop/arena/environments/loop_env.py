"""One closed loop of the arena as a Gymnasium environment: a power in, what a controller sees out.

It is the loop of `laserloop control`, tick by tick: the same plant, camera, delays, faults and previews.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from laserloop.arena.environments.reward import WORST, find_reward
from laserloop.arena.levels import LEVELS
from laserloop.arena.tasks import PLANT, SPLITS, Task, find_task
from laserloop.bad_input import BadInput
from laserloop.control.policy import LIMIT, SIZE, Observer, Vector
from laserloop.loop.run import Testbed
from laserloop.loop.scenario import TICKS, Scenario, prepare
from laserloop.paths.shapes import FAMILIES
from laserloop.plant import Surface
from laserloop.predict.twin import Starts
from laserloop.process import Process, find_process

Info = dict[str, Any]

ACTIONS = Box(-1.0, 1.0, (1,), np.float32)
OBSERVATIONS = Box(-LIMIT, LIMIT, (SIZE,), np.float32)


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
        case = self._draw()
        setup = prepare(case)
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

    def _draw(self) -> Scenario:
        """The case of an episode."""
        if self._task is not None:
            return self._task.make_case()
        seed = int(self.np_random.integers(len(SPLITS[self._split])))
        if self._path in FAMILIES:
            place = SPLITS[self._split][seed]
            task = Task(
                family=self._path, process=self._process, level=self._level, seed=place, ticks=self._ticks
            )
            return task.make_case()
        case = Scenario(path=self._path, plant=PLANT, process=self._base, ticks=self._ticks)
        return LEVELS[self._level].disturb(case, (seed,))
