"""Does an error on given powers tell what happens in the loop? All predictors, by exam and by closed loop.

    python benchmarks/learned.py                            # half an hour; may be stopped and goes on
    python benchmarks/learned.py --entrants twin twin-corrected
    python benchmarks/learned.py --page                     # writes from what is there, runs nothing

Exam: on one validation path of each family the power is given, near the window and from 0 W to all there is,
and the next five ticks are predicted from what was seen so far. Other trainings (NAME@1, NAME@2) take part
where they are found. The closed loops are those of the arena, docs/results/arena.json. Residuals are kept
under --out; writes docs/results/learned.json, .md and .png.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from blind_test import NEAR, WIDE, Candidate, Episode, test_blindly
from learned_page import write_page

from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.paths.shapes import FAMILIES
from laserloop.predict.model import find_model
from laserloop.predict.twin import TwinPredictor
from laserloop.predict.window import WindowPredictor
from laserloop.process import find_process
from laserloop.store import dump, save
from laserloop.studies.arena.entrant import COST_FILE, Entrant, TaskContext
from laserloop.studies.arena.entrants import LEARNERS, find_entrant, find_model_folder
from laserloop.studies.arena.tasks import SPLITS
from laserloop.studies.arena.training_set import PROCESS
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
    parser.add_argument("--entrants", nargs="*", default=list_predictors())
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "arena")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    file = options.results / "learned.json"
    if not options.page:
        kept = keep_exam({name: find_entrant(name) for name in options.entrants}, options.out)
        old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"entrants": {}, "exam": {}}
        found = {
            "versions": find_versions(),
            "code": hash_loop(),
            "entrants": old["entrants"] | {name: tell(find_entrant(name)) for name in options.entrants},
            "exam": old["exam"] | {name: sum_up(name, kept) for name in options.entrants},
        }
        save(file, dump(found))
    write_page(options.results)


def list_predictors() -> list[str]:
    """All who predict, and other trainings of those who learn."""
    learners = {learner.name for learner in LEARNERS}
    others = [f"{name}@{seed}" for seed in (1, 2) for name in PREDICTORS if name in learners]
    return [*PREDICTORS, *(name for name in others if is_trained(name))]


def is_trained(name: str) -> bool:
    plain, _, seed = name.partition("@")
    return (find_model_folder(plain, int(seed)) / COST_FILE).exists()


def tell(entrant: Entrant) -> Row:
    """What it is and what its training cost."""
    return {
        "about": entrant.about,
        "core_minutes": entrant.cost.core_minutes,
        "plant_steps": entrant.cost.plant_steps,
        "learns": entrant.learns,
    }


def find_candidate(entrant: Entrant) -> Candidate:
    """The predictor of an entrant as it is in the loop."""
    process = find_process(PROCESS)
    if entrant.name == "twin":
        return Candidate(TwinPredictor(process))
    if entrant.make is None:
        model = find_model(entrant.settings["model"])
        return Candidate(WindowPredictor(model), subgrid=model.reading == "peak")
    problem = make_twin_problem(MpcProblem(window=process.window, power=process.laser.power))
    controller = entrant.make(TaskContext(problem=problem, process=process, fastest=process.speed))
    assert isinstance(controller, MpcController)
    return Candidate(controller.predictor)


def keep_exam(entrants: dict[str, Entrant], out: Path) -> dict[str, Row]:
    """Shake and family → entrant → residuals of the blind protocol; what is missing is run."""
    file = out / "exam.json"
    code = hash_loop()
    kept = json.loads(file.read_text()) if file.exists() else {}
    kept = kept if kept.get("code") == code else {"code": code, "residuals": {}}
    known = {name: entrant.identity() for name, entrant in entrants.items()}
    for shake in (NEAR, WIDE):
        for family in FAMILIES:
            key = f"{shake} {family}"
            done = kept["residuals"].setdefault(key, {})
            missing = [name for name in entrants if done.get(name, {}).get("of") != known[name]]
            if not missing:
                continue
            candidates = {name: find_candidate(entrants[name]) for name in missing}
            episode = Episode(family, SPLITS["validation"].start, shake)
            for name, found in test_blindly(candidates, episode).items():
                done[name] = {"of": known[name], "k": np.round(found, 3).tolist()}
            save(file, json.dumps(kept).encode())
            print(f"exam: {key}", flush=True)
    return dict(kept["residuals"])


def sum_up(name: str, residuals: dict[str, Row]) -> Row:
    """Root mean squares, K, by shake and family."""
    found: Row = {}
    for shake in (NEAR, WIDE):
        parts = {family: np.array(residuals[f"{shake} {family}"][name]["k"]) for family in FAMILIES}
        every = np.concatenate([part for part in parts.values() if part.size])
        found[shake] = {
            "rmse_k": float(np.sqrt(np.mean(every**2))),
            "worst_k": float(np.abs(every).max()),
            "rmse_per_step_k": np.sqrt(np.mean(every**2, axis=0)).tolist(),
            "families": {
                family: float(np.sqrt(np.mean(part**2))) for family, part in parts.items() if part.size
            },
        }
    return found


if __name__ == "__main__":
    main()
