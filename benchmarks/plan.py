"""Files in, better files out: how near to the middle, how fast, and how much time free speed saves.

    python benchmarks/plan.py                 # minutes; all tables, then the page
    python benchmarks/plan.py files speed     # some of them
    python benchmarks/plan.py --page          # writes from what is there, runs nothing

Writes docs/results/plan/*.json, a file for each table, and docs/results/plan.md from these.
"""

import argparse
import json
import resource
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from plan_page import write_page

from laserloop.paths.files import ScanFile
from laserloop.paths.text import PowerCommand
from laserloop.planning.commands import PlanSettings
from laserloop.planning.job import FilePlan, Job, plan_job
from laserloop.planning.verify import replan, simulate_plan
from laserloop.process import Process, find_process
from laserloop.store import dump, save
from laserloop.versions import find_versions, hash_code

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
Row = dict[str, Any]

FILES: dict[str, Row] = {
    "slicer.gcode": {"centre": True},
    "cutter.nc": {"offset": (-0.01, -0.01), "s_max": 1000.0},
    "segments.txt": {},
    "path_mm.txt": {},
    "events.inp": {},
    "pyslm_layer.cli": {},
    "bracket.gcode": {"s_max": 255.0},
    "hatch.gcode": {},
    "layer.cli": {},
}


def main() -> None:
    """Measure what is asked for, then write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all unless given")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "temperatures of .* the range of material")
    for table in () if options.page else options.tables or TABLES:
        rows = TABLES[table]()
        save(options.results / "plan" / f"{table}.json", dump({"versions": find_versions(), "rows": rows}))
    save(options.results / "plan.md", write_page(options.results))


def make_job(name: str, process: Process | None = None, **settings: Any) -> Job:
    """An example where it fits on the plate."""
    given = dict(FILES.get(name, {}))
    process = process or Process()
    file = ScanFile.open(str(EXAMPLES / name), given.pop("s_max", None), process.laser.power[1])
    return Job(file=file, process=process, settings=PlanSettings(**settings), **given)


def measure(job: Job) -> Row:
    """Plan, write, read, simulate."""
    began, spent = perf_counter(), process_time()
    planned = plan_job(job)
    planned.write()
    seconds, cpu = perf_counter() - began, process_time() - spent
    row = {"plan_s": seconds, "plan_cpu_s": cpu}
    return tell_plan(simulate_plan(planned)) | row


def measure_refined(job: Job, rounds: int) -> list[Row]:
    """The same for the plan as it is at first and after each of so many refinements."""
    rows, planned = list[Row](), plan_job(job)
    for k in range(rounds + 1):
        planned = simulate_plan(planned)
        rows.append(tell_plan(planned) | {"refine": k})
        if k < rounds:
            planned = replan(planned)
    return rows


def tell_plan(planned: FilePlan) -> Row:
    """A plan, and what came of it."""
    job, told = planned.job, planned.tell()
    name, verified = Path(job.file.name).name, told["verified"]
    lines = [text.splitlines() for text in (job.file.content, planned.content)]
    row = {
        "file": name,
        "holds": told["holds"],
        "by": job.settings.by,
        "window_k": list(job.process.window),
        "lines": len(lines[0]),
        "lines_written": len(lines[1]),
        "lines_kept": sum(line in set(lines[1]) for line in lines[0]),
        "verified": verified,
    }
    keys = ("ticks", "vectors", "commands", "t_min_k", "t_max_k", "time_s", "time_saved_s", "gain")
    row |= {key: told[key] for key in keys} | {"power_max_w": max(told["power_w"])}
    print(row["file"], row["by"], f"{verified['t_min_k']:.1f}–{verified['t_max_k']:.1f} K", flush=True)
    return row


def measure_files() -> list[Row]:
    """Every example by point, by segment and by vector."""
    return [measure(make_job(name, by=by)) for name in FILES for by in ("point", "segment", "vector")]


def measure_alloys() -> list[Row]:
    """Other alloys, beams, windows and plates, by point, as planned at once and refined; goes on if stopped."""
    processes = {
        "paper": Process(),
        "in625": find_process("in625"),
        "316, σ 60 µm, 150 mm/s": find_process("316").change(
            sigma_um=60, speed_mm_s=150, plate_mm=(20, 20, 5), window_k=(900, 940)
        ),
        "ti64": find_process("ti64"),
    }
    rows = []
    for name, process in processes.items():
        for file in ("hatch.gcode", "layer.cli", "segments.txt"):
            kept = ROOT / "out" / "plan" / hash_code() / f"{process.hash}-{file}.json"
            if not kept.exists():
                save(kept, dump({"rows": measure_refined(make_job(file, process), 2)}))
            found = json.loads(kept.read_text(encoding="utf-8"))["rows"]
            rows += [row | {"process": name} for row in found]
    return rows


def measure_speed() -> list[Row]:
    """Free speed beside fixed speed, with the paper's laser of 20 W."""
    rows = []
    for name in ("bracket.gcode", "pyslm_layer.cli", "slicer.gcode", "cutter.nc"):
        for speeds in (None, (0.1, 2.0)):
            rows.append(measure(make_job(name, speeds=speeds)) | {"speeds": speeds})
    return rows


