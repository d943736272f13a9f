"""The graded plant at the size of a part: what a tick costs, wherever the beam has been and for how long."""

import resource
import time
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from laserloop.bench.plant import POWER, Progress, one_core, time_snapshot
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Plant, make_plant, paper_settings
from laserloop.process import Process

FloatArray = NDArray[np.float64]
Driven = dict[str, tuple[Plant, ScanPath, int]]  # a plant, its path and where on it the plant is

PLATE = (15e-3, 15e-3, 2e-3)  # m
HATCH = 1e-4  # m
SIDES = (3e-3, 10e-3)  # m
MOMENTS = (100, 1000, 10_000)  # ticks
BLOCK = 25  # ticks in turn, so that all share the machine's moods
ROUNDS = 6
STAGE_BYTES = 148  # a node's least traffic in a stage: guess 40, heat 40, balance 48, polish 20
TURN = 4  # dark ticks between two lines


def make_layer(side: float, *, ticks: int | None = None, hatch: float = HATCH) -> ScanPath:
    """Lines along x, to and fro, dark from each to the next; over and over for as many `ticks` as asked."""
    process = Process()
    hops = round(side / (process.speed * process.tick))
    across = hatch * (np.arange(round(side / hatch)) - 0.5 * (round(side / hatch) - 1))
    along = np.linspace(-side / 2, side / 2, hops + 1)
    lines: list[FloatArray] = []
    lit: list[bool] = []
    count = len(across) if ticks is None else -(-(ticks + TURN) // (hops + TURN))
    for n in range(count):
        lap, line = divmod(n, len(across))
        x = along if n % 2 == 0 else along[::-1]
        y = across[line if lap % 2 == 0 else -1 - line]
        if lines:
            start = lines[-1][-1]
            lines.append(np.linspace(start, (x[0], y), TURN + 1)[1:])
            lit += [False] * TURN
        first = 0 if not lines else 1
        lines.append(np.column_stack((x, np.full(hops + 1, y)))[first:])
        lit += [True] * hops
    name = f"{side * 1e3:g} × {side * 1e3:g} mm, {hatch * 1e3:g} mm hatch"
    path = ScanPath(name=name, positions=np.concatenate(lines), lit=np.array(lit), tick=process.tick)
    return path if ticks is None else path.truncated(ticks)


def run_part_bench(
    *, moments: Sequence[int] = MOMENTS, layer: float = 10e-3, progress: Progress | None = None
) -> dict[str, object]:
    """Ticks after some `moments` on both areas, beside the paper's plant; then one whole layer."""
    process = Process(plate=PLATE)
    with one_core():
        plants: Driven = {}
        for side in SIDES:
            plants |= _bring_to(side, moments, process, progress)
        costs = _take_turns(plants)
        nodes = int(np.prod(plants[next(iter(plants))][0].grid.shape))
        ours = [cost for name, cost in costs.items() if name != "paper"]
        return {
            "cpu_ms_per_tick": costs,
            "largest_over_least": max(ours) / min(ours),
            "largest_over_paper": max(ours) / costs["paper"],
            **_compare_bandwidth(nodes, 1e-3 * float(np.median(ours))),
            "layer": _run_layer(layer, process, progress),
        }


def _bring_to(side: float, moments: Sequence[int], process: Process, progress: Progress | None) -> Driven:
    """A plant for each moment on one area."""
    path = make_layer(side, ticks=moments[-1] + BLOCK * ROUNDS + 10)
    plant, found = make_plant("graded", path, process), {}
    for k in range(moments[-1] + 1):
        if k in moments:
            other = make_plant("graded", path, process)
            other.restore(plant.snapshot())
            found[f"{side * 1e3:g} mm after {k} ticks"] = (other, path, k)
        if k < moments[-1]:
            plant.step(POWER * path.lit[k], path.spot(k))
        if progress is not None:
            progress(k + 1, moments[-1] + 1)
    return found


def _take_turns(plants: Driven) -> dict[str, float]:
    """CPU milliseconds of a tick of each, and of the paper's plant on its diagonal after 400 ticks."""
    diagonal = find_path("diagonal", ticks=400 + BLOCK * ROUNDS)
    paper = Plant(paper_settings())
    for k in range(400):
        paper.step(POWER, diagonal.spot(k))
    everyone = plants | {"paper": (paper, diagonal, 400)}
    spent = {name: np.zeros(ROUNDS) for name in everyone}
    for turn in range(ROUNDS):
        for name, (plant, path, start) in everyone.items():
            began = time.process_time()
            for k in range(start + BLOCK * turn, start + BLOCK * (turn + 1)):
                plant.step(POWER * path.lit[k], path.spot(k))
            spent[name][turn] = time.process_time() - began
    return {name: 1e3 * float(np.mean(blocks)) / BLOCK for name, blocks in spent.items()}


def _run_layer(side: float, process: Process, progress: Progress | None) -> dict[str, float]:
    """A whole layer in one run."""
    path = make_layer(side)
    plant = make_plant("graded", path, process)
    hottest, moves = np.empty(len(path)), 0
    wall, cpu = time.perf_counter(), time.process_time()
    for k in range(len(path)):
        grid = plant.grid
        surface = plant.step(POWER * path.lit[k], path.spot(k))
        hottest[k] = plant.t_max(surface).temperature
        moves += plant.grid is not grid
        if progress is not None:
            progress(k + 1, len(path))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    books, lit = plant.books, path.settled()
    return {
        "ticks": len(path),
        "lit_ticks": int(path.lit.sum()),
        "simulated_s": plant.time,
        "wall_s": wall,
        "cpu_s": cpu,
        "wall_over_simulated": wall / plant.time,
        "cpu_ms_per_tick": 1e3 * cpu / len(path),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "grid_moves": moves,
        "energy_imbalance": abs(books["stored"] + books["lost"] - books["absorbed"]) / books["absorbed"],
        "t_max_k": float(hottest[lit].max()),
        "t_min_k": float(hottest[lit].min()),
        **dict(zip(("snapshot_ms", "restore_ms"), time_snapshot(plant), strict=True)),
    }


@njit(fastmath=True)
def triad(a: FloatArray, b: FloatArray, c: FloatArray) -> None:
    """a ← b + 1.5 c: 32 bytes per element with the line that is read to be overwritten."""
    for i in range(a.size):
        a[i] = b[i] + 1.5 * c[i]


def _compare_bandwidth(nodes: int, seconds: float) -> dict[str, float]:
    """Updates of a node in a stage per second, and what share of the memory's speed they need at least."""
    fields = [np.ones(nodes) for _ in range(3)]
    times = []
    for _ in range(30):
        start = time.perf_counter()
        triad(*fields)
        times.append(time.perf_counter() - start)
    updates = 2 * nodes / seconds
    rate = 32e-9 * nodes / min(times)
    return {
        "nodes": nodes,
        "node_updates_per_s": updates,
        "triad_gb_s": rate,
        "share_of_bandwidth": 1e-9 * STAGE_BYTES * updates / rate,
    }
