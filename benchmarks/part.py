"""The plant at the size of a part: the grid that follows the beam, pauses, layers, resuming. All its figures.

    python benchmarks/part.py     # half an hour; what is in part.json already is not measured again

Writes docs/results/part.{json,md} and its pictures. Delete an entry of the JSON to measure it anew.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from part_page import write_page
from scipy.interpolate import CubicSpline

from laserloop.bench.part import make_layer
from laserloop.control import MpcProblem
from laserloop.control.constant import ConstantController
from laserloop.control.twin import make_twin_problem
from laserloop.loop import Run
from laserloop.loop.layers import Recoating, run_layers
from laserloop.native.twin import make_twin
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, Plant, Surface, graded_settings, moving_settings
from laserloop.process import CameraSettings, Process

FloatArray = NDArray[np.float64]
ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
POWER = 14.0  # W
EVERY = 5  # ticks between two surfaces that are compared
NEAR = 1e-3  # m around the beam, where they are


def measure_lines() -> dict[str, Any]:
    """Bias and ripple on straight lines, as docs/reproduction/report/plant.md has them of the fixed grid."""
    reference = json.loads((ROOT / "docs/reproduction/results/plant.json").read_text())["reference"]
    rows = {}
    for angle in (0, 30, 45):
        plant = Plant(moving_settings(speed=0.3))
        direction = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
        peaks = []
        for k in range(64):
            at = (np.array([k, k + 1]) * 0.3 * 1.25e-4 - 1.2e-3)[:, None] * direction
            peaks.append(plant.step(POWER, at).peak.temperature)
        limit = reference[str(angle)]["limit_k"]
        rows[str(angle)] = {
            "limit_k": limit,
            "bias_k": float(np.mean(peaks[40:])) - limit,
            "ripple_k": float(np.ptp(peaks[40:])),
        }
    return rows


def list_ways() -> dict[str, ScanPath]:
    """The paths on which the two grids are compared."""
    hop = Process().speed * Process().tick
    corners = 1e-3 * np.array([[-2.0, 0.0], [2.0, 0.0], [2.0, 0.1], [-2.0, 0.1], [-2.0, 0.2], [2.0, 0.2]])
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))))
    at = np.arange(0.0, along[-1], hop)
    hairpin = np.column_stack([np.interp(at, along, corners[:, axis]) for axis in (0, 1)])
    raster = make_layer(3e-3, ticks=3000)
    turn = np.sqrt(0.5) * np.array([[1.0, 1.0], [-1.0, 1.0]])
    slanted = ScanPath(name="slanted", positions=raster.positions[:1501] @ turn, lit=raster.lit[:1500])
    return {
        "hairpins of 4 mm lines, 0.1 mm apart": ScanPath(name="hairpin", positions=hairpin),
        "star:1": find_path("star:1", ticks=400),
        "raster of 3 × 3 mm, 0.1 mm hatch, dark turns": raster,
        "the same at 45°": slanted,
    }


def compare_grids(path: ScanPath) -> dict[str, float]:
    """The moving grid against the one that is fine everywhere, tick by tick."""
    (x_low, y_low), (x_high, y_high) = path.positions.min(axis=0), path.positions.max(axis=0)
    fixed = Plant(graded_settings(region=(x_low, x_high, y_low, y_high)))
    moving = Plant(moving_settings())
    peaks, surfaces, spent = [], [], np.zeros(2)
    for k in range(len(path)):
        found: list[Surface] = []
        for n, plant in enumerate((fixed, moving)):
            began = time.process_time()
            found.append(plant.step(POWER * path.lit[k], path.spot(k)))
            spent[n] += time.process_time() - began
        peaks.append(found[1].peak.temperature - found[0].peak.temperature)
        if k % EVERY == 0:
            surfaces.append(_differ_near(found[0], found[1], path.positions[k + 1]))
    books = moving.books
    return {
        "ticks": len(path),
        "fixed_nodes": int(np.prod(fixed.grid.shape)),
        "moving_nodes": int(np.prod(moving.grid.shape)),
        "t_max_difference_k": float(np.abs(peaks).max()),
        "t_max_bias_k": float(np.mean(peaks)),
        "surface_difference_k": float(max(surfaces)),
        "energy_imbalance": abs(books["stored"] + books["lost"] - books["absorbed"]) / books["absorbed"],
        "fixed_cpu_ms": 1e3 * float(spent[0]) / len(path),
        "moving_cpu_ms": 1e3 * float(spent[1]) / len(path),
    }


def _differ_near(fixed: Surface, moving: Surface, beam: FloatArray) -> float:
    """The largest difference at the fixed grid's nodes around the beam, the other surface by its spline."""
    cols, rows = np.abs(fixed.x - beam[0]) < NEAR, np.abs(fixed.y - beam[1]) < NEAR
    x, y = fixed.x[cols], fixed.y[rows]
    across = CubicSpline(moving.x, moving.temperature, axis=1)(x)
    there = CubicSpline(moving.y, across, axis=0)(y)
    near = np.hypot(x - beam[0], y[:, np.newaxis] - beam[1]) < NEAR
    return float(np.abs((there - fixed.temperature[np.ix_(rows, cols)]) * near).max())


