"""Does an error on given powers tell what happens in the loop? All predictors, by exam and by closed loop.

    python benchmarks/learned.py                            # an hour; may be stopped and goes on
    python benchmarks/learned.py --entrants twin twin-corrected --paths 20 --levels off nominal
    python benchmarks/learned.py --page                     # writes from what is there, runs nothing

Exam: on one validation path of each family the power is given, near the window and from 0 W to all there is,
and the next five ticks are predicted from what was seen so far. Loop: validation tasks of the arena. Runs are
kept under --out; writes docs/results/learned.json, .md and .png. Nothing here touches the held-out paths.
"""

import argparse
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from learned_page import write_page

from laserloop.arena.entrant import COST_FILE, Entrant, Seat
from laserloop.arena.entrants import ENTRANTS, find_entrant
from laserloop.arena.exam import NEAR, WIDE, Candidate, Episode, examine
from laserloop.arena.lessons import PROCESS
from laserloop.arena.runs import RUNS, has_run, play, settings_of
from laserloop.arena.shelf import name_folder
from laserloop.arena.tasks import SPLITS, list_tasks
from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem
from laserloop.control.twin import make_twin_problem
from laserloop.loop.cache import solve_case
from laserloop.paths.families import FAMILIES
from laserloop.predict.networks import NetworkPredictor, find_model
from laserloop.predict.twin import TwinPredictor
from laserloop.process import find_process
from laserloop.report.save import dump, save
from laserloop.versions import find_versions, hash_loop

ROOT = Path(__file__).parent.parent
PREDICTORS = (
    *("twin", "twin-corrected", "koopman", "affine-history", "tide", "tide-quantile", "fno"),
    *("graded-ms-deeponet", "graded-ss-ar", "graded-lstm", "paper-corner", "paper-base"),
)
Row = dict[str, Any]


