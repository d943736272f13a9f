"""Trains the arena's `rl`: PPO on many twins at once, then some more on the plant itself.

    python benchmarks/train_rl.py --seeds 0 1 2    # three core minutes each; stopped, it goes on when called again

Needs stable-baselines3. Proximal policy optimisation (Schulman et al., 2017). Seed 0 is written to the models of
the package, the others to out/arena/models, where the arena finds them as rl@SEED.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import ObservationWrapper
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from torch import nn

from laserloop.control import INPUTS, LIMIT, Policy, Vector, fingerprint
from laserloop.control.policy import AHEAD, BEHIND, PARTS
from laserloop.paths import FAMILIES
from laserloop.process import find_process
from laserloop.studies.arena.distil import freeze
from laserloop.studies.arena.entrant import Cost
from laserloop.studies.arena.entrants import find_model_folder
from laserloop.studies.arena.environments import ACTIONS, PATHS, LoopEnv, TwinVectorEnv
from laserloop.studies.arena.tasks import LEARNED_LEVELS

Infos = list[dict[str, Any]]
STAGE, LEARNER = "-stage.json", "-learner.zip"  # not part of the model
CHUNK = 20  # updates between two saves


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
        for level in LEARNED_LEVELS
    ]
    return TwinVecEnv(batches, settings.seed)


def make_plants(settings: PpoSettings) -> VecEnv:
    """One loop per family and level."""

    def make(family: str, level: str) -> Callable[[], ScaledLoopEnv]:
        return lambda: ScaledLoopEnv(LoopEnv(path=family, level=level, process=settings.process))

    warnings.filterwarnings("ignore", message=".*outside.*")  # of a material's range, while things are tried
    env = DummyVecEnv([make(family, level) for family, level in product(FAMILIES, LEARNED_LEVELS)])
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    for seed in parser.parse_args().seeds:
        folder = find_model_folder("rl", seed)
        train_ppo(PpoSettings(seed=seed), folder)
        for file in (*folder.glob(f"*{STAGE}"), *folder.glob(f"*{LEARNER}")):
            file.unlink()


if __name__ == "__main__":
    main()
