"""How policies learn: the teacher is the twin, a student comes near it, and what was stopped goes on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from train_rl import MEAN, SPREAD, PpoSettings, freeze_actor, make_twins, scale, train_ppo

from laserloop.control.policy import INPUTS, SIZE, Policy
from laserloop.studies.arena.distil import (
    Distillation,
    Teacher,
    distil,
    fit,
    freeze,
    make_network,
    measure,
    play_round,
)
from laserloop.studies.arena.entrant import Cost
from laserloop.studies.arena.entrants import find_entrant
from laserloop.studies.arena.environments import TwinVectorEnv


def test_the_teacher_holds_the_middle_of_the_window_on_a_plate_that_it_knows() -> None:
    env = TwinVectorEnv(4, families=("star", "hairpin"), paths=2, level="nominal", ticks=60)
    env.reset(seed=1)
    teacher, T = Teacher(env), []
    for _ in range(59):
        *_, info = env.step(env.loops.scales.share(teacher.advise())[:, np.newaxis].astype(np.float32))
        teacher.watch(info["power_w"])
        T.append(info["t_max_k"])
    assert np.abs(np.array(T)[20:] - 780.0).max() < 3.0
    assert env.loops.gain.min() < 0.99  # which nobody told anybody else


def test_a_policy_is_the_network_that_learned_it() -> None:
    torch.manual_seed(0)
    network = make_network(8)
    seen = np.random.default_rng(0).normal(0.3, 2.0, (50, SIZE)).astype(np.float32)
    mean, spread = measure(seen[:, :INPUTS])
    policy = freeze(network, mean, spread, {})
    with torch.no_grad():
        wanted = network(torch.from_numpy((seen[:, :INPUTS] - mean) / spread)).numpy().ravel()
    assert [policy.decide(row) for row in seen] == pytest.approx(wanted.tolist(), abs=1e-4)


def test_a_student_learns_what_the_teacher_does() -> None:
    settings = Distillation(rounds=1, loops=2, epochs=8, width=32, paths=1)
    samples = play_round(settings, "off", 0, None)
    assert samples[0].shape == (len(samples[1]), INPUTS)
    _, error = fit(samples, settings, 0, {})
    assert error < 0.5 * np.abs(samples[1] - np.median(samples[1])).mean()


def test_a_distillation_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    said: list[str] = []
    settings = Distillation(rounds=1, loops=1, epochs=1, width=8, paths=1)
    distil(settings, tmp_path, said.append)
    distil(replace(settings, rounds=2), tmp_path, said.append)
    assert [line.split(":")[0] for line in said] == ["round 1 of 1", "round 2 of 2"]
    assert Policy.load(tmp_path / "304.safetensors").about["seed"] == 0
    assert Cost.read(tmp_path).plant_steps == 0


def test_ppo_tries_saves_and_goes_on(tmp_path: Path) -> None:
    said: list[str] = []
    few = PpoSettings(
        loops=2, paths=1, twin_steps=400, plant_steps=0, rollout=16, batch=96, epochs=1, width=8
    )
    train_ppo(few, tmp_path, said.append)
    before = Policy.load(tmp_path / "304.safetensors").about["twin_steps"]
    train_ppo(replace(few, twin_steps=before + 1), tmp_path, said.append)
    assert Policy.load(tmp_path / "304.safetensors").about["twin_steps"] > before >= 400
    assert len(said) == 2


def test_what_ppo_learned_is_what_acts(tmp_path: Path) -> None:
    from stable_baselines3 import PPO

    env = make_twins(PpoSettings(loops=1, paths=1))
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=24, device="cpu", policy_kwargs={"net_arch": [8, 8]})
    policy, seen = freeze_actor(model, {}), np.random.default_rng(0).normal(0, 1, SIZE).astype(np.float32)
    seen[:INPUTS] = MEAN + SPREAD * np.clip(seen[:INPUTS], -3, 3)
    wanted, _ = model.predict(scale(seen), deterministic=True)
    assert policy.decide(seen) == pytest.approx(float(wanted[0]), abs=1e-4)


@pytest.mark.parametrize("name", ["distilled", "rl"])
def test_shipped_policies_take_part_and_say_what_they_cost(name: str) -> None:
    entrant = find_entrant(name)
    assert entrant.learns
    assert 0.5 < entrant.cost.core_minutes < 60.0
