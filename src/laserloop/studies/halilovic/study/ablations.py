"""The paper's offline ablations: every model on the seen paths and on the unseen one, noise included."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from laserloop.evaluation import REALISATIONS, TICKS, Trajectories, evaluate
from laserloop.predict.model import Model
from laserloop.store import solve_case

SEEN = ("horizontal", "vertical", "spiral")
UNSEEN = "diagonal"
NOISES = (0.0, 2.0, 5.0, 10.0)  # K, on every temperature that the model is shown


class Trial(NamedTuple):
    """What a model is put to."""

    model: str
    noise: float = 0.0  # K
    shared: bool = False  # one draw for all temperatures of a window, instead of one for each


Row = dict[str, Any]


def run_ablations(
    models: Mapping[str, Model],
    root: Path,
    *,
    noisy: Iterable[str] = (),
    realisations: int = REALISATIONS,
    ticks: int = TICKS,
) -> list[Row]:
    """One row per model, more with noise for those in `noisy`; cases that are on disk are not run again."""
    trajectories = Trajectories(folder=root / "trajectories", ticks=ticks)
    shaken = set(noisy)
    rows = []
    for name, model in models.items():
        trials = [Trial(name)]
        if name in shaken:
            trials += [Trial(name, noise, shared) for shared in (False, True) for noise in NOISES[1:]]
        for trial in trials:
            scores = {}
            for path in (*SEEN, UNSEEN):
                settings = {
                    "study": "ablations",
                    "path": path,
                    "model": model.provenance.get("identity", name),
                    "noise_k": trial.noise,
                    "noise_shared": trial.shared,
                    "realisations": realisations,
                    "ticks": ticks,
                }
                compute = partial(
                    evaluate,
                    model,
                    path,
                    trajectories=trajectories,
                    realisations=realisations,
                    noise=trial.noise,
                    shared=trial.shared,
                )
                scores[path] = solve_case(root / "cases", settings, compute)
            rows.append(summarise(trial, scores))
    return rows


def summarise(trial: Trial, scores: Mapping[str, Mapping[str, Any]]) -> Row:
    """Horizon RMSE over the seen paths, its spread from path to path, and that of the unseen path, K."""
    seen = [scores[path]["rmse_mean_k"] for path in SEEN]
    steps = np.array([scores[path]["rmse_per_step_k"] for path in SEEN])
    return {
        "model": trial.model,
        "noise_k": trial.noise,
        "noise_shared": trial.shared,
        "seen_k": float(np.mean(seen)),
        "seen_std_k": float(np.std(seen)),
        "unseen_k": scores[UNSEEN]["rmse_mean_k"],
        "seen_per_step_k": np.sqrt(np.mean(steps**2, axis=0)).tolist(),
        "unseen_per_step_k": list(scores[UNSEEN]["rmse_per_step_k"]),
        "scores": {path: dict(score) for path, score in scores.items()},
    }
