"""A trained network with a memory: the formula, its weights and scalers; predicts without PyTorch."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.scaling import Scaler, fit_scaler
from laserloop.predict.learned.affine_net import AffineNet
from laserloop.predict.learned.array_net import ArrayNet, Weights, draw_weights
from laserloop.predict.learned.fno import Fno
from laserloop.predict.learned.folder import PAGE, load_folder, save_folder
from laserloop.predict.learned.surroundings import HORIZON, Table
from laserloop.predict.learned.tide import Tide, TideQuantile
from laserloop.predict.networks.architecture import split_flat
from laserloop.predict.networks.fit import (
    FRESH,
    Report,
    make_keeper,
    need_torch,
    run_training,
    start_or_resume,
)
from laserloop.predict.networks.fit_settings import FitSettings
from laserloop.predict.networks.training_state import STATE_FILE

FloatArray = NDArray[np.float64]

NETS: dict[str, type[AffineNet] | type[Tide] | type[TideQuantile] | type[Fno]] = {
    net.name: net for net in (AffineNet, Tide, TideQuantile, Fno)
}
SCALERS = ("plans", "features", "target")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryNet:
    """T̂ over the horizon from a plan and the surroundings."""

    net: ArrayNet
    weights: Weights  # float32, as trained and stored
    scalers: Mapping[str, Scaler]
    page: Mapping[str, Any] = field(default_factory=dict)  # where it comes from
    double: Weights = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", {name: w.astype(np.float64) for name, w in self.weights.items()})

    def predict(self, plans: FloatArray, features: FloatArray) -> FloatArray:
        """T̂ (n, outputs), K, of plans (n, N), W, and surroundings (n, features)."""
        x, y = self.scalers["plans"].scale(plans), self.scalers["features"].scale(features)
        return self.scalers["target"].unscale(self.net.forward(np, self.double, x, y))


def fit_memory_net(
    table: Table,
    net: ArrayNet,
    settings: FitSettings,
    *,
    out: Path,
    origin: Mapping[str, Any],
    report: Report | None = None,
    keep_every: float = 30.0,
) -> MemoryNet:
    """Train on a table, a part of the episodes held out; a training that was interrupted goes on."""
    need_torch()
    identity = _identify(table, net, settings)
    if (out / PAGE).exists():
        found = load_memory_net(out)
        if found.page.get("identity") != identity:
            raise BadInput(f"a folder must hold one training only, but {out} holds another: choose another")
        return found
    names = np.unique(table.episode)
    lost = np.random.default_rng(settings.seed).permutation(names)[: round(settings.held_out * len(names))]
    held = np.isin(table.episode, lost)
    target = np.tile(table.target, max(1, len(net.quantiles)))
    arrays = dict(zip(SCALERS, (table.plans, table.features, target), strict=True))
    scalers = {name: fit_scaler(array[~held]) for name, array in arrays.items()}
    scaled = [scalers[name].scale(array) for name, array in arrays.items()]
    drawn = draw_weights(net, np.random.default_rng((settings.seed, FRESH)))
    state = start_or_resume(drawn, settings, out, identity)
    parts = [array[~held] for array in scaled], [array[held] for array in scaled]
    run_training(state, net, settings, parts, make_keeper(out, identity, report, keep_every))
    progress = state.progress
    page = {
        "net": {"name": net.name, **asdict(net)},  # type: ignore[call-overload]
        "scalers": {name: scaler.to_json() for name, scaler in scalers.items()},
        "identity": identity,
        "training": asdict(settings),
        "data": dict(origin),
        "metrics": {
            "epochs": progress.epoch,
            "best_epoch": progress.best_epoch,
            "validation_loss": progress.best_loss,
            "seconds": progress.seconds,
            "windows": int((~held).sum()),
        },
    }
    weights = split_flat(net.shapes(), state.best)
    save_folder(out, net.name, weights, page)
    (out / STATE_FILE).unlink(missing_ok=True)
    return MemoryNet(net=net, weights=weights, scalers=scalers, page=page)


def load_memory_net(folder: Path) -> MemoryNet:
    """The network of a folder."""
    try:
        name = str(json.loads((folder / PAGE).read_text(encoding="utf-8"))["net"]["name"])
        kind = NETS[name]
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(f"{folder} must hold one of {', '.join(NETS)}, but does not: train it") from None
    arrays, page = load_folder(folder, name)
    settings = {key: value for key, value in page["net"].items() if key != "name"}
    scalers = {part: Scaler.from_json(page["scalers"][part]) for part in SCALERS}
    return MemoryNet(net=kind(**settings), weights=arrays, scalers=scalers, page=page)


def _identify(table: Table, net: ArrayNet, settings: FitSettings) -> str:
    """The name of a training: the same name, the same weights."""
    digest = hashlib.sha256(json.dumps([net.name, repr(net), asdict(settings), HORIZON]).encode())
    for array in (table.plans, table.features, table.target, table.episode):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
