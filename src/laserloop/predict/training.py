"""Training: windows or sequences in, a model out; killed at any moment, it goes on where it was."""

import csv
import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import EnsembleSettings
from laserloop.data.store import data_hash, open_store
from laserloop.data.windows import Windows, cut_windows, fit_scaler, split_windows
from laserloop.predict.model import (
    MODEL_FILE,
    OWN_READING,
    Model,
    Scalers,
    TrainedFor,
    describe,
    find_origin,
    load_model,
    save_model,
)
from laserloop.predict.networks import (
    HORIZON,
    FloatArray,
    Network,
    SequenceNetwork,
    WindowNetwork,
    check_size,
    split_flat,
)
from laserloop.predict.sequence import Sequences
from laserloop.process.process import Sampling
from laserloop.store import save

IntArray = NDArray[np.intp]
Features = tuple[FloatArray, FloatArray, FloatArray]  # x, y, s

SPLITS = ("window", "episode")
SCHEDULES = ("plateau", "cosine")
PLATEAU = 1e-4  # a loss must fall by this share to count as progress, as in PyTorch's plateau schedule
FRESH = 2**32  # the stream of the first weights, from which no epoch draws
KEEP_EVERY = 30.0  # s, the most work that a kill can cost
HISTORY_FILE, STATE_FILE = "history.csv", "training.safetensors"
FLAT = ("weights", "best", "mean", "square")  # Adam's two running means are `mean` and `square`


@dataclass(frozen=True, slots=True, kw_only=True)
class FitSettings:
    """Adam on the mean squared error of standardised targets, until the validation loss stops falling.

    The paper's protocol by default.
    """

    learning_rate: float = 1e-3
    weight_decay: float = 1e-5  # Adam's L2 term; larger keeps the weights smaller
    batch: int = 1024  # windows; larger is faster and takes fewer steps an epoch
    schedule: str = "plateau"  # the rate is halved when stagnant (the paper), or ends at 0
    halve_after: int = 100  # stagnant epochs until the learning rate is halved
    patience: int = 300  # epochs without a better validation loss until training ends
    max_epochs: int = 5000
    seed: int = 0  # of the split, the first weights and the order of the batches
    split: str = "window"  # window: the paper's, shuffled windows; episode: no episode in both parts
    held_out: float = 0.2  # share of the windows or episodes that the validation loss is measured on
    threads: int = 1  # the same number gives the same weights, bit for bit

    def __post_init__(self) -> None:
        for name in ("learning_rate", "weight_decay"):
            value = getattr(self, name)
            if not (isinstance(value, float | int) and math.isfinite(value) and 0 <= value <= 1):
                label = name.replace("_", " ")
                raise BadInput(f"the {label} must be a number from 0 to 1, got {value!r}: choose another")
        for name in ("batch", "halve_after", "patience", "max_epochs"):
            check_size(getattr(self, name), name.replace("_", " "), 10**6)
        check_size(self.threads, "threads", 256)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise BadInput(f"the seed must be a whole number from 0 to 2³²−1, got {self.seed!r}: choose one")
        if self.schedule not in SCHEDULES:
            known = " or ".join(SCHEDULES)
            raise BadInput(f"the schedule must be {known}, got {self.schedule!r}: choose one")
        if self.split not in SPLITS:
            raise BadInput(f"the split must be by {' or '.join(SPLITS)}, got {self.split!r}: choose one")
        if not (isinstance(self.held_out, float) and 0 < self.held_out < 1):
            raise BadInput(f"the held-out share must lie between 0 and 1, got {self.held_out!r}: choose 0.2")


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a training stands; everything here is JSON."""

    epoch: int = 0  # completed
    learning_rate: float = 1e-3
    plateau_loss: float = np.inf  # the validation loss to beat by 0.01 %, as PyTorch's plateau schedule
    plateau_age: int = 0  # epochs since it was beaten
    best_loss: float = np.inf
    best_epoch: int = 0
    seconds: float = 0.0
    training_losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class TrainingState:
    """Weights now, the best so far, Adam's running means (all flat), and the progress."""

    weights: NDArray[np.float32]
    best: NDArray[np.float32]
    mean: NDArray[np.float32]
    square: NDArray[np.float32]
    progress: Progress


