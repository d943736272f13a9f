"""Fitting: windows in, a trained model out; killed at any moment, it goes on where it was."""

import csv
import hashlib
import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.scaling import fit_scaler
from laserloop.data.windows import Windows, split_windows
from laserloop.predict.networks.architecture import Architecture, split_flat
from laserloop.predict.networks.checkpoint import MODEL_FILE, describe, load_model, save_model
from laserloop.predict.networks.fit_settings import FitSettings
from laserloop.predict.networks.model import Model, Scalers
from laserloop.predict.networks.origin import find_commit, find_versions
from laserloop.predict.networks.save import save
from laserloop.predict.networks.training_state import (
    STATE_FILE,
    Progress,
    TrainingState,
    load_state,
    save_state,
    start_training,
)
from laserloop.predict.trained_for import TrainedFor

if TYPE_CHECKING:
    from laserloop.predict.learned.array_net import ArrayNet

Arrays = list[NDArray[np.float64]]
Report = Callable[[Progress], None]

FRESH = 2**32  # the stream of the first weights, from which no epoch draws
KEEP_EVERY = 30.0  # s, the most work that a kill can cost
HISTORY_FILE = "history.csv"


def fit(
    windows: Windows,
    architecture: Architecture,
    settings: FitSettings,
    *,
    out: Path | None = None,
    report: Report | None = None,
    data: Mapping[str, Any] | None = None,
    trained_for: TrainedFor | None = None,
    keep_every: float = KEEP_EVERY,
) -> Model:
    """Train `architecture` on `windows`. `report` is told of every epoch; `data` and `trained_for` are kept.

    With `out`, the model is saved there beside the history of its losses; an interrupted training found
    there goes on to the very weights of an unbroken one, and a finished one is loaded.
    """
    need_torch()
    check_windows(windows, architecture)
    data_hash = hash_windows(windows)
    identity = identify(architecture, settings, data_hash)
    if out is not None and (out / MODEL_FILE).exists():
        return _load_finished(out, identity)
    train, held = split_windows(windows, seed=settings.seed, by=settings.split, share=settings.held_out)
    scalers, scaled = standardise(windows, architecture, train)
    rng = np.random.default_rng((settings.seed, FRESH))
    state = start_or_resume(architecture.draw_weights(rng), settings, out, identity)
    tables = [array[train] for array in scaled], [array[held] for array in scaled]
    run_training(state, architecture, settings, tables, make_keeper(out, identity, report, keep_every))
    model = Model(
        architecture=architecture,
        weights=split_flat(architecture.shapes(), state.best),
        scalers=scalers,
        trained_for=trained_for,
    )
    model.provenance.update(
        identity=identity,
        training=asdict(settings),
        data={**(data or {}), "hash": data_hash, "windows": len(windows.branch), "trained_on": len(train)},
        metrics=_tell_metrics(state.progress, len(train), _measure_rmse(model, windows, held)),
        versions=find_versions(),
        commit=find_commit(),
    )
    if out is not None:
        save(out / HISTORY_FILE, _write_history(state.progress))
        save_model(model, out)
        (out / STATE_FILE).unlink(missing_ok=True)
    return model


def _tell_metrics(progress: Progress, windows: int, rmse: float) -> dict[str, float]:
    """How a training went, of how many windows, to which error on those held out."""
    return {
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        "training_loss": progress.training_losses[progress.best_epoch - 1],
        "validation_loss": progress.best_loss,
        "validation_rmse_k": rmse,
        "seconds": progress.seconds,
        "windows_per_s": progress.epoch * windows / progress.seconds,
    }


def need_torch() -> None:
    """Refuse to train without PyTorch, with its install line."""
    if find_spec("torch") is None:
        raise BadInput("training needs PyTorch, which is not installed: run pip install 'laserloop[train]'")


