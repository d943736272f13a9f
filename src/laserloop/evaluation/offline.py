"""Offline accuracy: a model against fresh trajectories under the paper's blind protocol."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from laserloop.data.excitation import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation.errors import Errors, measure_errors
from laserloop.evaluation.errors import evaluate as measure
from laserloop.evaluation.trajectories import FloatArray, Trajectories
from laserloop.predict.model import Model

REALISATIONS = 3

Progress = Callable[[int, int], None]


def evaluate(
    model: Model,
    path: str,
    *,
    trajectories: Trajectories | None = None,
    excitations: Iterable[Excitation] = tuple(Excitation),
    realisations: int = REALISATIONS,
    noise: float = 0.0,
    shared: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Horizon RMSE per excitation class, its mean, the worst error and the RMSE of each step, K.

    Each class is the mean over its realisations of the pooled horizon RMSE, as in the paper's Table 1.
    `noise`: standard deviation of what is added to the temperatures that the model is shown, K, to each its
    own, or one draw `shared` by all temperatures of a window.
    """
    trajectories = trajectories or Trajectories()
    kinds = tuple(excitations)
    found: dict[Excitation, list[Errors]] = {kind: [] for kind in kinds}
    for n, (kind, realisation) in enumerate(product(kinds, range(realisations)), start=1):
        record = trajectories.get(path, kind, realisation)
        found[kind].append(_measure(model, record, noise, realisation, shared=shared))
        if progress is not None:
            progress(n, len(kinds) * realisations)
    rmse = {str(kind): float(np.mean([run.pooled for run in runs])) for kind, runs in found.items()}
    spread = {str(kind): float(np.std([run.pooled for run in runs])) for kind, runs in found.items()}
    everything = [run for runs in found.values() for run in runs]
    per_step = {str(kind): _pool_steps(runs) for kind, runs in found.items()}
    return {
        "path": path,
        "plant": trajectories.plant,
        "rmse_k": rmse,
        "rmse_std_k": spread,
        "rmse_mean_k": float(np.mean(list(rmse.values()))),
        "max_error_k": max(run.worst for run in everything),
        "rmse_per_step_k": _pool_steps(everything),
        "rmse_per_step_of_k": per_step,
        "realisations": realisations,
        "noise_k": noise,
        "noise_shared": shared,
    }


def _pool_steps(runs: Sequence[Errors]) -> list[float]:
    """The RMSE of each step of the horizon over several runs, K."""
    return [float(step) for step in np.sqrt(np.mean([run.per_step**2 for run in runs], axis=0))]


def _measure(model: Model, record: FloatArray, noise: float, seed: int, *, shared: bool) -> Errors:
    """The errors on one trajectory, with noise in each temperature or one draw for all of a window."""
    if not shared:
        return measure(model, [record], noise=noise, seed=seed)
    horizon = model.architecture.horizon
    windows = cut_episode(
        record, horizon=horizon, stride=horizon, reading=model.reading, sampling=model.sampling
    )
    offset = np.random.default_rng(seed).normal(0.0, noise, (len(windows), 1))
    return measure_errors(model, replace(windows, temps=windows.temps + offset))


def track(
    model: Model, path: str, excitation: Excitation, *, trajectories: Trajectories | None = None
) -> dict[str, Any]:
    """Truth and blind prediction tick by tick along one fresh trajectory, window after window."""
    trajectories = trajectories or Trajectories()
    horizon = model.architecture.horizon
    record = trajectories.get(path, excitation, 0)
    windows = cut_episode(
        record, horizon=horizon, stride=horizon, reading=model.reading, sampling=model.sampling
    )
    predicted = model.predict(windows.branch, windows.temps, windows.location)
    ticks = windows.tick[:, np.newaxis] + np.arange(1, horizon + 1)
    return {
        "path": path,
        "excitation": str(excitation),
        "tick": ticks.ravel().tolist(),
        "true_k": windows.target.ravel().tolist(),
        "predicted_k": predicted.ravel().tolist(),
        "horizon": horizon,
    }
