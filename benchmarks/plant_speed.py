"""How fast are the plants, does a tick cost the same at any time, and how far are the core's limits?

    python benchmarks/plant_speed.py --old ../old --tracks heat_accumulation.csv     # half an hour

`--old`: a checkout of the version to race against (`git worktree add ../old e6d12c0`, the plant of 0.2.0);
`--tracks`: a table of tracks, x0_um,y0_um,x1_um,y1_um, as of NIST mds2-3662. Without them these parts are left as
they were. Writes docs/results/plant_speed.{md,json}.
"""

import argparse
import cProfile
import csv
import json
import os
import pstats
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from laserloop.bench.laps import one_core
from laserloop.bench.plant import POWER, SCALES, make_serpentine
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Plant, PlantSettings, make_plant, paper
from laserloop.plant import nested_kernels as kernels
from laserloop.plant.nested import NestedHeat, find_stages
from laserloop.plant.paper import PaperHeat
from laserloop.process import Beam, Laser, Material, Process
from laserloop.process.heat_table import tabulate
from laserloop.process.material import Melting
from laserloop.versions import find_versions

FloatArray = NDArray[np.float64]
ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
BLOCK = 25  # ticks in turn, so that all share the machine's moods
PAPER = ("vertical", "horizontal", "spiral", "diagonal")
TURN = 4  # dark ticks between two lines of a layer
FINE = 10  # short tracks that are driven with cells half as large, too


@njit(fastmath=True)
def triad(a, b, c):  # type: ignore[no-untyped-def]
    """a ← b + 1.5 c: 24 bytes per element, 32 with the line that is read to be overwritten."""
    for i in range(a.size):
        a[i] = b[i] + 1.5 * c[i]


@njit(fastmath={"contract"})
def multiply_add(x, rounds):  # type: ignore[no-untyped-def]
    """Chains of eight fused multiply-adds on values that stay in L1."""
    for _ in range(rounds):
        for i in range(x.size):
            v = x[i]
            v = v * 0.999 + 1e-3
            v = v * 0.998 + 2e-3
            v = v * 0.997 + 3e-3
            v = v * 0.996 + 4e-3
            v = v * 0.995 + 5e-3
            v = v * 0.994 + 6e-3
            v = v * 0.993 + 7e-3
            x[i] = v * 0.992 + 8e-3


@njit
def look_up_alone(places, values, out):  # type: ignore[no-untyped-def]
    """What a stage does beside its stencil: a linear look-up of every cell, of places in order of heat."""
    for i in range(places.size):
        row = np.uint64(places[i])
        left = values[row]
        out[i] = left + (places[i] - row) * (values[row + np.uint64(1)] - left)


def best_of(run: Callable[[], object], repeats: int = 30) -> float:
    """The least of many seconds: the others were disturbed."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def race(old: Path) -> dict[str, dict[str, float]]:
    """CPU milliseconds of a tick of both versions, block by block in turn on one core, and their ratio."""
    cases = []
    process = Process()
    for name in PAPER:
        path = find_path(name, ticks=400)
        cases.append(make_case(name, path.positions, process, POWER))
    scale = SCALES["powder_bed"]
    bed = replace(process, beam=Beam(sigma=scale.sigma), tick=scale.tick, speed=scale.speed)
    cases.append(make_case("σ 42.5 µm serpentine", make_serpentine(scale.speed * scale.tick), bed, 30.0))
    runners = [start_runner(folder / "src") for folder in (old, ROOT)]
    found = {}
    for case in cases:
        spent: list[list[float]] = [[], []]
        for runner in runners:
            ask(runner, case)
        ticks = len(case["positions"]) - 1
        for first in range(0, ticks, BLOCK):
            for runner, seconds in zip(runners, spent, strict=True):
                seconds.append(ask(runner, [first, min(first + BLOCK, ticks)]))
        before, now = (1e3 * sum(seconds) / ticks for seconds in spent)
        found[case["name"]] = {"ticks": ticks, "old_ms": before, "new_ms": now, "ratio": now / before}
        print(case["name"], found[case["name"]], flush=True)
    for runner in runners:
        assert runner.stdin is not None
        runner.stdin.close()
        runner.wait()
    return found


def make_case(name: str, positions: FloatArray, process: Process, power: float) -> dict[str, Any]:
    """What a runner needs to know."""
    return {
        "name": name,
        "material": process.material.name,
        "sigma": process.beam.sigma,
        "tick": process.tick,
        "speed": process.speed,
        "power": power,
        "positions": positions.tolist(),
    }


def start_runner(source: Path) -> "subprocess.Popen[str]":
    """A version of the package in a process of its own, with one thread on our core."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "plant_race.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **threads, "PYTHONPATH": str(source)},
    )


