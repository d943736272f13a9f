"""The teacher: the twin's planner where it knows the plate as it is, asked in every loop of a batch."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from laserloop.arena.environments.twin_env import TwinVectorEnv
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.loop.run import look_ahead
from laserloop.native.twin import Memory, TwinController
from laserloop.predict.twin import TwinPredictor

FloatArray = NDArray[np.float64]


class Teacher:
    """Follows what a learner does and says what it would have done: no image, but the true gain and plate."""

    def __init__(self, env: TwinVectorEnv) -> None:
        self._env = env
        told = env.told
        problem = make_twin_problem(MpcProblem(window=told.window, power=told.laser.power))
        fastest = max(float(path.lit_speeds.max(initial=0.0)) for path in env.paths)
        self._planners = [
            TwinController(TwinPredictor(replace(truth, speed=fastest)), problem) for truth in env.truths
        ]
        self._memories: list[Memory | None] = [None] * env.num_envs
        self._powers: list[list[float]] = [[] for _ in range(env.num_envs)]

    def advise(self) -> FloatArray:
        """W, for the coming tick of each loop."""
        return np.array([self._advise(i) for i in range(self._env.num_envs)])

    def _advise(self, i: int) -> float:
        loops = self._env.loops
        planner, k = self._planners[int(loops.truth[i])], int(loops.tick[i])
        memory = self._memories[i]
        if k == 0 or memory is None:
            planner.reset()
            planner.trust(float(loops.gain[i]))
            self._powers[i].clear()
        else:
            planner.restore(memory)
        path = self._env.paths[int(loops.path[i])]
        action = planner.act(None, look_ahead(path, k, self._powers[i], planner.horizon, planner.memory))
        self._memories[i] = planner.save()
        return action.power

    def watch(self, powers: FloatArray) -> None:
        """Hear what was given in the tick that has just ended, W, in each loop."""
        for i, power in enumerate(powers.tolist()):
            self._powers[i].append(power)
