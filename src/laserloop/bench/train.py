"""The training loop against the core's matrix-product peak and against a stock PyTorch loop."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.data.windows import Windows
from laserloop.predict.networks import MsDeepONet
from laserloop.predict.training import FitSettings, fit, need_torch

PEAK_SIZE = 1024  # rows of the square product whose speed counts as the peak
PEAK_PRODUCTS = 4  # in a row
PAPER_WINDOWS = 320 * 395  # of an ensemble

Progress = Callable[[int, int], None]


def run_train_bench(
    *,
    windows: int = 20_480,
    rounds: int = 5,
    threads: int = 1,
    memory_windows: int = PAPER_WINDOWS,
    progress: Progress | None = None,
) -> dict[str, float | int]:
    """Measure epochs over random windows, `rounds` of each kind in turn; the best round of each counts.

    On one thread the processor's time is taken, so that a busy machine does not count.
    `share_of_peak` counts 6 operations for each multiply-add of the forward pass, two of them forward and
    four backward. `ratio_dataloader` divides by the same loop fed by a stock DataLoader; `ratio_stock` by
    that loader with layers, autograd and Adam as PyTorch has them out of the box. `peak_memory_mb` is that of
    a process of its own that fits `memory_windows` windows, as many as the paper's ensembles have.
    """
    if windows < 2048 or rounds < 1:
        raise BadInput(f"a bench needs 2048 windows and 1 round, got {windows} and {rounds}: take more")
    need_torch()
    from laserloop.predict.torch_training import torch_threads

    memory = _measure_memory(memory_windows)
    clock = time.process_time if threads == 1 else time.perf_counter
    best = dict.fromkeys(("ours", "loader", "stock", "peak"), np.inf)
    with torch_threads(threads):
        epochs = _make_epochs(windows, FitSettings(threads=threads))
        for done in range(rounds):
            for name, epoch in epochs.items():
                start = clock()
                epoch()
                best[name] = min(best[name], clock() - start)
            if progress is not None:
                progress(done + 1, rounds)
    peak = PEAK_PRODUCTS * 2 * PEAK_SIZE**3 / best["peak"]
    operations = 6 * multiply_adds(MsDeepONet())
    return {
        "windows": windows,
        "threads": threads,
        "windows_per_s": windows / best["ours"],
        "gemm_peak_gflops": peak / 1e9,
        "share_of_peak": operations * windows / best["ours"] / peak,
        "ratio_dataloader": best["loader"] / best["ours"],
        "ratio_stock": best["stock"] / best["ours"],
        "peak_memory_mb": memory,
    }


def _measure_memory(windows: int) -> float:
    """The most memory, MB, that a fresh process holds while it fits this many windows."""
    code = f"from laserloop.bench.train import _fit_once; _fit_once({windows})"
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def _fit_once(windows: int) -> None:
    """Fit random windows for one epoch and print this process's peak memory, MB."""
    rng, net = np.random.default_rng(0), MsDeepONet()
    n, classes = net.horizon, np.zeros(windows, np.int64)
    data = Windows(
        branch=rng.normal(size=(windows, n, 5)),
        temps=rng.normal(size=(windows, 1 + n)),
        location=rng.normal(size=(windows, 2)),
        target=rng.normal(size=(windows, n)),
        places=rng.normal(size=(windows, n, 2)),
        episode=classes,
        tick=np.arange(windows),
        excitation=classes,
        geometry=classes,
    )
    fit(data, net, FitSettings(max_epochs=1))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def multiply_adds(architecture: MsDeepONet) -> int:
    """Multiply-adds of one evaluation: one for each weight of a matrix, and the inner products."""
    matrices = [shape for shape in architecture.shapes().values() if len(shape) == 2]
    return sum(rows * columns for rows, columns in matrices) + architecture.horizon * architecture.basis


def _make_epochs(windows: int, settings: FitSettings) -> dict[str, Callable[[], object]]:
    """One epoch of each kind of loop, and one large matrix product."""
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    from laserloop.predict.torch_training import Table, TorchNetwork, make_adam
    from laserloop.predict.training import start_training

    architecture, rng = MsDeepONet(), np.random.default_rng(settings.seed)
    weights = np.concatenate([w.ravel() for w in architecture.draw_weights(rng).values()])
    state = start_training(weights, settings.learning_rate)
    flat = torch.from_numpy(state.weights)
    gradient = torch.zeros_like(flat)
    network = TorchNetwork(architecture, flat, gradient)
    adam = make_adam(state, flat, gradient, 0, settings)
    sizes = architecture.sizes()
    table = Table(torch.from_numpy(rng.standard_normal((windows, sum(sizes)), np.float32)), sizes)
    loader = DataLoader(
        TensorDataset(*torch.split(table.rows, list(sizes), 1)), batch_size=settings.batch, shuffle=True
    )
    stock = _make_stock(architecture, settings)

    def shuffled() -> Iterator[tuple[torch.Tensor, ...]]:
        return table.batches(settings.batch, torch.from_numpy(rng.permutation(windows)))

    def learn(batches: Iterator[tuple[torch.Tensor, ...]]) -> None:
        for x, y, s in batches:
            network.learn(x, y, s)
            adam.step()

    def learn_stock() -> None:
        with torch.enable_grad():
            for batch in loader:
                stock(*batch)

    square = torch.randn(PEAK_SIZE, PEAK_SIZE)
    product = torch.empty_like(square)

    def multiply() -> None:
        for _ in range(PEAK_PRODUCTS):
            torch.mm(square, square, out=product)

    return {
        "ours": lambda: learn(shuffled()),
        "loader": lambda: learn(iter(loader)),
        "stock": learn_stock,
        "peak": multiply,
    }


def _make_stock(architecture: MsDeepONet, settings: FitSettings) -> Callable[..., None]:
    """One step of the same network as a PyTorch tutorial would write it."""
    import torch
    from torch import nn

    def perceptron(name: str) -> nn.Sequential:
        sizes = [architecture.shapes()[f"{name}.{layer}.weight"] for layer in range(3)]
        one, two, three = (nn.Linear(columns, rows) for rows, columns in sizes)
        return nn.Sequential(one, nn.ReLU(), two, nn.ReLU(), three)

    branch, trunk = perceptron("branch"), perceptron("trunk")
    bias = nn.Parameter(torch.zeros(architecture.horizon))
    parameters = [*branch.parameters(), *trunk.parameters(), bias]
    adam = torch.optim.Adam(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)

    def step(x: torch.Tensor, y: torch.Tensor, s: torch.Tensor) -> None:
        adam.zero_grad()
        B = branch(x).view(len(x), architecture.horizon, architecture.basis)
        loss = nn.functional.mse_loss(torch.einsum("nij,nj->ni", B, trunk(y)) + bias, s)
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()

    return step