Report = Callable[[Progress], None]


def train(
    data: str | Path,
    architecture: WindowNetwork,
    settings: FitSettings,
    out: str | Path,
    *,
    reading: str | None = None,
    sampling: Sampling | None = None,
    report: Report | None = None,
) -> Model:
    """Fit `architecture` to all windows of the store `data` and save the model in the folder `out`.

    `reading`: T_max is the hottest node or the peak between nodes, that of the store's plant unless given;
    `sampling`: how previews are read, by the nearest node, or with the peak by the C¹ cubic unless given.
    Started again with the same arguments it goes on, or loads what is finished.
    """
    store = open_store(data)
    reading = reading or OWN_READING[store.settings.plant]
    sampling = sampling or ("smooth" if reading == "peak" else "nearest")
    windows = cut_windows(store, architecture.horizon, reading=reading, sampling=sampling)
    origin = {"ensemble": store.settings.to_json(), "ensemble_hash": data_hash(store)}
    made_for = describe_data(store.settings, windows, reading=reading, sampling=sampling)
    return fit(
        windows, architecture, settings, out=Path(out), report=report, data=origin, trained_for=made_for
    )


def describe_data(
    settings: EnsembleSettings, windows: Windows, *, reading: str = "node", sampling: Sampling = "nearest"
) -> TrainedFor:
    """What a model trained on the windows of an ensemble is made for."""
    x, y = windows.branch[:, 0, 1], windows.branch[:, 0, 2]
    return TrainedFor(
        process=settings.process,
        plant=settings.plant,
        reading=reading,
        sampling=sampling,
        area=(float(x.min()), float(x.max()), float(y.min()), float(y.max())),
        temperatures=(float(windows.target.min()), float(windows.target.max())),
    )


