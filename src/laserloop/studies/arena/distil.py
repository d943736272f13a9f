"""A policy distilled from the twin's planner: rounds of the student's own loops, labelled by the teacher.

DAgger (Ross, Gordon and Bagnell, 2011): the student acts, the teacher says what it would have done there, all
that was ever seen is learned from. The teacher knows the plate; the student has to make it out of readings.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from laserloop.control import INPUTS, MpcProblem, Policy, fingerprint, make_twin_problem
from laserloop.loop import look_ahead
from laserloop.native import Memory, TwinController
from laserloop.predict import TwinPredictor
from laserloop.process import find_process
from laserloop.studies.arena.entrant import Cost
from laserloop.studies.arena.environments import PATHS, TwinVectorEnv
from laserloop.studies.arena.tasks import LEARNED_LEVELS

FloatArray = NDArray[np.float64]
Samples = tuple[NDArray[np.float32], NDArray[np.float32]]  # what was seen, and the teacher's share

LEAST = 0.03  # spread of an input; what varies less is not blown up
SAMPLES = "-samples.npz"  # not part of the model
LAST = 4  # times as many epochs in the last round
ROUND = 0.02  # of the range: errors beyond count by their size, not by their square


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation:
    """How it is done."""

    process: str = "304"
    seed: int = 0
    rounds: int = 8
    loops: int = 24  # per level, each a whole path, in every round
    paths: int = PATHS  # of each family, to draw from
    width: int = 128  # of the hidden layers
    epochs: int = 12  # over all samples after each round, and `LAST` times as many at the end
    batch: int = 1024
    rate: float = 2e-3  # of Adam at first; it falls to a hundredth
    shaken: float = 0.05  # standard deviation of the share added to what is done, so that mistakes are seen


def distil(settings: Distillation, out: Path, say: Callable[[str], None] = print) -> Policy:
    """Train; policy and samples lie in `out` after every round, and a second call goes on from there."""
    out.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    store, target = out / f"{settings.process}{SAMPLES}", out / f"{settings.process}.safetensors"
    made_for = fingerprint(find_process(settings.process))
    about = {"process": made_for, "name": settings.process, "seed": settings.seed}
    seen, shares, first, spent = read_store(store)
    student = Policy.load(target) if first else None
    for lap in range(first, settings.rounds):
        for level in LEARNED_LEVELS:
            found = play_round(settings, level, lap, student)
            seen, shares = np.concatenate((seen, found[0])), np.concatenate((shares, found[1]))
        student, loss = fit((seen, shares), settings, lap, about)
        minutes = spent + (time.process_time() - began) / 60.0
        student.save(target)
        np.savez(store, seen=seen, shares=shares, rounds=lap + 1, minutes=minutes)
        Cost(core_minutes=minutes, plant_steps=0).write(out)
        say(f"round {lap + 1} of {settings.rounds}: {len(seen)} samples, {loss:.4f}, {minutes:.1f} core min")
    assert student is not None
    return student


def read_store(store: Path) -> tuple[NDArray[np.float32], NDArray[np.float32], int, float]:
    """Samples, rounds done and core minutes spent so far."""
    if not store.exists():
        return np.empty((0, INPUTS), np.float32), np.empty(0, np.float32), 0, 0.0
    with np.load(store) as kept:
        return kept["seen"], kept["shares"], int(kept["rounds"]), float(kept["minutes"])


def play_round(settings: Distillation, level: str, lap: int, student: Policy | None) -> Samples:
    """Whole paths under the student, or under the teacher while there is none; lit ticks are kept."""
    env = TwinVectorEnv(settings.loops, process=settings.process, level=level, paths=settings.paths)
    teacher, scales = Teacher(env), env.loops.scales
    rng = np.random.default_rng((settings.seed, lap, LEARNED_LEVELS.index(level)))
    vectors, _ = env.reset(seed=int(rng.integers(2**31)))
    kept: list[NDArray[np.float32]] = []
    labels: list[NDArray[np.float32]] = []
    shake = np.zeros(settings.loops)
    for _ in range(int(env.loops.length.max())):
        advice = scales.share(teacher.advise())
        acts = advice if student is None else np.array([student.decide(vector) for vector in vectors])
        shake = 0.8 * shake + 0.6 * settings.shaken * rng.standard_normal(settings.loops)
        before = vectors
        vectors, *_, info = env.step((acts + shake)[:, np.newaxis].astype(np.float32))
        teacher.watch(info["power_w"])
        lit = env.loops.lit
        kept.append(before[lit, :INPUTS])
        labels.append(advice[lit].astype(np.float32))
    return np.concatenate(kept), np.concatenate(labels)


def fit(samples: Samples, settings: Distillation, lap: int, about: dict[str, Any]) -> tuple[Policy, float]:
    """A new student, and its mean error as a share of the laser's range."""
    torch.manual_seed(settings.seed * 1000 + lap)
    network, (mean, spread) = make_network(settings.width), measure(samples[0])
    x, y = torch.from_numpy((samples[0] - mean) / spread), torch.from_numpy(samples[1])[:, None]
    epochs = settings.epochs * (LAST if lap == settings.rounds - 1 else 1)
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.rate)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs, 0.01 * settings.rate)
    for _ in range(epochs):
        for chosen in torch.split(torch.randperm(len(x)), settings.batch):
            optimiser.zero_grad()
            loss = nn.functional.smooth_l1_loss(network(x[chosen]), y[chosen], beta=ROUND)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        falling.step()
    with torch.no_grad():
        return freeze(network, mean, spread, about), float((network(x) - y).abs().mean())


class Teacher:
    """The twin's planner where it knows the plate as it is, asked in every loop of a batch.

    Follows what a learner does and says what it would have done: no image, but the true gain and plate.
    """

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


def make_network(width: int) -> nn.Sequential:
    """Two hidden layers with tanh."""
    return nn.Sequential(
        nn.Linear(INPUTS, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
    )


def measure(seen: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Mean and spread of each input."""
    return seen.mean(axis=0), np.maximum(seen.std(axis=0), np.float32(LEAST))


def freeze(
    network: nn.Module, mean: NDArray[np.float32], spread: NDArray[np.float32], about: dict[str, Any]
) -> Policy:
    """The same as a policy that acts without PyTorch, on inputs as they are."""
    linear = [module for module in network.modules() if isinstance(module, nn.Linear)]
    layers = [(to_numpy(module.weight), to_numpy(module.bias)) for module in linear]
    weight, bias = layers[0]
    first = (weight / spread).astype(np.float32)
    layers[0] = first, (bias - first @ mean).astype(np.float32)
    return Policy(layers=tuple(layers), about=about)


def to_numpy(tensor: torch.Tensor) -> NDArray[np.float32]:
    """A copy that stands alone."""
    return np.array(tensor.detach().cpu().numpy(), np.float32)
