"""Environments on the plant: Gymnasium's own check, and the loop that everybody else runs."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import laserloop.gym
from laserloop import BadInput
from laserloop.control.policy import AHEAD, PARTS, SIZE, Scales
from laserloop.loop.scenario import prepare
from laserloop.process import Process
from laserloop.studies.arena.entrant import OpenLoopController
from laserloop.studies.arena.environments import WORST, LoopEnv, find_reward
from laserloop.studies.arena.tasks import VERSION, find_task

TASK = "stroke-304-hard-v1:10003@30"


@pytest.mark.parametrize("name", laserloop.gym.NAMES)
def test_gymnasium_finds_nothing_wrong_with_the_environment(name: str) -> None:
    env = gymnasium.make(name, level="nominal", ticks=12)
    check_env(env.unwrapped, skip_render_check=True)


def test_an_episode_is_the_loop_of_a_controller_that_gives_the_same_powers() -> None:
    powers = np.random.default_rng(1).uniform(4.0, 14.0, 30)
    run = prepare(find_task(TASK).make_case(), lambda _: OpenLoopController(powers)).run()
    env = LoopEnv(task=TASK)
    env.reset()
    scales = Scales.of(env.told)
    T, given, ends, counts = [], [], [], []
    for power in powers:
        _, _, terminated, truncated, info = env.step(np.array([scales.share(float(power))]))
        T.append(info["t_max_k"])
        given.append(info["power_w"])
        ends.append((terminated, truncated))
        counts.append((info["counts_above"], info["counts_below"]))
    assert run.power.tolist() == pytest.approx(given, abs=1e-9)
    assert run.t_max.tolist() == pytest.approx(T, abs=1e-6)
    assert counts == list(zip(*(side.tolist() for side in run.counted), strict=True))
    assert ends == [(False, False)] * 29 + [(False, True)]


def test_what_is_seen_is_late_and_rare_as_the_level_says() -> None:
    env = LoopEnv(path="diagonal", level="hard", ticks=24)
    seen = [env.reset(seed=3)[0]]
    T = [300.0]
    for _ in range(24):
        vector, *_, info = env.step(np.array([0.1]))
        seen.append(vector)
        T.append(info["t_max_k"])
    ages = np.array([vector[PARTS["age"]][0] for vector in seen])
    assert ages[:4] == pytest.approx([0.0, 0.1, 0.2, 0.3])  # an image every fourth tick, two ticks late
    assert ages[4] == pytest.approx(0.2)
    read = 300.0 + 480.0 * np.array([vector[PARTS["heat"]][0] for vector in seen])
    assert abs(read[8] - T[6]) < 40.0
    assert len({*read[8:12].round(3)}) == 1


@pytest.mark.parametrize("options", [{"path": "star"}, {"path": "diagonal"}, {"task": TASK}])
def test_learners_are_told_the_camera_of_the_level_as_controllers_are(options: dict[str, str]) -> None:
    env = LoopEnv(**options, level="hard")  # type: ignore[arg-type]
    for seed in (0, 1):
        seen, _ = env.reset(seed=seed)
        assert seen[PARTS["camera"]] == pytest.approx([0.5, 0.2, 0.4])  # 10 K, two ticks late, every fourth
        assert env.told.camera.noise == 10.0


def test_an_episode_follows_from_its_seed() -> None:
    env = LoopEnv(path="hairpin", level="nominal", ticks=10)
    first, second, third = (env.reset(seed=seed) for seed in (5, 5, 6))
    assert first[1] == second[1] != third[1]
    assert np.array_equal(first[0], second[0])


def test_the_vector_tells_the_way_from_the_beam() -> None:
    env = LoopEnv(path="vertical", ticks=5)
    vector, _ = env.reset()
    ahead = vector[PARTS["ahead"]].reshape(AHEAD, 2)
    hop = 0.304 * 1.25e-4 / 1e-4 / 10.0
    assert ahead[:, 0] == pytest.approx(hop * np.arange(1, AHEAD + 1), rel=1e-5)
    assert ahead[:, 1] == pytest.approx(np.zeros(AHEAD), abs=1e-6)
    assert vector.shape == (SIZE,)


def test_the_reward_is_the_square_of_the_distance_in_half_windows_and_nothing_in_the_dark() -> None:
    T, lit = np.array([780.0, 800.0, 760.0, 790.0, 300.0, 900.0]), np.array([1, 1, 1, 1, 1, 0], np.bool_)
    reward = find_reward(T, lit, Scales.of(Process()))
    assert reward.tolist() == pytest.approx([0.0, -1.0, -1.0, -0.25, -WORST, 0.0])


def test_a_plant_that_cannot_go_on_ends_the_episode_at_the_price_of_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = LoopEnv(path="diagonal", ticks=8)
    env.reset()
    env.step(np.array([0.0]))

    def boil(*_: object) -> None:
        raise BadInput("it boils: lower the power")

    monkeypatch.setattr(env.rig.plant, "step", boil)
    _, reward, terminated, truncated, info = env.step(np.array([1.0]))
    assert (reward, terminated, truncated) == (-7 * WORST, True, False)
    assert "boils" in info["ending"]
    with pytest.raises(BadInput, match="reset it"):
        env.step(np.array([1.0]))


def test_unknown_settings_are_refused_in_a_sentence() -> None:
    with pytest.raises(BadInput, match="level"):
        LoopEnv(level="wild")
    with pytest.raises(BadInput, match="reset it"):
        LoopEnv().step(np.zeros(1, np.float32))


def test_the_names_of_environments_have_the_version_of_the_tasks() -> None:
    assert laserloop.gym.VERSION == VERSION