def check_windows(windows: Windows, architecture: Architecture) -> None:
    """Refuse windows of another horizon, too few to split, or not finite."""
    if windows.branch.shape[1] != architecture.horizon:
        raise BadInput(
            f"the windows must have the horizon of the architecture, {architecture.horizon}, "
            f"got {windows.branch.shape[1]}: cut them again"
        )
    if len(windows.branch) < 2:
        raise BadInput(f"a training needs 2 windows at least, got {len(windows.branch)}: give it more data")
    if not all(np.isfinite(array).all() for array in _arrays(windows)):
        raise BadInput("the windows must be finite, got NaN or infinity: make the damaged episodes again")


def hash_windows(windows: Windows) -> str:
    """SHA-256 of everything a network may learn from."""
    digest = hashlib.sha256()
    for array in (*_arrays(windows), windows.episode):
        digest.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def identify(architecture: Architecture, settings: FitSettings, data_hash: str) -> str:
    """The name of a training: the same name, the same weights."""
    parts = [describe(architecture), asdict(settings), data_hash]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def standardise(
    windows: Windows, architecture: Architecture, train: NDArray[np.intp]
) -> tuple[Scalers, Arrays]:
    """The architecture's features and target of all windows, scaled to mean 0 and spread 1 over `train`."""
    x, y = architecture.select(windows.branch, windows.temps, windows.location)
    offsets = windows.places - windows.branch[:, :, 1:3]
    features = {"branch": x, "trunk": y, "target": architecture.select_target(windows.target, offsets)}
    scalers = Scalers(**{name: fit_scaler(array[train]) for name, array in features.items()})
    return scalers, [getattr(scalers, name).scale(array) for name, array in features.items()]


def _arrays(windows: Windows) -> tuple[NDArray[np.float64], ...]:
    return windows.branch, windows.temps, windows.location, windows.target


def _load_finished(out: Path, identity: str) -> Model:
    model = load_model(out)
    if model.provenance.get("identity") != identity:
        raise BadInput(
            f"a folder must hold one training only, but {str(out)!r} holds a model of others: "
            "choose another folder"
        )
    return model


def start_or_resume(
    drawn: Mapping[str, NDArray[np.float32]], settings: FitSettings, out: Path | None, identity: str
) -> TrainingState:
    """The state of a training that was interrupted in a folder, or the first one with these weights."""
    weights = np.concatenate([weight.ravel() for weight in drawn.values()])
    kept = None if out is None else load_state(out, identity, weights.size)
    return kept or start_training(weights, settings.learning_rate)


def make_keeper(
    out: Path | None, identity: str, report: Report | None, keep_every: float
) -> Callable[[TrainingState], None]:
    """What happens after an epoch: tell it, and now and then keep the state."""
    last = time.monotonic()

    def keep(state: TrainingState) -> None:
        nonlocal last
        if out is not None and time.monotonic() - last >= keep_every:
            save_state(out, state, identity)
            last = time.monotonic()
        if report is not None:
            report(state.progress)

    return keep


def run_training(
    state: TrainingState,
    architecture: "Architecture | ArrayNet",
    settings: FitSettings,
    arrays: tuple[Arrays, Arrays],
    after_epoch: Callable[[TrainingState], None],
) -> None:
    """Train a state to its end, on standardised x, y and s to learn from and to hold out."""
    from laserloop.predict.networks.torch_train import make_table, run_epochs, torch_threads

    training, held = (make_table(*part) for part in arrays)
    with torch_threads(settings.threads):
        run_epochs(state, architecture, (training, held), settings, after_epoch)


def _measure_rmse(model: Model, windows: Windows, part: NDArray[np.intp]) -> float:
    """Root mean square error over some windows and the whole horizon, K."""
    total = 0.0
    for few in np.array_split(part, 1 + len(part) // 10_000):
        predicted = model.predict(windows.branch[few], windows.temps[few], windows.location[few])
        total += float(np.sum((predicted - windows.target[few]) ** 2))
    return float(np.sqrt(total / (len(part) * model.architecture.horizon)))


def _write_history(progress: Progress) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("epoch", "training_loss", "validation_loss", "learning_rate"))
    losses = zip(progress.training_losses, progress.validation_losses, progress.learning_rates, strict=True)
    for epoch, row in enumerate(losses, start=1):
        writer.writerow((epoch, *(f"{value:.6g}" for value in row)))
    return stream.getvalue().encode()
