"""The pictures of docs/how-it-works.md, from runs made here and results that are stored.

    python benchmarks/how_it_works.py            # half a minute
    python benchmarks/how_it_works.py --draw     # from docs/how-it-works/figures.json, runs nothing

Plant `graded`, process `304` (304 steel, σ = 100 µm, 304 mm/s, ticks of 125 µs, window 760–800 K), path `diagonal`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from how_it_works_figures import draw_ages, draw_grid, draw_loop, draw_margins, draw_path
from light_and_dark import save_pair
from numpy.typing import NDArray

import laserloop as ll
from laserloop.predict.twin.twin import TwinPredictor
from laserloop.store import dump, save
from laserloop.versions import find_versions, hash_code

DOCS = Path(__file__).parent.parent / "docs"
FOLDER = DOCS / "how-it-works"
POWER = 11.0  # W
TICKS = 120
STRAIGHT, TURNED = 36, 44  # ticks before and after the first turn, which is at tick 39.5
SETTLED = 90  # ticks, from which the beam runs steadily at 45° to the grid
AGES = 24  # ticks that are told apart
HALF, POINTS = 0.35e-3, 71  # m and points, of the picture of the hot spot
FloatArray = NDArray[np.float64]


def measure() -> dict[str, Any]:
    """Everything that is drawn but not stored elsewhere."""
    path = ll.find_path("diagonal", ticks=TICKS)
    process = ll.find_process("paper")
    plant = ll.make_plant("graded", process)
    twin = TwinPredictor(process)
    plate, believed, ages, closer = [], [], {}, []
    for k in range(TICKS):
        surface = plant.step(POWER, path.spot(k))
        if not k:
            twin.ends[:] = path.spot(k)[0]
        twin.absorb(POWER, path.spot(k))
        peak = np.array((surface.peak.x, surface.peak.y))
        plate.append(surface.peak.temperature)
        believed.append(find_peak(twin, peak))
        if k + 1 in (STRAIGHT, TURNED):
            ages[str(k + 1)] = share_by_age(process, path, k + 1, peak, plate[-1])
        if k + 1 > SETTLED:
            closer.append(look_closer(surface))
    run = ll.close_loop("twin", path, process, plant="graded")
    loop = {
        "t_max_k": run.t_max.tolist(),
        "power_w": run.power.tolist(),
        "score": {key: ll.score(run)[key] for key in ("t_min_k", "t_max_k", "n_over")},
    }
    unlucky = max(closer, key=lambda spot: spot["peak_k"] - np.max(spot["nodes_k"]))
    told = {"plate_k": plate, "twin_k": believed, "loop": loop, "ages_k": ages, "hot_spot": unlucky}
    return {"code": hash_code(), "versions": find_versions(), "power_w": POWER, **told}


def find_peak(twin: TwinPredictor, near: FloatArray) -> float:
    """T_max as the twin believes it without any measurement, K."""
    heat = twin.sum_heat(twin.ends, np.array([twin.memory])).powered(twin.watts)
    steps = np.linspace(-50e-6, 50e-6, 21)
    points = near + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    return float(np.max(twin.table.temperature_of(heat.at(points[:, np.newaxis]).ravel())))


def share_by_age(process: ll.Process, path: ll.ScanPath, now: int, peak: FloatArray, T: float) -> list[float]:
    """Kelvins of the rise at the peak that the heat of each tick has to answer for, newest first, by the twin."""
    parts = []
    for lit in range(now):
        twin = TwinPredictor(process)
        twin.ends[:] = path.spot(0)[0]
        for k in range(now):
            twin.absorb(POWER if k == lit else 0.0, path.spot(k))
        heat = twin.sum_heat(twin.ends, np.array([twin.memory])).powered(twin.watts)
        parts.append(float(heat.at(peak[np.newaxis]).sum()))
    newest = np.array(parts[::-1])
    shares = (T - process.ambient) * newest / newest.sum()
    return [*shares[:AGES].tolist(), float(shares[AGES:].sum())]


def look_closer(surface: ll.Surface) -> dict[str, Any]:
    """The temperatures around the peak between the nodes, and where the paper's nodes would lie."""
    from scipy.interpolate import RectBivariateSpline

    spline = RectBivariateSpline(surface.y, surface.x, surface.temperature)
    x, y = (np.linspace(at - HALF, at + HALF, POINTS) for at in (surface.peak.x, surface.peak.y))
    nodes = np.arange(-20, 21) * 1e-4
    inside_x = nodes[np.abs(nodes - surface.peak.x) < HALF]
    inside_y = nodes[np.abs(nodes - surface.peak.y) < HALF]
    told = {"x_um": inside_x, "y_um": inside_y, "peak_um": np.array((surface.peak.x, surface.peak.y))}
    return {
        "peak_k": surface.peak.temperature,
        "t_k": np.round(spline(y, x), 1).tolist(),
        "nodes_k": np.round(spline(inside_y, inside_x), 1).tolist(),
        "half_um": HALF * 1e6,
        **{key: np.round(1e6 * value, 2).tolist() for key, value in told.items()},
    }


def main() -> None:
    """Measure unless told not to, then draw every picture twice."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draw", action="store_true", help="run nothing")
    file = FOLDER / "figures.json"
    if not parser.parse_args().draw:
        save(file, dump(measure()))
    found, plant, margins = (
        json.loads(source.read_text(encoding="utf-8"))
        for source in (file, DOCS / "reproduction/results/plant.json", DOCS / "results/margins.json")
    )
    pictures = {
        "heat-adds-up": lambda: draw_ages(found),
        "plate-and-twin": lambda: draw_loop(found),
        "grid": lambda: draw_grid(found, plant),
        "margin": lambda: draw_margins(margins),
        "diagonal": lambda: draw_path(ll.find_path("diagonal", ticks=320)),
    }
    for name, draw in pictures.items():
        for written in save_pair(FOLDER / f"{name}.svg", draw):
            print(f"{written.relative_to(DOCS.parent)}  {written.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