def ask(runner: "subprocess.Popen[str]", what: object) -> float:
    """Send a case or a block; the answer is CPU seconds."""
    assert runner.stdin is not None
    assert runner.stdout is not None
    runner.stdin.write(json.dumps(what) + "\n")
    runner.stdin.flush()
    answer = runner.stdout.readline()
    if not answer:
        raise SystemExit("a runner ended before it answered; its error is above")
    return float(json.loads(answer))


def make_layer(side: float, hatch: float = 1e-4) -> ScanPath:
    """Lines along x, to and fro over a square, dark from each to the next."""
    process = Process()
    hops = round(side / (process.speed * process.tick))
    across = hatch * (np.arange(round(side / hatch)) - 0.5 * (round(side / hatch) - 1))
    along = np.linspace(-side / 2, side / 2, hops + 1)
    points, lit = [np.array([[along[0], across[0]]])], []
    for n, y in enumerate(across):
        x = along if n % 2 == 0 else along[::-1]
        if n:
            points.append(np.linspace(points[-1][-1], (x[0], y), TURN + 1)[1:])
            lit += [False] * TURN
        points.append(np.column_stack((x, np.full(hops + 1, y)))[1:])
        lit += [True] * hops
    name = f"{1e3 * side:g} × {1e3 * side:g} mm, {1e3 * hatch:g} mm hatch"
    return ScanPath(name=name, positions=np.concatenate(points), lit=np.array(lit), tick=process.tick)


def drive(plant: Plant, path: ScanPath, ticks: range, power: float = POWER) -> float:
    """CPU seconds of some ticks; at its end a path begins again."""
    began = time.process_time()
    for k in ticks:
        at = k % len(path)
        plant.t_max(plant.step(power * path.lit[at], path.spot(at)))
    return time.process_time() - began


def measure_flatness(ticks: int = 50_000, part: int = 1000) -> dict[str, float]:
    """The last ticks of many against the first ones, block by block in turn, over and over a 3 × 3 mm square."""
    path, process = make_layer(3e-3), Process()
    late = make_plant("graded", process)
    drive(late, path, range(ticks - part))
    shift = (ticks - part) % len(path)  # both drive the same ticks of the path
    early = make_plant("graded", process)
    drive(early, path, range(shift, shift + 3))
    early.reset()
    spent = np.zeros(2)
    for n in range(0, part, BLOCK):
        for side, (plant, first) in enumerate(((early, shift), (late, ticks - part))):
            spent[side] += drive(plant, path, range(first + n, first + n + BLOCK))
    first_ms, last_ms = 1e3 * spent / part
    return {"ticks": ticks, "first_ms": first_ms, "last_ms": last_ms, "last_over_first": last_ms / first_ms}


def measure_layer() -> dict[str, float]:
    """A whole layer of 10 × 10 mm."""
    path, process = make_layer(10e-3), Process(plate=(15e-3, 15e-3, 2e-3))
    plant = make_plant("graded", process)
    drive(plant, path, range(3))
    plant.reset()
    wall = time.perf_counter()
    cpu = drive(plant, path, range(len(path)))
    books = plant.books
    return {
        "ticks": len(path),
        "lit_ticks": int(path.lit.sum()),
        "simulated_s": plant.time,
        "cpu_s": cpu,
        "wall_s": time.perf_counter() - wall,
        "ms": 1e3 * cpu / len(path),
        "imbalance": abs(books["absorbed"] - books["lost"] - books["stored"]) / books["absorbed"],
    }


