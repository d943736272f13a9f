"""How long one window takes: models in turn, in one run, so that they share the machine's moods."""

import time
from collections.abc import Callable, Mapping

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.data.windows import Windows
from laserloop.predict.compiled import make_predictor
from laserloop.predict.model import Model

BLOCK = 50  # calls in a row: long enough to have the weights in the cache, as a controller has them


def measure_latency(
    models: Mapping[str, Model], windows: Windows, *, calls: int = 5000
) -> dict[str, dict[str, float]]:
    """Median µs of one window of each model, by NumPy and by the compiled predictor, over `calls` each."""
    if calls < BLOCK:
        raise BadInput(f"a latency needs {BLOCK} calls at least, got {calls}: take more")
    ways = {"numpy_us": _make_numpy, "compiled_us": _make_compiled}
    runs = {(name, way): make(model, windows) for name, model in models.items() for way, make in ways.items()}
    times: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    for run in runs.values():
        run(0)  # compiles
    for first in range(0, calls, BLOCK):
        for key, run in runs.items():
            for n in range(first, min(first + BLOCK, calls)):
                start = time.perf_counter()
                run(n)
                times[key].append(time.perf_counter() - start)
    medians = {key: 1e6 * float(np.median(spent)) for key, spent in times.items()}
    return {name: {way: medians[name, way] for way in ways} for name in models}


def _make_numpy(model: Model, windows: Windows) -> Callable[[int], object]:
    parts = windows.branch, windows.temps, windows.location
    few = [tuple(np.ascontiguousarray(part[n : n + 1]) for part in parts) for n in range(len(windows))]
    return lambda n: model.predict(*few[n % len(few)])


def _make_compiled(model: Model, windows: Windows) -> Callable[[int], object]:
    predict = make_predictor(model)
    parts = windows.branch, windows.temps, windows.location
    few = [tuple(np.ascontiguousarray(part[n]) for part in parts) for n in range(len(windows))]
    return lambda n: predict(*few[n % len(few)])
