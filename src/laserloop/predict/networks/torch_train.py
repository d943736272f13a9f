"""The training loop: Adam on mini-batches of a table that lies in memory."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from laserloop.bad_input import BadInput
from laserloop.predict.learned.array_net import ArrayNet
from laserloop.predict.learned.torch_array_net import TorchArrayNet
from laserloop.predict.networks.architecture import Architecture, split_flat
from laserloop.predict.networks.fit_settings import FitSettings
from laserloop.predict.networks.lstm import Lstm
from laserloop.predict.networks.torch_deeponet import TorchDeepONet
from laserloop.predict.networks.torch_lstm import TorchLstm
from laserloop.predict.networks.training_state import Progress, TrainingState

PLATEAU = 1e-4  # a loss must fall by this share to count as progress, as in PyTorch's plateau schedule


class Network(Protocol):
    """What the loop needs of an architecture in PyTorch."""

    def predict(self, x: Tensor, y: Tensor) -> Tensor:
        """Standardised predictions."""

    def learn(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The mean loss, in most the squared error; its gradient is left in the flat vector."""

    def measure(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The sum of the losses, without learning from it."""


@dataclass(frozen=True, slots=True)
class Table:
    """Standardised windows, one row each: branch features, trunk features, target, side by side."""

    rows: Tensor
    sizes: tuple[int, int, int]

    def batches(self, size: int, order: Tensor | None = None) -> Iterator[tuple[Tensor, ...]]:
        """x, y and s of `size` rows at a time; the last batch may be smaller."""
        buffer = torch.empty(size, self.rows.shape[1], dtype=self.rows.dtype)
        for first in range(0, len(self.rows), size):
            if order is None:
                rows = self.rows[first : first + size]
            else:
                picked = order[first : first + size]
                rows = torch.index_select(self.rows, 0, picked, out=buffer[: len(picked)])
            yield torch.split(rows, list(self.sizes), 1)


def make_table(x: NDArray[np.float64], y: NDArray[np.float64], s: NDArray[np.float64]) -> Table:
    """The table of standardised arrays, in float32."""
    rows = torch.from_numpy(np.concatenate((x, y, s), axis=1).astype(np.float32))
    return Table(rows, (x.shape[1], y.shape[1], s.shape[1]))


def make_network(
    architecture: Architecture | ArrayNet, flat: Tensor, gradient: Tensor, batch: int
) -> Network:
    """The architecture in PyTorch, on the weights and gradient given as flat vectors."""
    if isinstance(architecture, ArrayNet):
        parts = (split_flat(architecture.shapes(), vector) for vector in (flat, gradient))
        return TorchArrayNet(architecture, *parts)
    kind = TorchLstm if isinstance(architecture, Lstm) else TorchDeepONet
    weights, slopes = (split_flat(architecture.shapes(), vector) for vector in (flat, gradient))
    return kind(weights, slopes, batch)


def run_epochs(
    state: TrainingState,
    architecture: Architecture | ArrayNet,
    tables: tuple[Table, Table],
    settings: FitSettings,
    after_epoch: Callable[[TrainingState], None],
) -> None:
    """Train `state` to its end. `after_epoch` sees it complete after every epoch and may keep it.

    The order of epoch e is a pure function of (seed, e), so a training that goes on from a kept state ends
    with the very weights of an unbroken one.
    """
    training, held = tables
    flat = torch.from_numpy(state.weights)
    gradient = torch.zeros_like(flat)
    network = make_network(architecture, flat, gradient, settings.batch)
    steps = -(-len(training.rows) // settings.batch)
    adam = make_adam(state, flat, gradient, steps, settings)
    progress = state.progress
    while not is_over(progress, settings):
        start = time.perf_counter()
        adam.param_groups[0]["lr"] = progress.learning_rate
        rng = np.random.default_rng((settings.seed, progress.epoch))
        order = torch.from_numpy(rng.permutation(len(training.rows)))
        total = torch.zeros(())
        for x, y, s in training.batches(settings.batch, order):
            total += network.learn(x, y, s) * len(x)
            adam.step()
        training_loss = float(total) / len(training.rows)
        validation_loss = measure_loss(network, held, settings.batch)
        if not (math.isfinite(training_loss) and math.isfinite(validation_loss)):
            raise BadInput(
                f"a training must keep a finite loss, got {training_loss:g} in epoch {progress.epoch + 1}: "
                "lower the learning rate"
            )
        progress.seconds += time.perf_counter() - start
        if note_epoch(progress, training_loss, validation_loss, settings):
            state.best[:] = state.weights
        after_epoch(state)


def make_adam(
    state: TrainingState, flat: Tensor, gradient: Tensor, steps: int, settings: FitSettings
) -> torch.optim.Adam:
    """Adam whose running means live in `state`, so that they are kept and restored with it."""
    flat.grad = gradient
    adam = torch.optim.Adam([flat], weight_decay=settings.weight_decay, fused=True)
    adam.state[flat] = {
        "step": torch.tensor(float(state.progress.epoch * steps)),
        "exp_avg": torch.from_numpy(state.mean),
        "exp_avg_sq": torch.from_numpy(state.square),
    }
    return adam


def measure_loss(network: Network, table: Table, batch: int) -> float:
    """The mean loss over a table, without learning from it."""
    total = torch.zeros((), dtype=torch.float64)
    for x, y, s in table.batches(batch):
        total += network.measure(x, y, s)
    return float(total) / (len(table.rows) * table.sizes[2])


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


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Run PyTorch without autograd on so many threads; denormal numbers, 100 times slower, become zero."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)