def make_in625() -> Material:
    """IN625 as the tracks' publication has it, and never boiling: what evaporates is not modelled."""
    T = np.linspace(20.0, 1290.0, 12)  # °C
    solid = Material.from_table(
        T=T + 273.15,
        k=9.8 + 0.0153 * T,
        rho=np.full_like(T, 8440.0),
        cp=410.0 + 0.276 * T,
        name="in625",
        source="Holla et al. 2025, doi 10.1007/s40964-025-01147-9",
    )
    melting = Melting(
        source=solid.source,
        solidus=1563.15,
        liquidus=1623.15,
        latent=280e3,
        boiling=3e4,
        T=np.array([1623.15]),
        k=np.array([29.5]),
        rho=np.array([8440.0]),
        cp=np.array([766.0]),
    )
    return replace(solid, melting=melting)


def measure_tracks(file: Path, *, refine: float = 1.0, first: int | None = None) -> dict[str, Any]:
    """Short tracks one after another, 0.5 ms dark between them, without evaporation; all, or the first ones."""
    with file.open() as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    process = Process(
        material=make_in625(),
        plate=(76e-3, 76e-3, 6e-3),
        beam=Beam(sigma=21.25e-6, absorptivity=0.54),
        laser=Laser(power=(0.0, 400.0)),
        tick=2e-5,
        speed=0.96,
        window=(1700.0, 2500.0),
    )
    ends = [[1e-6 * float(row[name]) for name in ("x0_um", "y0_um", "x1_um", "y1_um")] for row in rows]
    middle = np.mean(ends, axis=0)
    plant, spent, ticks, widths = make_plant("graded", process, refine=refine), 0.0, 0, []
    plant.t_max(plant.step(1.0, np.zeros((2, 2))))
    plant.reset()
    for x0, y0, x1, y1 in (np.array(ends) - np.tile(0.5 * (middle[:2] + middle[2:]), 2))[:first]:
        count = round(float(np.hypot(x1 - x0, y1 - y0)) / (process.speed * process.tick))
        way = np.column_stack((np.linspace(x0, x1, count + 1), np.linspace(y0, y1, count + 1)))
        spots = [(285.0, np.array(spot)) for spot in pairwise(way)]
        spots += round(5e-4 / process.tick) * [(0.0, way[-1:].repeat(2, axis=0))]
        widest = 0.0
        for n, (power, spot) in enumerate(spots):
            began = time.process_time()
            surface = plant.step(power, spot)
            plant.t_max(surface)
            spent += time.process_time() - began
            if power and n % 10 == 9:
                pool = plant.melt_pool(surface)
                widest = max(widest, 0.0 if pool is None else pool.width)
        ticks += len(spots)
        widths.append(widest)
    measured = np.array([1e-6 * float(row["width_um"]) for row in rows])[:first]
    return {
        "tracks": len(widths),
        "ticks": ticks,
        "ms": 1e3 * spent / ticks,
        "load": os.getloadavg()[0],
        "widths_um": [1e6 * width for width in widths],
        "width_error": float(np.abs(np.array(widths) / measured - 1.0).mean()),
        "boxes": plant.describe(),
    }


def measure_core(nodes: int) -> dict[str, float]:
    """Bandwidth over as much memory as three fields of the window take, in L2, and the multiply-add rate."""
    fields = [np.ones(nodes) for _ in range(3)]
    small = [np.ones(8000) for _ in range(3)]
    registers = np.ones(64)
    return {
        "window_gb_s": 32e-9 * nodes / best_of(lambda: triad(*fields)),
        "l2_gb_s": 24e-9 * 8000 / best_of(lambda: triad(*small), 300),
        "gflop_s": 16e-9 * 64 * 20000 / best_of(lambda: multiply_add(registers, 20000)),
    }