def measure_layers() -> list[Row]:
    """A shape hatched by PySLM, its layers on one plate, with a long and a short time between them."""
    rows = []
    with TemporaryDirectory() as name:
        shape, file = Path(name) / "ellipse.stl", Path(name) / "ellipse.cli"
        shape.write_text(tell_prism(), encoding="utf-8")
        hatch = runpy.run_path(str(EXAMPLES / "hatch_stl.py"))["hatch"]
        file.write_text(hatch(shape), encoding="utf-8")
        for pause in (10.0, 0.1):
            job = Job(file=ScanFile.open(str(file), None, 20.0), process=Process(), recoating=pause)
            record = simulate_plan(plan_job(job)).tell()
            for k, told in enumerate(record["layers"], start=1):
                rows.append({"recoating_s": pause, "layer": k} | told)
                print(pause, k, told["verified"]["t_min_k"], told["verified"]["t_max_k"], flush=True)
    return rows


def tell_prism(sides: int = 60, layers: int = 4) -> str:
    """An ellipse of 2.4 × 1.4 mm, four layers high, as ASCII STL in mm."""
    t, top = np.linspace(0, 2 * np.pi, sides + 1), 0.04 * layers
    rim = np.column_stack([1.2 * np.cos(t), 0.7 * np.sin(t)])
    lines = ["solid ellipse"]
    for (x0, y0), (x1, y1) in pairwise(rim.tolist()):
        low0, low1, high0, high1 = (x0, y0, 0.0), (x1, y1, 0.0), (x0, y0, top), (x1, y1, top)
        middle = ((0.0, 0.0, 0.0), (0.0, 0.0, top))
        faces = (
            (low0, low1, high0), (low1, high1, high0), (middle[0], low1, low0), (middle[1], high0, high1),
        )  # fmt: skip
        for face in faces:
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += [f"vertex {x:.6f} {y:.6f} {z:.6f}" for x, y, z in face]
            lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid ellipse", ""])


def measure_times() -> list[Row]:
    """A layer of 10 × 10 mm planned, and a million lines read and written; each in its own process."""
    return [run_alone(name) for name in ("layer", "million")]


def run_alone(name: str) -> Row:
    """What a fresh process says about itself."""
    done = subprocess.run(
        [sys.executable, __file__, f"alone:{name}"], capture_output=True, text=True, check=True
    )
    row: Row = json.loads(done.stdout)
    print(row, flush=True)
    return row


def plan_large() -> Row:
    """100 lines of 10 mm, 0.1 mm apart."""
    lines = ["; S in W", "G21 G90", "M3 S11", "G0 X-5 Y-5", "G1 F18240"]
    for k in range(100):
        ends = (-5, 5) if k % 2 == 0 else (5, -5)
        lines += [f"G1 X{x} Y{-5 + 0.1 * k:.2f}" for x in ends]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "layer.gcode"
        file.write_text("\n".join([*lines, "M5", ""]))
        process = Process().change(plate_mm=(15, 12, 2))
        job = Job(file=ScanFile.open(str(file), None, 20.0), process=process)
        plan_job(replace(job, settings=PlanSettings(by="vector")))  # compiles, if need be
        began, spent = perf_counter(), process_time()
        planned = plan_job(job)
        planned.write()
        told = planned.tell()
    row = {"what": "a layer of 10 × 10 mm, by point", "ticks": told["ticks"], "commands": told["commands"]}
    return row | spend(began, spent)


def write_million() -> Row:
    """20 layers of 50 000 lines, every lit one with a new power."""
    rng = Random(1)
    lines = ["; S in W", "G21 G90", "M3 S11", "G0 X0 Y0 F18240"]
    for k in range(999_930):
        if k % 50_000 == 49_999:
            lines += ["M5", f"G0 Z{0.04 * k / 50_000:.2f}", "M3 S11"]
        lines.append(f"G1 X{rng.uniform(-4, 4):.3f} Y{rng.uniform(-4, 4):.3f}")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "million.gcode"
        file.write_text("\n".join([*lines, ""]))
        count = len(lines)
        del lines
        began, spent = perf_counter(), process_time()
        scan = ScanFile.open(str(file), None, 20.0)
        layers = scan.read_layers()
        moves = np.sort(np.concatenate([np.unique(track.moves[track.moves >= 0]) for track in layers]))
        del layers
        powers = np.round(np.random.default_rng(0).uniform(8, 12, len(moves)), 2)
        commands = (PowerCommand([1.0], [watts], np.nan) for watts in powers.tolist())
        scan.write(dict(zip(moves.tolist(), commands, strict=True)))
        return {"what": "G-code read and written, by vector", "lines": count} | spend(began, spent)


def spend(began: float, spent: float) -> Row:
    """Time and memory of this process."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": perf_counter() - began, "cpu_s": process_time() - spent, "memory_gb": memory}


TABLES: dict[str, Callable[[], list[Row]]] = {
    "files": measure_files,
    "alloys": measure_alloys,
    "speed": measure_speed,
    "layers": measure_layers,
    "times": measure_times,
}
ALONE = {"layer": plan_large, "million": write_million}

if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("alone:"):
        sys.stdout.write(json.dumps(ALONE[sys.argv[1].partition(":")[2]]()))
    else:
        main()
