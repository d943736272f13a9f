"""How many ticks a second do the environments give, and what takes the time?

    python benchmarks/environments.py        # a minute; on a quiet machine

Prints a row per measurement and writes docs/results/environments.json. Workers are processes of one thread each. CPU time is what a tick costs; wall time is what a learner waits for, which on
a machine with other work is longer.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import laserloop.gym
from laserloop.control.problem import MpcProblem
from laserloop.native.twin import TwinPlayer
from laserloop.paths import find_path
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.process import Process
from laserloop.studies.arena.environments import TwinVectorEnv
from laserloop.versions import find_versions

ROOT = Path(__file__).parent.parent
TICKS = 320
BATCHES = (32, 128, 512)
PART = 40  # ticks timed at a time; the best counts, since others share the machine


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="that the workers run")
    parser.add_argument("--loops", type=int, default=256, help="of each worker")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--worker", action="store_true", help="be one of the workers")
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.loops, options.seconds)))
        return
    found = measure(options.loops, options.seconds)
    results = options.docs / "results"
    results.mkdir(parents=True, exist_ok=True)
    (results / "environments.json").write_text(
        json.dumps(found | {"versions": find_versions()}, indent=1) + "\n", "utf-8"
    )


def measure(loops: int, seconds: float) -> dict[str, Any]:
    """All figures."""
    layers = time_layers(loops)
    batches = {str(count): time_env("nominal", count) for count in BATCHES}
    levels = {level: time_env(level, loops) for level in ("off", "nominal", "hard")}
    workers = {str(count): run_workers(count, loops, seconds) for count in (1, 2)}
    plant = time_plant()
    load = os.getloadavg()[0]
    print(
        f"two workers: {workers['2']['by_wall']:.0f} steps/s by the clock, {workers['2']['by_cpu']:.0f} by CPU time"
    )
    return {
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": load,
        "loops": loops,
        "cpu_us": {"layers": layers, "batches": batches, "levels": levels},
        "workers": workers,
        "plant_ms": plant,
        "gaussians": count_gaussians(),
    }


def time_best(call: Callable[[], object], count: int, laps: int = 15) -> float:
    """The least CPU time of a lap, µs per tick."""
    best = np.inf
    for _ in range(laps):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return 1e6 * best / count


def make(level: str, count: int) -> TwinVectorEnv:
    env = gymnasium.make_vec("laserloop/Twin-v1", num_envs=count, level=level)
    assert isinstance(env, TwinVectorEnv)
    env.reset(seed=0, options={"stagger": True})
    for _ in range(TICKS):  # until episodes are at all their ticks
        env.step(np.full((count, 1), 0.1, np.float32))
    return env


def time_env(level: str, count: int) -> float:
    """One tick of one loop, the whole environment, µs."""
    env, actions = make(level, count), np.full((count, 1), 0.1, np.float32)
    took = time_best(lambda: [env.step(actions) for _ in range(PART)], PART * count)
    print(f"{level}, {count} loops: {took:.2f} µs")
    return took


def time_layers(count: int) -> dict[str, float]:
    """What is inside: the twin alone along a path, loops with camera and vector in C, the environment."""
    path = find_path("polyline:3", ticks=TICKS)
    twin = TwinPredictor(Process(), TwinSettings(horizon=1))
    player = TwinPlayer(twin, MpcProblem(horizon=1))
    power = np.full(TICKS, 11.0)

    def follow() -> None:
        player.reset()
        player.follow(path.positions, power)

    env = make("nominal", count)
    command, noise, lost = np.full(count, 11.0), env._draw_noise(), env._draw_lost()

    def step() -> None:
        for _ in range(PART):
            ended = np.flatnonzero(env.loops.tick >= env.loops.length)
            if len(ended):
                env._begin(ended)
            env.loops.step(command, noise, lost)

    return {
        "twin alone, one path": time_best(follow, TICKS),
        "loops in C: twin, spots ahead, camera, vector": time_best(step, PART * count),
        "the environment: noise, reward, episodes in NumPy": time_env("nominal", count),
    }


def count_gaussians() -> int:
    """How many stand for the heat of a whole path at its end."""
    path, twin = find_path("polyline:3", ticks=TICKS), TwinPredictor(Process(), TwinSettings(horizon=1))
    for k in range(TICKS):
        twin.absorb(11.0, path.spot(k))
    return twin.gaussians


def run_workers(count: int, loops: int, seconds: float) -> dict[str, Any]:
    """So many at once."""
    command = [sys.executable, __file__, "--worker", "--loops", str(loops), "--seconds", str(seconds)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads})
        for _ in range(count)
    ]
    told = [json.loads(worker.communicate()[0]) for worker in started]
    return {
        "by_wall": sum(one["steps"] / one["wall_s"] for one in told),
        "by_cpu": sum(one["steps"] / one["cpu_s"] for one in told),
        "share_of_core": [one["cpu_s"] / one["wall_s"] for one in told],
    }


def work(loops: int, seconds: float) -> dict[str, float]:
    """Step as a learner would, with an action that changes."""
    env, rng = make("nominal", loops), np.random.default_rng(0)
    actions = rng.uniform(0.0, 0.2, (PART, loops, 1)).astype(np.float32)
    steps, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        for action in actions:
            env.step(action)
        steps += PART * loops
    return {"steps": steps, "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}


def time_plant() -> float:
    """One tick of the environment on the plant, ms of CPU."""
    env = gymnasium.make(laserloop.gym.NAMES[0], level="nominal", ticks=60)
    env.reset(seed=0)
    began = time.process_time()
    for _ in range(60):
        env.step(np.array([0.1], np.float32))
    return 1e3 * (time.process_time() - began) / 60


if __name__ == "__main__":
    main()
