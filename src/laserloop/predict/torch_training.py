"""The training loop in PyTorch: Adam on mini-batches of a table that lies in memory, slopes by autograd."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from laserloop.bad_input import BadInput
from laserloop.predict.networks import Network, split_flat
from laserloop.predict.training import FitSettings, TrainingState, is_over, note_epoch


class TorchNetwork:
    """A network whose weights are views into a flat vector, and its gradient into another."""

    def __init__(self, network: Network, flat: Tensor, gradient: Tensor) -> None:
        self.network = network
        self.weights, self.gradient = (split_flat(network.shapes(), vector) for vector in (flat, gradient))

    def predict(self, x: Tensor, y: Tensor) -> Tensor:
        """Standardised predictions (n, outputs)."""
        predicted: Tensor = self.network.forward(torch, self.weights, x, y)
        return predicted

    def learn(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The mean loss of a batch; its gradient is left in `gradient`."""
        with torch.enable_grad():
            leaves = {name: weight.detach().requires_grad_() for name, weight in self.weights.items()}
            loss = self._weigh(self.network.forward(torch, leaves, x, y), s).mean()
            slopes = torch.autograd.grad(loss, list(leaves.values()))
        for name, slope in zip(leaves, slopes, strict=True):
            self.gradient[name].copy_(slope)
        return loss.detach()

    def measure(self, x: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The sum of the losses, without learning from it."""
        return self._weigh(self.predict(x, y), s).sum()

    def _weigh(self, predicted: Tensor, s: Tensor) -> Tensor:
        """The squared error, or the pinball loss of each quantile."""
        if not self.network.quantiles:
            return (predicted - s).square()
        under = s - predicted
        width = s.shape[1] // len(self.network.quantiles)
        level = torch.tensor(self.network.quantiles, dtype=s.dtype).repeat_interleave(width)
        return torch.maximum(level * under, (level - 1.0) * under)


@dataclass(frozen=True, slots=True)
class Table:
    """Standardised windows, one row each: x, y and s side by side."""

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


def run_epochs(
    state: TrainingState,
    network: Network,
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
    learner = TorchNetwork(network, flat, gradient)
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
            total += learner.learn(x, y, s) * len(x)
            adam.step()
        training_loss = float(total) / len(training.rows)
        validation_loss = _measure_loss(learner, held, settings.batch)
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


def _measure_loss(learner: TorchNetwork, table: Table, batch: int) -> float:
    """The mean loss over a table, without learning from it."""
    total = torch.zeros((), dtype=torch.float64)
    for x, y, s in table.batches(batch):
        total += learner.measure(x, y, s)
    return float(total) / (len(table.rows) * table.sizes[2])


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """So many threads, and no slopes unless asked; denormal numbers, 100 times slower, become zero."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)
