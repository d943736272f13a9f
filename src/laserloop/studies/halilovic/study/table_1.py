"""Table 1 of the paper: offline accuracy of both surrogates on seen and unseen paths, ours beside theirs."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from laserloop.data.ensemble import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import REALISATIONS, TICKS, Trajectories, evaluate
from laserloop.predict.model import Model
from laserloop.store import solve_case

PATHS = ("vertical", "spiral", "diagonal")
SEEN = {"vertical": "seen", "spiral": "seen", "diagonal": "unseen"}
COLUMNS = (*(str(kind) for kind in Excitation), "mean", "worst")


def run_table_1(
    models: Mapping[str, Model], root: Path, *, realisations: int = REALISATIONS
) -> list[dict[str, Any]]:
    """One row per path and model; cases that are on disk are not run again."""
    trajectories = Trajectories(folder=root / "trajectories")
    rows = []
    for path in PATHS:
        for name, model in models.items():
            settings = {
                "study": "table 1",
                "path": path,
                "model": model.provenance.get("identity", name),
                "realisations": realisations,
            }
            compute = partial(evaluate, model, path, trajectories=trajectories, realisations=realisations)
            scores = solve_case(root / "cases", settings, compute)
            rows.append({"model": name, **scores})
    return rows


def measure_excitations(
    root: Path, path: str = "vertical", *, ticks: int = TICKS, realisations: int = REALISATIONS
) -> list[dict[str, Any]]:
    """How much each class moves: the spread of T_max, K, and the mean change of power in a tick, W."""
    trajectories = Trajectories(folder=root / "trajectories", ticks=ticks)
    rows = []
    for kind in Excitation:
        windows = [cut_episode(trajectories.get(path, kind, n), horizon=1) for n in range(realisations)]
        spread = [one.target.std() for one in windows]
        change = [np.abs(np.diff(one.branch[:, 0, 0])).mean() for one in windows]
        rows.append(
            {
                "excitation": str(kind),
                "t_max_std_k": float(np.mean(spread)),
                "power_change_w": float(np.mean(change)),
            }
        )
    return rows


def figures_of(row: Mapping[str, Any]) -> list[float]:
    """The five columns of the table."""
    return [*(row["rmse_k"][str(kind)] for kind in Excitation), row["rmse_mean_k"], row["max_error_k"]]