def main() -> None:
    """Run what is missing, then write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entrants", nargs="*", default=list(PREDICTORS))
    parser.add_argument("--paths", type=int, default=20, help="validation paths, the families in turn")
    parser.add_argument("--levels", nargs="*", default=["off", "nominal", "hard"])
    parser.add_argument(
        "--seeds", type=int, nargs="*", default=[], help="other trainings than 0, where they lie"
    )
    parser.add_argument("--minutes", type=float, default=1e6, help="start no run after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "arena")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--no-exam", action="store_true", help="close loops only")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    there = {entrant.name for entrant in ENTRANTS}
    names = [name for name in options.entrants if name in there]
    names += [
        f"{name}@{seed}"
        for seed in options.seeds
        for name in names
        if (name_folder(name, seed, options.out) / COST_FILE).exists()
    ]
    until = monotonic() + 60.0 * options.minutes
    exam = keep_exam(names, options.out, None if options.page or options.no_exam else until)
    rows = list(loop_rows(names, options, None if options.page else until))
    file = options.results / "learned.json"
    known = {name: tell_entrant(find_player(name, options.out)) for name in names}
    found = {
        "versions": find_versions(),
        "split": "validation",
        "entrants": known,
        "exam": {name: exam[name] for name in names if name in exam},
        "loop": join(file, rows),
    }
    save(file, dump(found))
    write_page(options.results)


def tell_entrant(entrant: Entrant) -> Row:
    """What it is and what its training cost."""
    return {
        "about": entrant.about,
        "core_minutes": entrant.cost.core_minutes,
        "plant_steps": entrant.cost.plant_steps,
        "learns": entrant.learns,
    }


def find_player(name: str, out: Path) -> Entrant:
    """An entrant; NAME@SEED is another training of it, which lies beside the lessons."""
    plain, at, seed = name.partition("@")
    entrant = find_entrant(plain)
    if not at:
        return entrant
    folder, make = name_folder(plain, int(seed), out), entrant.make
    assert make is not None
    bound = partial(make.func, folder) if isinstance(make, partial) else partial(make, folder=folder)  # type: ignore[call-arg]
    return replace(entrant, name=name, make=bound, model=folder)


def find_candidate(name: str, out: Path) -> Candidate:
    """The predictor of an entrant as it is in the loop."""
    process = find_process(PROCESS)
    if name == "twin":
        return Candidate(TwinPredictor(process))
    entrant = find_player(name, out)
    if entrant.make is None:
        model = find_model(entrant.settings["model"])
        return Candidate(NetworkPredictor(model), subgrid=model.reading == "peak")
    problem = make_twin_problem(MpcProblem(window=process.window, power=process.laser.power))
    controller = entrant.make(Seat(problem=problem, process=process, fastest=process.speed))
    assert isinstance(controller, MpcController)
    return Candidate(controller.predictor)


def keep_exam(names: list[str], out: Path, until: float | None) -> dict[str, Row]:
    """Per entrant, shake and family: residuals of the blind protocol; what is missing is run."""
    file = out / "exam.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    kept = kept if kept.get("code") == hash_loop() else {"code": hash_loop(), "residuals": {}}
    seed = SPLITS["validation"].start
    for shake in (NEAR, WIDE):
        for family in FAMILIES:
            key = f"{shake} {family}"
            done = kept["residuals"].setdefault(key, {})
            missing = [name for name in names if name not in done]
            if not missing or until is None or monotonic() > until:
                continue
            candidates = {name: find_candidate(name, out) for name in missing}
            for name, found in examine(candidates, Episode(family, seed, shake)).items():
                done[name] = np.round(found, 3).tolist()
            save(file, json.dumps(kept).encode())
            print(f"exam: {key}", flush=True)
    return {name: sum_up(name, kept["residuals"]) for name in names}


def sum_up(name: str, residuals: dict[str, dict[str, list[list[float]]]]) -> Row:
    """Root mean squares, K, by shake and family."""
    found: Row = {}
    for shake in (NEAR, WIDE):
        parts = {
            family: np.array(residuals.get(f"{shake} {family}", {}).get(name, [])) for family in FAMILIES
        }
        parts = {family: part for family, part in parts.items() if part.size}
        if parts:
            every = np.concatenate(list(parts.values()))
            found[shake] = {
                "rmse_k": float(np.sqrt(np.mean(every**2))),
                "worst_k": float(np.abs(every).max()),
                "rmse_per_step_k": np.sqrt(np.mean(every**2, axis=0)).tolist(),
                "families": {family: float(np.sqrt(np.mean(part**2))) for family, part in parts.items()},
            }
    return found


def loop_rows(names: list[str], options: argparse.Namespace, until: float | None) -> Any:
    """A row for each run on a validation task; what is missing is run, path by path."""
    tasks = list_tasks(split="validation", paths=options.paths, levels=options.levels)
    for task in tasks:
        for name in names:
            player = find_player(name, options.out)
            settings = settings_of(task, player)
            if not has_run(settings, options.out):
                if until is None or monotonic() > until:
                    continue
                print(f"loop: {name} on {task.name}", flush=True)
            record = solve_case(options.out / RUNS, settings, partial(play, task, player), code=hash_loop())
            yield measure(record, task.family, task.level, name)


def measure(record: Row, family: str, level: str, name: str) -> Row:
    """What is told of a run, over the ticks that count."""
    series = {key: np.array(record["series"][key], dtype=float) for key in ("t_true_k", "settled")}
    T = series["t_true_k"][series["settled"] > 0]
    low, high = record["window_k"]
    middle = 0.5 * (low + high)
    return {
        "entrant": name,
        "task": record["task"],
        "family": family,
        "level": level,
        "lowest_k": float(T.min()),
        "highest_k": float(T.max()),
        "worst_k": float(np.abs(T - middle).max()),
        "rms_k": float(np.sqrt(np.mean((T - middle) ** 2))),
        "outside": int(np.count_nonzero((low > T) | (high < T))),
        "ticks": len(T),
        "residual_rms_k": record["residual_rms_k"],
        "decision_ms": record["tick_ms"]["median"],
        "code": hash_loop(),
    }


def join(file: Path, rows: list[Row]) -> list[Row]:
    """The new rows, and the old ones that were not run anew."""
    old = json.loads(file.read_text(encoding="utf-8"))["loop"] if file.exists() else []
    found = {(row["entrant"], row["task"]): row for row in (*old, *rows)}
    return list(found.values())


if __name__ == "__main__":
    main()
