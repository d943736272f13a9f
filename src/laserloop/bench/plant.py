"""The plants on one core: against a straightforward SciPy implementation, and against the exact integral."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from laserloop.bench.exactness import SCALES, measure_error
from laserloop.bench.reference import ReferencePlant
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Plant, make_plant
from laserloop.process import find_material

POWER = 14.0  # W
BLOCK = 20  # steps: long enough to refill the caches, short enough to share the machine's moods

Progress = Callable[[int, int], None]


def run_plant_bench(
    *, steps: int = 400, reference_steps: int = 400, progress: Progress | None = None
) -> dict[str, Any]:
    """Measure both plants over `steps` ticks and the reference over the first `reference_steps` of them.

    The three take turns, block by block, in one process on one core. `ratio_scipy` divides the reference's
    mean step by our mean step over the *whole* episode, whose later steps are the dearer ones for us. Then
    the graded plant's peak along two serpentines, against the exact one.
    """
    path = find_path("diagonal", ticks=steps)
    with one_core():
        paper, graded = make_plant("paper"), make_plant("graded")
        for plant in (paper, graded):  # compiles, and shows the memory of an episode
            _drive(plant, path, range(steps))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        snapshots = {plant.settings.name: time_snapshot(plant) for plant in (paper, graded)}
        return {
            **_race(paper, graded, path, min(reference_steps, steps), progress),
            "snapshot_ms": max(s[0] for s in snapshots.values()),
            "restore_ms": max(s[1] for s in snapshots.values()),
            "peak_memory_mb": memory,
            "second_start_s": _time_second_start(),
            **{name: measure_error(scale, progress=progress) for name, scale in SCALES.items()},
        }


def _race(
    paper: Plant, graded: Plant, path: ScanPath, reference_steps: int, progress: Progress | None
) -> dict[str, float | int]:
    material, tolerance = find_material("304"), paper.settings.tolerance
    reference = ReferencePlant(material, tolerance=tolerance)
    spent = {"paper": 0.0, "graded": 0.0, "scipy": 0.0}
    difference = 0.0
    steps = len(path)
    paper.reset()
    graded.reset()
    for first in range(0, steps, BLOCK):
        block = range(first, min(first + BLOCK, steps))
        seconds, ours = _drive(paper, path, block)
        spent["paper"] += seconds
        spent["graded"] += _drive(graded, path, block)[0]
        for k in block[: max(0, reference_steps - first)]:
            start = time.perf_counter()
            surface = reference.step(POWER, *path.spot(k)[1])
            spent["scipy"] += time.perf_counter() - start
            difference = max(difference, abs(float(surface.max()) - ours[k - first]))
        if progress is not None:
            progress(block[-1] + 1, steps)
    paper_ms, graded_ms = (1e3 * spent[name] / steps for name in ("paper", "graded"))
    scipy_ms = 1e3 * spent["scipy"] / reference_steps
    return {
        "steps": steps,
        "compared_steps": reference_steps,
        "tolerance_k": tolerance,
        "ratio_scipy": scipy_ms / paper_ms,
        "t_max_difference_k": difference,
        "paper_ms": paper_ms,
        "graded_ms": graded_ms,
        "scipy_ms": scipy_ms,
        "graded_over_paper": graded_ms / paper_ms,
    }


def _drive(plant: Plant, path: ScanPath, ticks: range) -> tuple[float, list[float]]:
    """Seconds spent in `ticks` and the hottest node of each."""
    start = time.perf_counter()
    surfaces = [plant.step(POWER, path.spot(k)) for k in ticks]
    seconds = time.perf_counter() - start
    return seconds, [surface.node.temperature for surface in surfaces]


def time_snapshot(plant: Plant) -> tuple[float, float]:
    """Median milliseconds of a snapshot and of a restore, at the end of an episode."""
    times = []
    for _ in range(21):
        start = time.perf_counter()
        snapshot = plant.snapshot()
        middle = time.perf_counter()
        plant.restore(snapshot)
        times.append((middle - start, time.perf_counter() - middle))
    save, load = 1e3 * np.median(times, axis=0)
    return float(save), float(load)


def _time_second_start() -> float:
    """Seconds from nothing to the first step, the kernels having been compiled before."""
    code = "from laserloop.cli import main; main(['simulate', 'diagonal', '--ticks', '1'])"
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