def measure_paper() -> dict[str, Any]:
    """ns, bytes and flops per node of each kernel of the publication's plant, over all that is warm in the end."""
    process, path = Process(), find_path("diagonal", ticks=400)
    heat = PaperHeat(process, tabulate(process.material, process.ambient))
    drive(Plant(PlantSettings(name="paper", process=process), heat), path, range(400))
    nodes = int((heat._last - heat._first)[heat._last > 0].sum())
    links, limits = heat._find_links(process.tick)
    trial, theta, change, field = (
        part.copy() for part in (heat._trial, heat._theta, heat._change, heat._heat)
    )
    plate = field, heat._first, heat._last, heat._strides
    closed = np.full_like(limits, 1e30)

    def check() -> None:
        heat._open[:] = 1
        paper.solve(trial, theta, *plate, links, heat._by_heat, closed, heat._open, heat._scratch)

    runs: dict[str, tuple[Callable[[], object], float, float]] = {  # run, bytes per node, flops per node
        "guess (prepare)": (
            lambda: paper.prepare(trial, theta, change, *plate, heat._by_heat, heat._scratch),
            48,
            10,
        ),
        "heat balance, nothing to correct (solve)": (check, 24, 21),
        "what the faces carry (carry)": (lambda: paper.carry(change, theta, *plate, links), 40, 19),
    }
    rows = {}
    for name, (run, size, flops) in runs.items():
        ns = 1e9 * best_of(run) / nodes
        rows[name] = {"ns": ns, "bytes": size, "flops": flops, "gb_s": size / ns, "gflop_s": flops / ns}
    return {"nodes": nodes, "core": measure_core(nodes), "kernels": rows}


def measure_kernel() -> dict[str, Any]:
    """A stage of the finest box, per cell, beside what the core can do with as much memory."""
    plant, scale = make_plant("graded", SCALES["powder_bed"].process), SCALES["powder_bed"]
    positions = make_serpentine(scale.speed * scale.tick)[:61]
    for spot in pairwise(positions):
        plant.step(scale.power, np.array(spot))
    heat = plant._heat
    assert isinstance(heat, NestedHeat)
    box = heat.leaf
    cells, stages = int(np.prod(box.shape)), find_stages(2.5)
    lines = [np.zeros((stages, n)) for n in box.shape[1:]]
    nowhere, nothing = np.empty((0, 3), dtype=np.int64), np.empty(0)

    def run() -> None:
        kernels.step(
            box.heat, box.theta, box.scratch, box.beyond, box.faces, box.weights, heat.by_heat, heat._melting,
            lines[0], lines[1], nowhere, nothing, 1e-12, stages,
        )  # fmt: skip

    fields = [np.ones(box.heat.size) for _ in range(3)]
    registers, places = np.ones(64), (box.heat.ravel() - heat.by_heat[1]) * heat.by_heat[0]
    return {
        "cells": cells,
        "stages": stages,
        "ns": 1e9 * best_of(run, 300) / (cells * stages),
        "bytes": 64,  # four fields and the rates read, two written, θ read once more from the row before
        "flops": 28,
        "field_kb": box.heat.nbytes / 1024,
        "look_up_ns": 1e9
        * best_of(lambda: look_up_alone(places, heat.by_heat[2], fields[0]), 300)
        / places.size,
        "triad_gb_s": 32e-9 * fields[0].size / best_of(lambda: triad(*fields), 300),
        "gflop_s": 16e-9 * 64 * 20000 / best_of(lambda: multiply_add(registers, 20000)),
    }


def measure_profile() -> dict[str, Any]:
    """Where the time of a powder bed's tick goes, by function."""
    scale = SCALES["powder_bed"]
    plant = make_plant("graded", scale.process)
    spots = [np.array(spot) for spot in pairwise(make_serpentine(scale.speed * scale.tick))]
    for spot in spots[:20]:
        plant.t_max(plant.step(scale.power, spot))
    profile = cProfile.Profile()
    profile.enable()
    for spot in spots[20:]:
        plant.t_max(plant.step(scale.power, spot))
    profile.disable()
    stats: Any = pstats.Stats(profile)
    found = {name: (calls, own) for (_, _, name), (_, calls, own, _, _) in stats.stats.items()}
    whole = sum(own for _, own in found.values())
    dearest = sorted(found.items(), key=lambda item: -item[1][1])[:10]
    ticks = len(spots) - 20
    return {
        "ms": 1e3 * whole / ticks,
        "functions": {name: {"calls": calls / ticks, "share": own / whole} for name, (calls, own) in dearest},
    }


def run_bench(reference_steps: int) -> dict[str, Any]:
    """In a process of its own, where BLAS is told to use one thread before it is loaded."""
    steps = ("--reference-steps", str(reference_steps), "--json", "-")
    command = [sys.executable, "-m", "laserloop", "bench", "plant", *steps]
    found: dict[str, Any] = json.loads(subprocess.check_output(command))
    return found


