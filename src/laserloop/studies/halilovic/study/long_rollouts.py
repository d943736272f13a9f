"""Rollouts of 5, 20 and 50 ticks: does an autoregressive model hold out longer that follows the peak's place?

The paper's outlook. A one-shot model needs the temperatures where the beam will be: it ends with its horizon.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from laserloop.data.ensemble import Excitation
from laserloop.data.store import COLUMNS
from laserloop.data.windows import BRANCH_COLUMNS, FIRST
from laserloop.evaluation import REALISATIONS, Trajectories
from laserloop.predict.model import Model
from laserloop.store import solve_case
from laserloop.studies.halilovic.study.ablations import SEEN, UNSEEN

LENGTHS = (5, 20, 50)  # ticks
MODELS = {
    "one-shot": "corner-nh5-seed0",
    "one-shot, N_h = 10": "corner-nh10",
    "SS-AR": "corner-ss-ar",
    "SS-AR with place": "corner-ss-ar-loc",
}
AT = {name: i for i, name in enumerate(COLUMNS)}

FloatArray = NDArray[np.float64]


def run_rollouts(
    models: Mapping[str, Model], root: Path, *, realisations: int = REALISATIONS
) -> list[dict[str, Any]]:
    """RMSE of each length over seen paths and the unseen one, K, of the models that are there."""
    trajectories = Trajectories(folder=root / "trajectories")
    rows = []
    for label, name in MODELS.items():
        if name not in models:
            continue
        settings = {
            "study": "long rollouts",
            "model": models[name].provenance.get("identity", name),
            "realisations": realisations,
        }
        compute = partial(_measure, models[name], trajectories, realisations)
        rows.append({"label": label, "model": name, **solve_case(root / "cases", settings, compute)})
    return rows


def _measure(model: Model, trajectories: Trajectories, realisations: int) -> dict[str, Any]:
    found: dict[str, dict[str, float]] = {}
    for where, paths in (("seen", SEEN), ("unseen", (UNSEEN,))):
        records = [trajectories.get(*which) for which in product(paths, Excitation, range(realisations))]
        found[where] = {str(n): error_of(model, records, n) for n in LENGTHS if can_last(model, n)}
    return {"rmse_k": found}


def can_last(model: Model, ticks: int) -> bool:
    """Whether a model says anything of so many ticks: those that feed themselves always do."""
    return bool(ticks <= model.architecture.horizon or model.architecture.name.startswith("ss-ar"))


def error_of(model: Model, records: Sequence[FloatArray], ticks: int) -> float:
    """RMSE of the last 5 of so many ticks, K, over rollouts that begin where the last one ends."""
    squares = [_roll_out(model, record, ticks)[:, -5:] ** 2 for record in records]
    return float(np.sqrt(np.mean(np.concatenate(squares))))


def _roll_out(model: Model, record: FloatArray, ticks: int) -> FloatArray:
    """Prediction minus truth (n, ticks), K; previews are only there for a model's own horizon."""
    horizon: int = model.architecture.horizon
    longest = max(ticks, horizon)
    starts = np.arange(FIRST, len(record) - longest, ticks)

    def ahead(name: str, offset: int) -> FloatArray:
        return sliding_window_view(record[:, AT[name]], longest)[starts + offset]

    power, *kinematics = BRANCH_COLUMNS
    branch = np.stack([ahead(power, 1), *(ahead(name, 0) for name in kinematics)], axis=-1)
    previews = [record[starts, AT[f"preview_{model.sampling}_{i}_k"]] for i in range(1, horizon + 1)]
    temps = np.stack([record[starts, AT["t_node_k"]], *previews], axis=-1)
    if longest > horizon:  # a model that feeds itself looks at T_max alone
        temps = np.pad(temps, ((0, 0), (0, longest - horizon)))
        model = replace(model, architecture=replace(model.architecture, horizon=longest))
    place = np.stack([record[starts, AT[name]] for name in ("node_x_m", "node_y_m")], axis=-1)
    return (model.predict(branch, temps, place) - ahead("t_node_k", 1))[:, :ticks]
