"""A training's state on disk: one safetensors file that is there completely or not at all."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from laserloop.bad_input import BadInput
from laserloop.predict.networks.save import save

STATE_FILE = "training.safetensors"
FLAT = ("weights", "best", "mean", "square")  # Adam's two running means are `mean` and `square`


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


def start_training(weights: NDArray[np.float32], learning_rate: float) -> TrainingState:
    """The state before the first epoch."""
    zeros = np.zeros_like(weights)
    progress = Progress(learning_rate=learning_rate)
    return TrainingState(
        weights=weights, best=weights.copy(), mean=zeros, square=zeros.copy(), progress=progress
    )


def save_state(folder: Path, state: TrainingState, identity: str) -> None:
    """Write the state; `identity` names the training it belongs to."""
    arrays = {name: np.ascontiguousarray(getattr(state, name)) for name in FLAT}
    metadata = {"identity": identity, "progress": json.dumps(asdict(state.progress))}
    save(folder / STATE_FILE, to_safetensors(arrays, metadata))


def peek_epochs(folder: Path) -> int:
    """How many epochs an interrupted or running training has kept; 0 if none."""
    try:
        with safe_open(folder / STATE_FILE, framework="numpy") as stored:
            return int(json.loads((stored.metadata() or {})["progress"])["epoch"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        return 0


def load_state(folder: Path, identity: str, size: int) -> TrainingState | None:
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
