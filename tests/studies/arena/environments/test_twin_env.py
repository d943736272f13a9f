"""Many twins at once as a Gymnasium vector environment."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import laserloop.gym  # noqa: F401  # registers
from laserloop import BadInput
from laserloop.studies.arena.environments import TwinVectorEnv, find_reward


def make(**kwargs: Any) -> TwinVectorEnv:
    env = gymnasium.make_vec("laserloop/Twin-v1", num_envs=3, families=("star", "stroke"), paths=2, **kwargs)
    assert isinstance(env, TwinVectorEnv)
    return env


def walk(env: TwinVectorEnv, ticks: int, action: float = 0.1) -> list[tuple[Any, ...]]:
    return [env.step(np.full((3, 1), action, np.float32)) for _ in range(ticks)]


def test_spaces_and_what_comes_back_agree() -> None:
    env = make(level="nominal", ticks=6)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert env.action_space.contains(env.action_space.sample())
    for seen, reward, terminated, truncated, info in walk(env, 8):
        assert env.observation_space.contains(seen)
        assert reward.shape == terminated.shape == truncated.shape == info["t_max_k"].shape == (3,)
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP


def test_an_episode_ends_with_its_path_and_the_next_begins_in_the_same_step() -> None:
    env = make(ticks=5)
    first, _ = env.reset(seed=2)
    steps = walk(env, 6)
    assert [step[3].tolist() for step in steps] == [[False] * 3] * 4 + [[True] * 3] + [[False] * 3]
    final, seen = steps[4][4]["final_obs"], steps[4][0]
    assert not np.array_equal(np.stack(final), seen)
    cold = seen[:, 0]  # the error that is seen: a plate at rest again
    assert cold.tolist() == first[:, 0].tolist() == [-10.0] * 3


def test_everything_follows_from_the_seed() -> None:
    runs = []
    for seed in (4, 4, 5):
        env = make(level="hard", ticks=10)
        env.reset(seed=seed)
        runs.append(np.stack([step[0] for step in walk(env, 15)]))
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_staggered_episodes_do_not_end_all_at_once() -> None:
    env = TwinVectorEnv(32, families=("star",), paths=1, ticks=40)
    env.reset(seed=0, options={"stagger": True})
    ended = np.stack([env.step(np.zeros((32, 1), np.float32))[3] for _ in range(40)])
    assert (ended.sum(axis=0) >= 1).all()
    assert ended.any(axis=1).sum() > 10


def test_more_power_is_hotter_and_the_reward_is_that_of_the_plant() -> None:
    T, rewards = [], []
    for action in (0.0, 0.4):
        env = make(ticks=20)
        env.reset(seed=3)
        last = walk(env, 19, action)[-1]
        T.append(last[4]["t_max_k"])
        rewards.append((last[1], find_reward(last[4]["t_max_k"], env.loops.lit, env.loops.scales)))
    assert (T[1] > T[0] + 20.0).any()
    for got, wanted in rewards:
        assert got.tolist() == wanted.tolist()


def test_no_number_is_the_least_power_and_a_past_end_is_refused() -> None:
    env = make(ticks=4)
    env.reset(seed=1)
    *_, info = env.step(np.full((3, 1), np.nan, np.float32))
    assert info["power_w"].tolist() == [0.0] * 3
    env.loops.tick[:] = 4
    with pytest.raises(BadInput, match="begin it anew"):
        env.step(np.zeros((3, 1), np.float32))
    for level in ("wild", "machine"):  # twins in a batch have no images that could be shifted
        with pytest.raises(BadInput, match="level"):
            TwinVectorEnv(1, level=level)
