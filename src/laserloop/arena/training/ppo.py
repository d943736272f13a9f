"""A policy by trial and reward: PPO on many twins at once, then some more on the plant itself.

Proximal policy optimisation (Schulman et al., 2017) of stable-baselines3. Stopped and called again, it goes
on.
"""

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from torch import nn

from laserloop.arena.entrant import Cost
from laserloop.arena.environments.loop_env import LoopEnv
from laserloop.arena.environments.twin_env import PATHS, TwinVectorEnv
from laserloop.arena.levels import LEVELS
from laserloop.arena.training.network import freeze
from laserloop.arena.training.vec_env import MEAN, SPREAD, ScaledLoopEnv, TwinVecEnv
from laserloop.control.policy import Policy, fingerprint
from laserloop.paths.shapes import FAMILIES
from laserloop.process import find_process

STAGE, LEARNER = "-stage.json", "-learner.zip"  # not part of the model
CHUNK = 20  # updates between two saves


@dataclass(frozen=True, slots=True, kw_only=True)
class PpoSettings:
    """How it is done."""

    process: str = "304"
    seed: int = 0
    loops: int = 64  # twins per level
    paths: int = PATHS  # of each family, to draw from
    twin_steps: int = 6_000_000  # ticks of twins
    plant_steps: int = 9_600  # ticks of the plant, after them
    rollout: int = 64  # ticks of each loop between two updates
    batch: int = 2048
    epochs: int = 5
    rate: float = 1e-3  # of Adam at first; it falls to a fiftieth, and is that on the plant
    discount: float = 0.9  # a power is felt for some ten ticks
    width: int = 64
    deviation: float = 0.2  # of the shares tried at first


@dataclass(slots=True)
class Progress:
    """How far a training has come."""

    twin_steps: int = 0
    plant_steps: int = 0
    core_minutes: float = 0.0


def train_ppo(settings: PpoSettings, out: Path, say: Callable[[str], None] = print) -> Policy:
    """Train; the policy, the learner and how far it has come lie in `out` after every chunk."""
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    name = settings.process
    kept, learner = out / f"{name}{STAGE}", out / f"{name}{LEARNER}"
    done = Progress(**json.loads(kept.read_text("utf-8"))) if kept.exists() else Progress()
    made_for = fingerprint(find_process(settings.process))
    about = {"process": made_for, "name": settings.process, "seed": settings.seed}
    for stage, wanted in (("twin_steps", settings.twin_steps), ("plant_steps", settings.plant_steps)):
        if getattr(done, stage) >= wanted:
            continue
        env = make_twins(settings) if stage == "twin_steps" else make_plants(settings)
        rate = make_rate(settings, done, stage)
        model = _load(learner, env, settings, rate)
        while getattr(done, stage) < wanted:
            began = time.process_time()
            chunk = CHUNK if stage == "twin_steps" else 1
            before = model.num_timesteps
            model.learn(chunk * model.n_steps * env.num_envs, reset_num_timesteps=False)
            setattr(done, stage, getattr(done, stage) + model.num_timesteps - before)
            done.core_minutes += (time.process_time() - began) / 60.0
            model.save(learner)
            kept.write_text(json.dumps(asdict(done)), "utf-8")
            freeze_actor(model, about | asdict(done)).save(out / f"{name}.safetensors")
            Cost(core_minutes=done.core_minutes, plant_steps=done.plant_steps).write(out)
            say(tell(model, done))
    return Policy.load(out / f"{name}.safetensors")


def tell(model: PPO, done: Progress) -> str:
    """Where it stands: mean reward per tick of the last rollout, and the deviation that is tried."""
    reward = float(np.mean(model.rollout_buffer.rewards))
    deviation = float(model.policy.log_std.exp().detach().mean())
    return (
        f"{done.twin_steps} ticks of twins, {done.plant_steps} of the plant: reward {reward:.4f} a tick, "
        f"tries ±{deviation:.3f}, {done.core_minutes:.1f} core min"
    )


def make_twins(settings: PpoSettings) -> VecEnv:
    """All families on all levels."""
    batches = [
        TwinVectorEnv(settings.loops, process=settings.process, level=level, paths=settings.paths)
        for level in LEVELS
    ]
    return TwinVecEnv(batches, settings.seed)


def make_plants(settings: PpoSettings) -> VecEnv:
    """One loop per family and level."""

    def make(family: str, level: str) -> Callable[[], ScaledLoopEnv]:
        return lambda: ScaledLoopEnv(LoopEnv(path=family, level=level, process=settings.process))

    warnings.filterwarnings("ignore", message=".*outside.*")  # of a material's range, while things are tried
    env = DummyVecEnv([make(family, level) for family, level in product(FAMILIES, LEVELS)])
    env.seed(settings.seed)
    return env


def make_rate(settings: PpoSettings, done: Progress, stage: str) -> Callable[[float], float]:
    """The learning rate by how far the training on twins has come; on the plant the least."""

    def rate(_: float) -> float:
        left = 1.0 - done.twin_steps / settings.twin_steps if stage == "twin_steps" else 0.0
        return settings.rate * max(left, 0.02)

    return rate


def _load(learner: Path, env: VecEnv, settings: PpoSettings, rate: Callable[[float], float]) -> PPO:
    """The learner as it was left, or a new one."""
    common: dict[str, Any] = {
        "n_steps": settings.rollout,
        "batch_size": settings.batch,
        "n_epochs": settings.epochs,
    }
    if learner.exists():
        return PPO.load(learner, env=env, custom_objects={"learning_rate": rate, "lr_schedule": rate})
    network = {"pi": [settings.width] * 2, "vf": [settings.width] * 2}
    return PPO(
        "MlpPolicy",
        env,
        learning_rate=rate,
        gamma=settings.discount,
        gae_lambda=0.9,
        policy_kwargs={
            "net_arch": network,
            "activation_fn": nn.Tanh,
            "log_std_init": float(np.log(settings.deviation)),
        },
        seed=settings.seed,
        device="cpu",
        **common,
    )


def freeze_actor(model: PPO, about: dict[str, Any]) -> Policy:
    """The mean of what it would try, without PyTorch."""
    actor = nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)
    return freeze(actor, MEAN, SPREAD, about)
