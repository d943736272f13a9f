"""The arena's environments as stable-baselines3 wants them: one batch, scaled to what a policy looks at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import ObservationWrapper
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from laserloop.arena.environments.loop_env import ACTIONS, LoopEnv
from laserloop.arena.environments.twin_env import TwinVectorEnv
from laserloop.control.policy import (
    AHEAD,
    BEHIND,
    INPUTS,
    LIMIT,
    PARTS,
    Vector,
)

Infos = list[dict[str, Any]]


def _lay_scales() -> tuple[Vector, Vector]:
    """Usual value and spread of each number that is seen in a loop that is near its window."""
    usual = {"heat": 0.9, "power": 0.1, "spots": 0.5, "lit": 0.9, "camera": 0.2, "age": 0.1}
    spread = {
        "error": 3.0,
        "power": 0.3,
        "heat": 0.3,
        "age": 0.3,
        "spots": 0.3,
        "slow": 0.4,
        "lit": 0.3,
        "camera": 0.3,
    }
    mean, size = np.zeros(INPUTS, np.float32), np.ones(INPUTS, np.float32)
    for name, value in usual.items():
        mean[PARTS[name]] = value
    for name, value in spread.items():
        size[PARTS[name]] = value
    size[PARTS["ahead"]] = 0.03 * np.repeat(np.arange(1, AHEAD + 1), 2)  # they grow with the ticks
    size[PARTS["behind"]] = 0.03 * np.repeat(np.arange(1, BEHIND + 1), 2)
    return mean, size


MEAN, SPREAD = _lay_scales()
SPACE = Box(-np.inf, np.inf, (INPUTS,), np.float32)


def scale(seen: Vector) -> Vector:
    """What a network is given of what is seen."""
    scaled: Vector = np.clip((seen[..., :INPUTS] - MEAN) / SPREAD, -LIMIT, LIMIT)
    return scaled


class ScaledLoopEnv(ObservationWrapper[Vector, Vector, Vector]):
    """A loop on the plant, seen as a network sees it."""

    def __init__(self, env: LoopEnv) -> None:
        super().__init__(env)
        self.observation_space = SPACE

    def observation(self, observation: Vector) -> Vector:
        """Scaled."""
        return scale(observation)


class TwinVecEnv(VecEnv):
    """Batches of twins, one after another, as one."""

    def __init__(self, batches: Sequence[TwinVectorEnv], seed: int) -> None:
        self._batches, self._seed = batches, seed
        self._ends = np.cumsum([batch.num_envs for batch in batches])
        super().__init__(int(self._ends[-1]), SPACE, ACTIONS)

    def reset(self) -> Vector:
        """All from rest, but not in step."""
        seen = [
            batch.reset(seed=self._seed + k, options={"stagger": True})[0]
            for k, batch in enumerate(self._batches)
        ]
        return scale(np.concatenate(seen))

    def step_async(self, actions: NDArray[np.float32]) -> None:
        """Keep them."""
        self._actions = actions

    def step_wait(self) -> tuple[Vector, NDArray[np.float32], NDArray[np.bool_], Infos]:
        """One tick of all."""
        infos: Infos = [{} for _ in range(self.num_envs)]
        steps, first = [], 0
        for batch, actions in zip(self._batches, np.split(self._actions, self._ends[:-1]), strict=True):
            step = batch.step(actions)
            for i in np.flatnonzero(step[3]):
                final = scale(step[4]["final_obs"][i])
                infos[first + i] = {"terminal_observation": final, "TimeLimit.truncated": True}
            steps.append(step)
            first += batch.num_envs
        seen, reward, ended = (np.concatenate([step[k] for step in steps]) for k in (0, 1, 3))
        return scale(seen), reward.astype(np.float32), ended, infos

    def close(self) -> None:
        """Nothing is held."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Of the batch, for each loop."""
        return [getattr(self, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing of a loop can be set."""
        raise AttributeError(f"loops of twins have no {attr_name} of their own")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """No loop has methods of its own."""
        raise AttributeError(f"loops of twins have no {method_name} of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """None is."""
        return [False] * self.num_envs
