"""How fast do surrogates learn and answer on one core?

    python benchmarks/train_speed.py       # under a minute

Writes docs/results/train_speed.json: the training loop against the core's matrix-product peak, and the median
time of one window for each architecture, by NumPy (all windows the same way) and by the compiled predictor.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from laserloop.bench.plant import one_core
from laserloop.bench.train import run_train_bench
from laserloop.dataset import Scaler
from laserloop.surrogates import Lstm, Model, MsDeepONet, Scalers, SsAr, make_predictor
from laserloop.surrogates.architecture import Architecture, feature_sizes

OUT = Path(__file__).parent.parent / "docs" / "results" / "train_speed.json"


def median_us(run: Callable[[], object], calls: int = 3000) -> float:
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def measure_latency(architecture: Architecture) -> dict[str, float]:
    rng = np.random.default_rng(0)
    branch, trunk, target = (Scaler(np.zeros(n), np.ones(n)) for n in feature_sizes(architecture))
    model = Model(
        architecture=architecture,
        weights=architecture.draw_weights(rng),
        scalers=Scalers(branch=branch, trunk=trunk, target=target),
    )
    horizon = architecture.horizon
    window = rng.normal(size=(1, horizon, 5)), rng.normal(size=(1, 1 + horizon)), rng.normal(size=(1, 2))
    one = [array[0] for array in window]
    predict = make_predictor(model)
    predict(*one)
    return {
        "numpy_us": median_us(lambda: model.predict(*window)),
        "compiled_us": median_us(lambda: predict(*one)),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=OUT)
    out = parser.parse_args().out
    with one_core():
        row = {
            **run_train_bench(rounds=10),
            "latency": {net.name: measure_latency(net) for net in (MsDeepONet(), SsAr(), Lstm())},
        }
    print(json.dumps(row, indent=1))
    out.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