def tell_paper(paper: dict[str, Any]) -> list[str]:
    """What each of its kernels does with the core."""
    core = paper["core"]
    return [
        f"Each kernel alone over all that is warm at the end of the episode ({paper['nodes']} nodes). A triad over three such",
        f"fields moves {core['window_gb_s']:.0f} GB/s (in L2 {core['l2_gb_s']:.0f}); multiply-adds in registers reach {core['gflop_s']:.0f} GFLOP/s (float64).",
        "",
        "| kernel | ns per node | bytes per node | GB/s | share of triad | GFLOP/s | share of peak |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {name} | {r['ns']:.2f} | {r['bytes']:.0f} | {r['gb_s']:.0f} | {r['gb_s'] / core['window_gb_s']:.0%} "
            f"| {r['gflop_s']:.1f} | {r['gflop_s'] / core['gflop_s']:.0%} |"
            for name, r in paper["kernels"].items()
        ),
        "",
        "**Why not closer.** All loops run along one line of nodes, some sixty of them: loop set-up, overlap checks and",
        "remainders weigh as much as the arithmetic, and θ(H) is looked up node by node. Between ticks the fields do not",
        "stay in L2. Half of a tick are corrections of lines that are open, a chain of divisions along x each. What was",
        "worth most is not to work: a third of the lines is corrected in a tick, a third of the nodes of those",
        "([decision 3](../decisions/0003-line-by-line.md)).",
        "",
    ]


