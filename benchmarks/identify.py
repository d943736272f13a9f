"""Does `identify` find what is hidden in a plant, and is that enough to plan without a camera?

    python benchmarks/identify.py               # half an hour on one core; may be stopped and goes on
    python benchmarks/identify.py --page        # writes from what is there, runs nothing

Closes the loop 50 times on paths of ten families with a plant that absorbs 0.83 of the power, has 8 % more
diffusivity and a camera that is two ticks late with 5 K of noise, none of which anybody is told; writes each
log to disk, reads it back, fits the process to it. With ten of the processes found, a path that was not in
the log is then planned without any measurement. A long log with broken frames is replayed to three
controllers. Writes docs/results/identify.json, .md and .png.
"""

import argparse
import json
import warnings
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from identify_page import write_page

from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.identification import identify
from laserloop.logs import read_log
from laserloop.loop.disturbances import Fault
from laserloop.loop.replay import replay
from laserloop.loop.run import run_closed_loop
from laserloop.loop.scenario import Scenario, prepare
from laserloop.loop.tune import Draws
from laserloop.native.twin import make_twin
from laserloop.paths import ScanPath
from laserloop.plant import Camera, Plant, make_plant
from laserloop.process import Process
from laserloop.process.process import mismatch
from laserloop.report.figures import save_figure
from laserloop.store import dump, save
from laserloop.versions import find_versions, hash_code

ROOT = Path(__file__).parent.parent
BELIEVED = Process()
HIDDEN = {"absorptivity": 0.83, "diffusivity_factor": 1.08, "sigma_um": 100.0, "delay_ticks": 2.0}
FACTORS = {"absorptivity": 0.83, "heat-capacity": 1.0 / 1.08}
CAMERA = {"noise_k": 5.0, "delay_ticks": 2}
RUNS, PLANS = 50, 10
FROZEN_S = 1.0


def main() -> None:
    """Run what is missing, then write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--minutes", type=float, default=1e6, help="start no run after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "identify")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "temperatures of .* the range of material")
    file = options.results / "identify.json"
    if not options.page:
        until = monotonic() + 60.0 * options.minutes
        versions = keep(options.out / "versions.json", until, find_versions)  # when it was begun
        long = keep(options.out / "replay.json", until, replay_long, options.out)
        runs = [
            keep(options.out / f"run_{k}.json", until, fit_one, k, options.out) for k in range(options.runs)
        ]
        plans = [keep(options.out / f"plan_{k}.json", until, plan_one, k, runs[k]) for k in range(PLANS)]
        found = {"versions": versions, "hidden": HIDDEN, "believed": BELIEVED.to_json()}
        save(file, dump(found | {"runs": runs, "plans": plans, "replay": long}))
    page, figure = write_page(file)
    save(options.results / "identify.md", page)
    save_figure(options.results / "identify.png", figure)


def keep(file: Path, until: float, work: Any, *given: Any) -> Any:
    """What was found before, or is found now and kept."""
    if not file.exists():
        if monotonic() > until:
            raise SystemExit("the time is over; run this again to go on")
        save(file, dump(work(*given)))
        print(file.name, flush=True)
    return json.loads(file.read_text(encoding="utf-8"))


def fit_one(k: int, out: Path) -> dict[str, Any]:
    """One run with the hidden plant, as a log, and the fit to it."""
    case = Draws(process=BELIEVED.change(**CAMERA), spread=()).draw(k)
    case = replace(case, mismatch=tuple(sorted(FACTORS.items())))
    log = out / "logs" / f"run_{k}.json"
    if not log.exists():
        save(log, dump(prepare(case).run().to_json()))
    began = perf_counter()
    fit = identify(read_log(log), BELIEVED)
    told = fit.to_json()
    told.pop("series")
    return told | {"path": case.path, "seconds": perf_counter() - began, "code": hash_code()}


def make_hidden(path: ScanPath) -> Plant:
    """The plant as it is."""
    process = mismatch(BELIEVED.change(**CAMERA), {"heat-capacity": FACTORS["heat-capacity"]})
    return make_plant("graded", process, absorbed=FACTORS["absorptivity"])


def plan_one(k: int, run: dict[str, Any]) -> dict[str, Any]:
    """A path that was not in the log: planned blind with the process believed, and with the one found."""
    case = replace(Draws(process=BELIEVED, spread=(), seed=1).draw(k), process=BELIEVED)
    path = case.find_path()
    told: dict[str, Any] = {"path": case.path_name}
    for name, process in (("believed", BELIEVED), ("found", Process.from_json(run["process"]))):
        problem = make_twin_problem(MpcProblem(window=process.window, power=process.laser.power), None)
        blind = [Fault(kind="drop")]
        loop = run_closed_loop(make_hidden(path), Camera(), make_twin(problem, process), path, faults=blind)
        above, below = loop.counted
        told[name] = {"t_min_k": float(loop.t_max[below].min()), "t_max_k": float(loop.t_max[above].max())}
    return told


def make_raster(folder: Path) -> Path:
    """Lines of 6 mm, 0.1 mm apart, enough for a second and a half."""
    rows = ["x_mm,y_mm"]
    for i in range(80):
        y = -3.95 + 0.1 * i
        rows += [f"{x},{y:.2f}" for x in ((-3, 3) if i % 2 == 0 else (3, -3))]
    file = folder / "raster.csv"
    save(file, "\n".join(rows) + "\n")
    return file


def replay_long(out: Path) -> dict[str, Any]:
    """A log of 1.6 s with 1 % of the frames lost, 0.5 % NaN and one frozen second, to three controllers."""
    process = BELIEVED.change(**CAMERA)
    case = Scenario(
        path=str(make_raster(out)), controller="twin", plant="graded", process=process, ticks=None
    )
    kept = out / "logs" / "raster.json"
    if not kept.exists():
        save(kept, dump(prepare(case).run().to_json()))
    record = json.loads(kept.read_text(encoding="utf-8"))["series"]
    rng = np.random.default_rng(16)
    n = len(record["t_s"])
    seen = [float("nan") if value is None else value for value in record["t_measured_k"]]
    first, frozen = n // 4, round(FROZEN_S / process.tick)
    seen[first : first + frozen] = [seen[first]] * frozen
    lost, broken = rng.random(n) < 0.01, rng.random(n) < 0.005
    rows = ["build_time_us,cmd_laser_pos_x_mm,cmd_laser_pos_y_mm,cmd_laser_power_W,measured_peak_k"]
    for k in range(n - 1):  # a row's power lasts until the next row
        cell = "" if lost[k] else "nan" if broken[k] else f"{seen[k]:.6f}"
        place = f"{1e6 * record['t_s'][k]:.3f},{record['x_mm'][k]:.6f},{record['y_mm'][k]:.6f}"
        rows.append(f"{place},{record['power_w'][k + 1]:.6f},{cell}")
    log = out / "logs" / "broken.csv"
    save(log, "\n".join(rows) + "\n")
    told: dict[str, Any] = {
        "ticks": n,
        "code": hash_code(),
        "put_in": {
            "lost": int(lost[: n - 1].sum()),
            "nan": int((broken & ~lost)[: n - 1].sum()),
            "frozen_s": FROZEN_S,
            "frozen": int((~lost & ~broken)[first : first + frozen].sum()) - 1,
        },
    }
    for name in ("twin", "pi", "feedforward"):
        found = replay(replace(case, controller=name, delta_k=0.0), read_log(log))
        found.pop("series")
        told[name] = found
    return told


if __name__ == "__main__":
    main()
