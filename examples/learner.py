"""A learner in Gymnasium: two numbers found on a hundred twins at once, then tried on the plant."""

from pathlib import Path
from typing import Any

import gymnasium
import matplotlib.pyplot as plt
import numpy as np

import laserloop.gym  # noqa: F401  # registers the environments
from laserloop.control.policy import PARTS
from laserloop.report.figures import save_figure

ERROR, LOOPS = slice(PARTS["error"].start, PARTS["error"].start + 1), 100  # error of the newest image


def act(numbers: np.ndarray, seen: np.ndarray) -> Any:
    """A share of the laser's range: one for a straight line, less of it the hotter it is."""
    return np.float32(numbers[:, :1] - numbers[:, 1:] * np.clip(seen[:, ERROR], -3.0, 3.0))


def learn(rounds: int = 6) -> np.ndarray:
    """The two numbers, by the cross-entropy method: try, keep the best fifth, try around them."""
    env = gymnasium.make_vec("laserloop/Twin-v1", num_envs=LOOPS, families=("star", "zigzag"), ticks=100)
    rng, mean, spread = np.random.default_rng(0), np.array([0.0, 0.05]), np.array([0.2, 0.05])
    for lap in range(rounds):
        tried = mean + spread * rng.standard_normal((LOOPS, 2))
        seen, _ = env.reset(seed=lap)
        total = np.zeros(LOOPS)
        for _ in range(99):
            seen, reward, *_ = env.step(act(tried, seen))
            total += reward
        best = tried[np.argsort(total)[-LOOPS // 5 :]]
        mean, spread = best.mean(axis=0), best.std(axis=0)
        print(f"round {lap + 1}: reward {total.max():.1f} at best, {np.round(mean, 3)}")
    return mean


def main(picture: str | None = None) -> float:
    """Returns the highest temperature on the plant, K."""
    numbers = learn()[np.newaxis]
    env = gymnasium.make("laserloop/Diagonal-v1", ticks=100)
    seen, _ = env.reset(seed=0)
    T, counts, ended = list[float](), list[bool](), False
    while not ended:
        seen, _, _, ended, info = env.step(act(numbers, seen[np.newaxis])[0])
        T, counts = [*T, info["t_max_k"]], [*counts, info["counts_above"]]
    highest = max(np.array(T)[counts])
    print(f"on the plant: at most {highest:.1f} K")
    if picture:
        figure, axes = plt.subplots(figsize=(6.0, 2.6), layout="constrained")
        axes.plot(T)
        axes.set(xlabel="tick", ylabel="T_max, K", ylim=(700.0, 830.0))
        save_figure(Path(picture), figure)
    return float(highest)


if __name__ == "__main__":
    main("learner.png")