def fit(
    windows: Windows,
    architecture: WindowNetwork,
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
    _check_windows(windows, architecture)
    data_hash = hash_windows(windows)
    train, held = split_windows(windows, seed=settings.seed, by=settings.split, share=settings.held_out)
    return _fit(
        architecture,
        select_features(windows, architecture),
        (train, held),
        settings,
        identity=identify(architecture, settings, data_hash),
        data={**(data or {}), "hash": data_hash},
        trained_for=trained_for,
        measure=partial(_measure_rmse, windows=windows, part=held),
        out=out,
        report=report,
        keep_every=keep_every,
    )


def fit_sequences(
    table: Sequences,
    network: SequenceNetwork,
    settings: FitSettings,
    *,
    out: Path,
    data: Mapping[str, Any],
    report: Report | None = None,
    keep_every: float = KEEP_EVERY,
) -> Model:
    """The same of a network with a history; a part of the episodes is held out."""
    names = np.unique(table.episode)
    lost = np.random.default_rng(settings.seed).permutation(names)[: round(settings.held_out * len(names))]
    is_held = np.isin(table.episode, lost)
    held = np.flatnonzero(is_held)
    target = np.tile(table.target, max(1, len(network.quantiles)))

    def measure(model: Model) -> float:
        return _find_rms(model.evaluate(table.plans[held], table.features[held]) - target[held])

    return _fit(
        network,
        (table.plans, table.features, target),
        (np.flatnonzero(~is_held), held),
        settings,
        identity=identify_sequences(table, network, settings),
        data=data,
        trained_for=None,
        measure=measure,
        out=out,
        report=report,
        keep_every=keep_every,
    )


def _fit(
    network: Network,
    features: Features,
    parts: tuple[IntArray, IntArray],
    settings: FitSettings,
    *,
    identity: str,
    data: Mapping[str, Any],
    trained_for: TrainedFor | None,
    measure: Callable[[Model], float],
    out: Path | None,
    report: Report | None,
    keep_every: float,
) -> Model:
    """Train on the first of two parts, watch the loss on the second, and keep the best weights."""
    need_torch()
    from laserloop.predict.torch_training import make_table, run_epochs, torch_threads

    if out is not None and (out / MODEL_FILE).exists():
        return _load_finished(out, identity)
    scalers, scaled = standardise(features, parts[0])
    drawn = network.draw_weights(np.random.default_rng((settings.seed, FRESH)))
    state = _start_or_resume(drawn, settings, out, identity)
    training, held = (make_table(*(array[part] for array in scaled)) for part in parts)
    with torch_threads(settings.threads):
        run_epochs(
            state, network, (training, held), settings, _make_keeper(out, identity, report, keep_every)
        )
    weights = split_flat(network.shapes(), state.best)
    model = Model(architecture=network, weights=weights, scalers=scalers, trained_for=trained_for)
    progress = state.progress
    model.provenance.update(
        identity=identity,
        training=asdict(settings),
        data={**data, "windows": len(features[0]), "trained_on": len(parts[0])},
        metrics={
            "epochs": progress.epoch,
            "best_epoch": progress.best_epoch,
            "training_loss": progress.training_losses[progress.best_epoch - 1],
            "validation_loss": progress.best_loss,
            "validation_rmse_k": measure(model),
            "seconds": progress.seconds,
            "windows_per_s": progress.epoch * len(parts[0]) / progress.seconds,
        },
        **find_origin(),
    )
    if out is not None:
        save(out / HISTORY_FILE, _write_history(progress))
        save_model(model, out)
        (out / STATE_FILE).unlink(missing_ok=True)
    return model


def need_torch() -> None:
    """Refuse to train without PyTorch, with its install line."""
    if find_spec("torch") is None:
        raise BadInput("training needs PyTorch, which is not installed: run pip install 'laserloop[train]'")


def _check_windows(windows: Windows, architecture: WindowNetwork) -> None:
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


def identify(architecture: Network, settings: FitSettings, data_hash: str) -> str:
    """The name of a training: the same name, the same weights."""
    parts = [describe(architecture), asdict(settings), data_hash]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def identify_sequences(table: Sequences, network: SequenceNetwork, settings: FitSettings) -> str:
    """The same of a network with a history."""
    parts = [network.name, repr(network), asdict(settings), HORIZON]
    digest = hashlib.sha256(json.dumps(parts).encode())
    for array in (table.plans, table.features, table.target, table.episode):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def select_features(windows: Windows, architecture: WindowNetwork) -> Features:
    """What one evaluation of the network reads and gives, of all windows."""
    x, y = architecture.select(windows.branch, windows.temps, windows.location)
    offsets = windows.places - windows.branch[:, :, 1:3]
    return x, y, architecture.select_target(windows.target, offsets)


def standardise(features: Features, train: IntArray) -> tuple[Scalers, Features]:
    """x, y and s scaled to mean 0 and spread 1 over `train`."""
    branch, trunk, target = (fit_scaler(array[train]) for array in features)
    x, y, s = features
    scaled = branch.scale(x), trunk.scale(y), target.scale(s)
    return Scalers(branch=branch, trunk=trunk, target=target), scaled


def is_over(progress: Progress, settings: FitSettings) -> bool:
    """Has the patience or the number of epochs run out?"""
    stale = progress.epoch - progress.best_epoch >= settings.patience
    return stale or progress.epoch >= settings.max_epochs


def note_epoch(progress: Progress, training: float, validation: float, settings: FitSettings) -> bool:
    """Write an epoch's losses down and set the next one's rate; is this the best epoch so far?"""
    progress.epoch += 1
    progress.training_losses.append(training)
    progress.validation_losses.append(validation)
    progress.learning_rates.append(progress.learning_rate)
    if validation < progress.plateau_loss * (1 - PLATEAU):
        progress.plateau_loss, progress.plateau_age = validation, 0
    else:
        progress.plateau_age += 1
    if settings.schedule == "cosine":
        share = progress.epoch / settings.max_epochs
        progress.learning_rate = settings.learning_rate * 0.5 * (1.0 + math.cos(math.pi * share))
    elif progress.plateau_age > settings.halve_after:
        progress.learning_rate, progress.plateau_age = 0.5 * progress.learning_rate, 0
    better = validation < progress.best_loss
    if better:
        progress.best_loss, progress.best_epoch = validation, progress.epoch
    return better


def start_training(weights: NDArray[np.float32], learning_rate: float) -> TrainingState:
    """The state before the first epoch."""
    zeros = np.zeros_like(weights)
    progress = Progress(learning_rate=learning_rate)
    return TrainingState(
        weights=weights, best=weights.copy(), mean=zeros, square=zeros.copy(), progress=progress
    )


def peek_epochs(folder: Path) -> int:
    """How many epochs an interrupted or running training has kept; 0 if none."""
    try:
        with safe_open(folder / STATE_FILE, framework="numpy") as stored:
            return int(json.loads((stored.metadata() or {})["progress"])["epoch"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        return 0


def _arrays(windows: Windows) -> tuple[FloatArray, ...]:
    return windows.branch, windows.temps, windows.location, windows.target


def _load_finished(out: Path, identity: str) -> Model:
    model = load_model(out)
    if model.provenance.get("identity") != identity:
        raise BadInput(
            f"a folder must hold one training only, but {str(out)!r} holds a model of others: "
            "choose another folder"
        )
    return model


def _start_or_resume(
    drawn: Mapping[str, NDArray[np.float32]], settings: FitSettings, out: Path | None, identity: str
) -> TrainingState:
    """The state of a training that was interrupted in a folder, or the first one with these weights."""
    weights = np.concatenate([weight.ravel() for weight in drawn.values()])
    kept = None if out is None else _load_state(out, identity, weights.size)
    return kept or start_training(weights, settings.learning_rate)


def _make_keeper(
    out: Path | None, identity: str, report: Report | None, keep_every: float
) -> Callable[[TrainingState], None]:
    """What happens after an epoch: tell it, and now and then keep the state."""
    last = time.monotonic()

    def keep(state: TrainingState) -> None:
        nonlocal last
        if out is not None and time.monotonic() - last >= keep_every:
            arrays = {name: np.ascontiguousarray(getattr(state, name)) for name in FLAT}
            metadata = {"identity": identity, "progress": json.dumps(asdict(state.progress))}
            save(out / STATE_FILE, to_safetensors(arrays, metadata))
            last = time.monotonic()
        if report is not None:
            report(state.progress)

    return keep


def _load_state(folder: Path, identity: str, size: int) -> TrainingState | None:
    """The state left by an interrupted training of the same identity; None if there is none."""
    file = folder / STATE_FILE
    if not file.exists():
        return None
    try:
        with safe_open(file, framework="numpy") as stored:
            metadata = stored.metadata() or {}
            arrays = {name: np.array(stored.get_tensor(name)) for name in FLAT}
        progress = Progress(**json.loads(metadata["progress"]))
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(
            f"a training state must be a file that `train` wrote, but {str(file)!r} cannot be read: "
            "remove it to start again"
        ) from error
    if metadata.get("identity") != identity:
        raise BadInput(
            f"a folder must hold one training only, but {str(folder)!r} holds one of other data or settings: "
            "choose another folder"
        )
    if any(array.shape != (size,) or array.dtype != np.float32 for array in arrays.values()):
        raise BadInput(
            f"a training state must hold {size} weights, but {str(file)!r} holds others: "
            "remove it to start again"
        )
    return TrainingState(progress=progress, **arrays)


def _measure_rmse(model: Model, *, windows: Windows, part: IntArray) -> float:
    """Root mean square error over some windows and the whole horizon, K."""
    residuals = [
        model.predict(windows.branch[few], windows.temps[few], windows.location[few]) - windows.target[few]
        for few in np.array_split(part, 1 + len(part) // 10_000)
    ]
    return _find_rms(np.concatenate(residuals))


def _find_rms(residual: FloatArray) -> float:
    return float(np.sqrt(np.mean(residual**2)))


def _write_history(progress: Progress) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("epoch", "training_loss", "validation_loss", "learning_rate"))
    losses = zip(progress.training_losses, progress.validation_losses, progress.learning_rates, strict=True)
    for epoch, row in enumerate(losses, start=1):
        writer.writerow((epoch, *(f"{value:.6g}" for value in row)))
    return stream.getvalue().encode()
