"""How fast do surrogates learn and answer on one core, and in how much memory?

    python benchmarks/train_speed.py [--data DIR]       # a minute; DIR: an ensemble, to train on it for one epoch

Writes docs/results/train_speed.{md,json}: the training loop against the core's matrix-product peak and a stock
loop, its peak memory, and the median time of one window for each architecture, by NumPy and by the compiled
predictor.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from page import format_rows

from laserloop.bench.plant import one_core
from laserloop.bench.train import run_train_bench
from laserloop.data import Scaler
from laserloop.data.ensemble import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories, measure_latency
from laserloop.predict.model import Model, Scalers, find_model
from laserloop.predict.networks import Lstm, MsDeepONet, SsAr, WindowNetwork

RESULTS = Path(__file__).parent.parent / "docs" / "results"
SHIPPED = "paper-corner"
TARGETS = {"share_of_peak": 0.40, "peak_memory_mb": 4096.0, "numpy_us": 60.0, "compiled_us": 15.0}


def draw_model(architecture: WindowNetwork) -> Model:
    branch, trunk, target = (Scaler(np.zeros(n), np.ones(n)) for n in architecture.sizes())
    return Model(
        architecture=architecture,
        weights=architecture.draw_weights(np.random.default_rng(0)),
        scalers=Scalers(branch=branch, trunk=trunk, target=target),
    )


def measure_real_memory(data: Path) -> float:
    """MB of `laserloop train` on an ensemble, reading it included; a process of its own."""
    with tempfile.TemporaryDirectory() as out:
        command = ["train", "ms-deeponet", "--data", str(data), "--out", out + "/model", "--max-epochs", "1"]
        code = f"import resource, sys; from laserloop.cli import main; main({command}); sys.stderr.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stderr.split()[-1])


def write_page(row: dict[str, Any]) -> str:
    latency = row["latency"]
    shipped = latency[SHIPPED]
    real = row.get("ensemble_memory_mb")
    facts = [
        ("windows learned per second", f"{row['windows_per_s']:.0f}", "–"),
        (
            "share of the core's matrix-product peak",
            f"{row['share_of_peak']:.0%}",
            f"≥ {TARGETS['share_of_peak']:.0%}",
        ),
        ("that peak, GFLOP/s (float32)", f"{row['gemm_peak_gflops']:.0f}", "–"),
        ("times the same loop fed by a stock DataLoader", f"{row['ratio_dataloader']:.1f}", "–"),
        ("times a stock PyTorch loop", f"{row['ratio_stock']:.1f}", "–"),
        ("peak memory of a fit of 126 400 windows, MB", f"{row['peak_memory_mb']:.0f}", "< 4096"),
        (
            "peak memory of `laserloop train` on an ensemble, MB",
            "–" if real is None else f"{real:.0f}",
            "< 4096",
        ),
        (f"one window of {SHIPPED}, NumPy, µs", f"{shipped['numpy_us']:.1f}", f"< {TARGETS['numpy_us']:g}"),
        (
            f"one window of {SHIPPED}, compiled, µs",
            f"{shipped['compiled_us']:.1f}",
            f"< {TARGETS['compiled_us']:g}",
        ),
    ]
    nets = [(name, f"{one['numpy_us']:.1f}", f"{one['compiled_us']:.1f}") for name, one in latency.items()]
    return "\n".join(
        [
            "# How fast do surrogates learn and answer, and in how much memory?",
            "",
            "Made by `python benchmarks/train_speed.py` (one process, one core, shared machine: trust ratios). The machine's",
            f"load average was {row['load_before']:.1f} before and {row['load_after']:.1f} after, on {row['cores']} cores.",
            "",
            format_rows(("what", "measured", "asked for"), facts),
            "Median time of one window, the models taking turns. Those named by their architecture have random weights;",
            f"{SHIPPED} is the shipped one. The compiled DeepONets skip what ReLU made zero, so their time depends on the weights.",
            "",
            format_rows(("model", "NumPy, µs", "compiled, µs"), nets),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="an ensemble, to measure the memory of a training on it")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    before = os.getloadavg()[0]
    memory = {} if options.data is None else {"ensemble_memory_mb": measure_real_memory(options.data)}
    models = {SHIPPED: find_model(SHIPPED)} | {
        net.name: draw_model(net) for net in (MsDeepONet(), SsAr(), Lstm())
    }
    windows = cut_episode(Trajectories(ticks=60).get("spiral", Excitation.PERSISTENT, 0))
    with one_core():
        row = {
            **run_train_bench(rounds=10),
            **memory,
            "latency": measure_latency(models, windows),
            "cores": os.cpu_count(),
            "load_before": before,
            "load_after": os.getloadavg()[0],
        }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "train_speed.json").write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    page = write_page(row)
    (options.out / "train_speed.md").write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