def write_markdown(found: dict[str, Any]) -> str:
    """The page."""
    bench, kernel = found["bench"], found["kernel"]
    heat, bed = bench["heat_treatment"], bench["powder_bed"]
    text = [
        "# How fast are the plants, and how far from the core's limits?",
        "",
        "Made by `python benchmarks/plant_speed.py --old … --tracks …` (measured with version 0.2.0; CPU time of one thread on one core of a shared machine,",
        "whose load differs from part to part: trust ratios).",
        "",
        "## `paper`",
        "",
        f"The 400-step diagonal episode (`laserloop bench plant`): **{bench['ratio_scipy']:.0f} times faster than a straightforward",
        f"SciPy sparse Newton** ({bench['scipy_ms']:.0f} ms and {bench['paper_ms']:.2f} ms a step, means over "
        f"{bench['compared_steps']} and {bench['steps']} steps),",
        f"T_max equal to {bench['t_max_difference_k']:.0e} K at every compared step. `graded` costs",
        f"{bench['graded_over_paper']:.2f} `paper` steps. Snapshot {bench['snapshot_ms']:.2f} ms, restore "
        f"{bench['restore_ms']:.2f} ms, peak memory {bench['peak_memory_mb']:.0f} MB,",
        f"second start to first step {bench['second_start_s']:.1f} s.",
        "",
        *tell_paper(found["paper"]),
        "## `graded`, the nested plant",
        "",
        "The same bench, serpentines against the exact integral: ",
        f"σ 100 µm, 0.3 m/s, ticks of 100 µs: RMS error {heat['graded_error_rms']:.3%} of the rise, worst {heat['graded_error_max']:.2%}, "
        f"**{heat['ms']:.2f} ms** a tick;",
        f"σ 42.5 µm, 0.8 m/s, 20 µs: {bed['graded_error_rms']:.3%}, {bed['graded_error_max']:.2%}, **{bed['ms']:.2f} ms**.",
        "",
    ]
    if "race" in found:
        text += [
            f"**Beside the plant of 0.2.0**, both in processes of their own, blocks of {BLOCK} ticks in turn:",
            "",
            "| path | ticks | 0.2.0, ms a tick | now | share |",
            "|---|---|---|---|---|",
        ]
        text += [
            f"| {name} | {r['ticks']} | {r['old_ms']:.2f} | {r['new_ms']:.2f} | **{r['ratio']:.2f}** |"
            for name, r in found["race"].items()
        ]
        text.append("")
    flat, layer = found["flat"], found["layer"]
    text += [
        f"**Flat.** The last 1,000 of {flat['ticks']:,} ticks over and over a 3 × 3 mm square against the first 1,000 of them, blocks of {BLOCK} in",
        f"turn: {flat['last_ms']:.3f} and {flat['first_ms']:.3f} ms, **{flat['last_over_first'] - 1.0:+.1%}**.",
        "",
        f"**A layer** of 10 × 10 mm, 0.1 mm hatch, 14 W: {layer['ticks']} ticks ({layer['lit_ticks']} lit), {layer['simulated_s']:.2f} s simulated in "
        f"**{layer['cpu_s']:.1f} s** (115 s in 0.2.0),",
        f"{layer['ms']:.2f} ms a tick, heat kept to {layer['imbalance']:.0e}.",
        "",
    ]
    if "tracks" in found:
        tracks, fine = found["tracks"], np.array(found["tracks"]["refined_um"])
        apart = np.abs(np.array(tracks["widths_um"])[: len(fine)] / fine - 1.0)
        text += [
            f"**Short tracks**, {tracks['tracks']} of NIST mds2-3662 (285 W, σ 21 µm, 0.96 m/s, ticks of 20 µs, 0.5 ms dark between them; nothing",
            f"evaporates): **{tracks['ms']:.2f} ms** a tick over {tracks['ticks']} ticks at a load of {tracks['load']:.0f} (two cores); in the end {tracks['boxes']}. Pools "
            f"{tracks['widths_um'][0]:.0f} to {max(tracks['widths_um']):.0f} µm wide,",
            f"{tracks['width_error']:.0%} from the measured ones on average, nothing fitted. With `refine` 2 the first {len(fine)} are "
            f"{', '.join(f'{width:.0f}' for width in fine)} µm wide,",
            f"{apart.mean():.1%} from these on average and {apart.max():.1%} at most; track 3, which is {tracks['widths_um'][2]:.0f} µm wide, "
            "was 261 µm wide, 9 % too wide, when fronts took cell after cell.",
            "",
        ]
    profile = found["profile"]
    text += [
        "**Where the time goes** on the powder bed (own time; the profiler adds some to what Python does):",
        "",
        "| function | calls a tick | share |",
        "|---|---|---|",
    ]
    text += [
        f"| `{name}` | {r['calls']:.1f} | {r['share']:.0%} |" for name, r in profile["functions"].items()
    ]
    traffic, work = kernel["bytes"] / kernel["ns"], kernel["flops"] / kernel["ns"]
    text += [
        "",
        f"**The kernel** `step` alone on the finest box ({kernel['cells']:,} cells, {kernel['field_kb']:.0f} kB a field, {kernel['stages']} stages): **{kernel['ns']:.2f} ns per cell and stage**.",
        f"It moves some {kernel['bytes']} bytes and does some {kernel['flops']} operations for each: {traffic:.0f} GB/s, {traffic / kernel['triad_gb_s']:.0%} of a triad over fields of that size "
        f"({kernel['triad_gb_s']:.0f} GB/s), and",
        f"{work:.1f} GFLOP/s, {work / kernel['gflop_s']:.0%} of multiply-adds in registers ({kernel['gflop_s']:.0f}). The look-up of θ alone, two gathers and a conversion,",
        f"takes {kernel['look_up_ns']:.2f} ns of it; the rest are rows of some thirty cells, whose ends weigh on vector loops.",
    ]
    return "\n".join(text) + "\n"


def main() -> None:
    """Measure what is asked for, and write page and numbers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reference-steps", type=int, default=400)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--tracks", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of temperatures outside a material's range
    file = options.out / "plant_speed.json"
    before = json.loads(file.read_text()) if file.exists() else {}
    found = {name: before[name] for name in ("race", "tracks") if name in before}
    with one_core():
        if options.old is not None:
            found["race"] = race(options.old.resolve())
        if options.tracks is not None:
            fine = measure_tracks(options.tracks, refine=2.0, first=FINE)
            found["tracks"] = measure_tracks(options.tracks) | {"refined_um": fine["widths_um"]}
        for name, measure in (
            ("paper", measure_paper),
            ("kernel", measure_kernel),
            ("profile", measure_profile),
            ("flat", measure_flatness),
            ("layer", measure_layer),
        ):
            found[name] = measure()
            print(name, found[name], flush=True)
    found["bench"] = run_bench(options.reference_steps)
    options.out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found | {"versions": find_versions()}, indent=1) + "\n")
    page = write_markdown(found)
    (options.out / "plant_speed.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