def measure_order() -> dict[str, Any]:
    """Errors on the manufactured solution with a fine part that wanders, from the tests."""
    file = ROOT / "tests" / "validation" / "test_order.py"
    spec = importlib.util.spec_from_file_location("test_order", file)
    assert spec is not None
    assert spec.loader is not None
    test = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(test)
    errors = [test.solve_wandering(parts) for parts in (1, 2, 4)]
    return {"parts": [1, 2, 4], "errors_k": errors, "order": test.order(errors)}


def measure_pause() -> dict[str, Any]:
    """Pauses against the same time tick by tick, after 50 ticks of heating."""
    plant, hop, rows = Plant(moving_settings()), Process().speed * Process().tick, {}
    for k in range(50):
        plant.step(POWER, np.array([[k * hop - 1e-3, 0.0], [(k + 1) * hop - 1e-3, 0.0]]))
    start, away = plant.snapshot(), np.zeros((2, 2))
    for ticks in (8, 80, 800):
        began = time.process_time()
        plant.restore(start)
        for _ in range(ticks):
            surface = plant.step(0.0, away)
        middle = time.process_time()
        plant.restore(start)
        rested = plant.rest(ticks * Process().tick)
        rows[f"{ticks / 8:g} ms"] = {
            "t_max_k": surface.peak.temperature,
            "difference_k": float(np.abs(rested.temperature - surface.temperature).max()),
            "ticks_cpu_s": middle - began,
            "rest_cpu_s": time.process_time() - middle,
        }
    plant.restore(start)
    began = time.process_time()
    rows["1 s"] = {"t_max_k": plant.rest(1.0).peak.temperature, "rest_cpu_s": time.process_time() - began}
    return rows


def measure_layers() -> dict[str, Any]:
    """Three layers of a 2 × 2 mm square with 1 s between them, under constant power and under the twin."""
    process, layer = Process(), make_layer(2e-3)
    recoating = Recoating(pause=1.0, thickness=5e-5)
    entrants = {
        "constant 12 W": ConstantController(12.0),
        "twin": make_twin(make_twin_problem(MpcProblem()), process),
    }
    rows: dict[str, Any] = {"layer_ticks": len(layer), "pause_s": 1.0, "thickness_um": 50.0}
    for name, controller in entrants.items():
        plant = Plant(moving_settings(process))
        camera = Camera(CameraSettings(smooth=True, subgrid=True))
        runs = run_layers(plant, camera, controller, 3 * [layer], recoating)
        books = plant.books
        rows[name] = {
            "ending": [run.ending for run in runs],
            "t_max_k": [float(run.t_peak[run.settled].max()) for run in runs],
            "t_min_k": [float(run.t_peak[run.settled].min()) for run in runs],
            "t_mean_k": [float(run.t_peak[run.settled].mean()) for run in runs],
            "energy_imbalance": abs(books["stored"] + books["lost"] - books["absorbed"]) / books["absorbed"],
            "t_peak_k": [_list_lit(run) for run in runs],
        }
    return rows


def _list_lit(run: Run) -> list[float | None]:
    """T_max, K, tick by tick, and nothing where the laser was off."""
    return [round(float(T), 2) if lit else None for T, lit in zip(run.t_peak, run.lit, strict=True)]


def measure_resume() -> dict[str, Any]:
    """A simulation killed without notice after its first checkpoint, and taken up again."""
    start = "import laserloop.data.checkpoint as c; c.EVERY = 3.0; from laserloop.cli import main; main()"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lines = [f"{x},{-2 + 0.1 * n:.1f}" for n in range(40) for x in ((-2, 2) if n % 2 == 0 else (2, -2))]
        (place / "way.csv").write_text("\n".join(["x_mm,y_mm", *lines]))
        command = [sys.executable, "-c", start, "simulate", str(place / "way.csv"), "--ticks", "3200"]
        kept = ["--out", str(place / "kept")]
        run_quietly([*command, "--json", str(place / "whole.json")])
        process = subprocess.Popen([*command, *kept], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = place / "kept" / "checkpoint.npz"
        while not file.exists() and process.poll() is None:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with np.load(file) as arrays:
            ticks = int(arrays["ticks"])
        size = file.stat().st_size
        run_quietly([*command, *kept, "--json", str(place / "resumed.json")])
        whole, resumed = (json.loads((place / f"{n}.json").read_text()) for n in ("whole", "resumed"))
    same = all(whole[key] == resumed[key] for key in whole if key != "ms_per_step")
    return {"ticks": 3200, "killed_after": ticks, "equal": same, "checkpoint_mb": size / 2**20}


def run_quietly(command: list[str]) -> None:
    """Run a command to its end."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_bench() -> dict[str, Any]:
    """In a process of its own, where BLAS is told to use one thread before it is loaded."""
    command = [sys.executable, "-m", "laserloop", "bench", "plant", "--part", "--json", "-"]
    found: dict[str, Any] = json.loads(subprocess.check_output(command))
    return found


def main() -> None:
    file = RESULTS / "part.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    sections: dict[str, Callable[[], Any]] = {
        "lines": measure_lines,
        "order": measure_order,
        **{f"grids: {name}": partial(compare_grids, path) for name, path in list_ways().items()},
        "pause": measure_pause,
        "layers": measure_layers,
        "resume": measure_resume,
        "bench": run_bench,
    }
    for name, measure in sections.items():
        if name not in found:
            found[name] = measure()
            file.write_text(json.dumps(found, indent=1))
            print(name, "done", flush=True)
    print(write_page(found, RESULTS))


if __name__ == "__main__":
    main()
