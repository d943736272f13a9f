"""The paper's offline ablations, ours beside theirs.

    python benchmarks/ablations.py --models DIR                       # what is trained so far, a minute or two
    python benchmarks/ablations.py --models DIR --train --ensembles DIR   # hours: trains what is missing first

Writes docs/results/ablations.{md,json,png} and ablations_steps.png. DIR of --models has a folder for each recipe
of laserloop.papers.halilovic.study.recipes; DIR of --ensembles the stores base-fixed, corner-fixed, base-random and corner-random.
Trajectories and scores are kept under out/offline and found again.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from laserloop.bench.plant import one_core
from laserloop.data.excitation import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import Trajectories
from laserloop.evaluation.latency import measure_latency
from laserloop.papers.halilovic.pages import ablations as page
from laserloop.papers.halilovic.pages.timing import tabulate_latency
from laserloop.papers.halilovic.report.ablations import draw_ablations, draw_error_growth
from laserloop.papers.halilovic.report.blocks import Table
from laserloop.papers.halilovic.report.markdown import write_table
from laserloop.papers.halilovic.study.ablation_claims import judge_claims, judge_latency
from laserloop.papers.halilovic.study.ablation_points import (
    DEPLOYED,
    NOISY,
    SHIPPED,
    Difference,
    Point,
    compare,
    measure_scales,
    place_points,
)
from laserloop.papers.halilovic.study.ablations import Row, run_ablations
from laserloop.papers.halilovic.study.claim import Claim, format_claims
from laserloop.papers.halilovic.study.published import ONE_SHOT_STEPS, SS_AR_STEPS
from laserloop.papers.halilovic.study.recipes import RECIPES, SEEDS, SHORT, find_models, train_recipes
from laserloop.predict.model import Model, find_model, shipped_models
from laserloop.report.save import save, save_figure

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
FAMILIES = {kind: [f"{kind}-nh5-seed{seed}" for seed in SEEDS] for kind in ("base", "corner")}
SCHEDULES = {f"{kind}-nh5-seed0": f"paper-{kind}" for kind in FAMILIES}
SPLITS = {f"{kind}-{end}": f"paper-{kind}" for kind in FAMILIES for end in ("nh5-seed0", "by-episode")}
GEOMETRIES = {f"{kind}-{end}": f"paper-{kind}" for kind in FAMILIES for end in ("nh5-seed0", "random")}
RACERS = {"ms-deeponet": DEPLOYED, "lstm": "corner-lstm"}
STEPS = {"SS-AR": SS_AR_STEPS, "one-shot": (ONE_SHOT_STEPS, ONE_SHOT_STEPS)}
# "axis value where" → why ours differs by more than 1.5; printed only beside a difference that is there.
REASONS: dict[str, str] = {}


def race(models: dict[str, Model], cache: Path) -> dict[str, dict[str, float]]:
    racers = {net: models[name] for net, name in RACERS.items() if name in models}
    if not racers:
        return {}
    record = Trajectories(folder=cache / "trajectories").get("spiral", Excitation.PERSISTENT, 0)
    with one_core():
        return measure_latency(racers, cut_episode(record))


def show(table: Table | None) -> str:
    return "None.\n" if table is None else f"{write_table(table)}\n"


def write_page(
    rows: list[Row],
    models: dict[str, Model],
    points: list[Point],
    claims: list[Claim],
    differences: list[Difference],
    latency: dict[str, dict[str, float]],
) -> str:
    scales = measure_scales(rows, FAMILIES["corner"], (DEPLOYED, SHIPPED))
    shipped = {f"paper-{kind}": f"paper-{kind}" for kind in FAMILIES}
    return "\n".join(
        [
            "# Offline ablations, ours (the paper's)",
            "",
            "Made by `python benchmarks/ablations.py`. Horizon RMSE by the blind protocol on the `paper` plant, mean of the",
            "three excitation classes and three fresh realisations of each, the same trajectories for all models. Seen: mean",
            "± spread of horizontal, vertical and spiral; unseen: the diagonal. Trained on the corner ensemble, seed 0,",
            "where nothing else is said.",
            "",
            page.describe_schedule(SHORT),
            page.describe_missing(RECIPES, models),
            "",
            "![Ablations](ablations.png)",
            "",
            "## What the paper says, and what we find",
            "",
            format_claims(claims),
            "## The figures",
            "",
            show(page.tabulate_points(points)),
            "## Where we differ by more than a factor of 1.5",
            "",
            show(page.tabulate_differences(differences, scales, REASONS)),
            "## The error along the horizon",
            "",
            "![Error of each step](ablations_steps.png)",
            "",
            show(page.tabulate_steps(points)),
            "## One window",
            "",
            "Median of 5000 calls on one core, the models taking turns in one run, on windows of a spiral.",
            "",
            show(tabulate_latency(latency)) if "ms-deeponet" in latency else "Not measured yet.\n",
            "## Luck: three seeds",
            "",
            "Mean ± standard deviation over seeds of the split, the first weights and the batches, K.",
            "",
            show(page.tabulate_seeds(rows)),
            "## The schedule: short, and the full protocol",
            "",
            show(page.tabulate_beside(rows, SCHEDULES | shipped)),
            "## The split: by window as in the paper, and by episode",
            "",
            show(page.tabulate_beside(rows, SPLITS)),
            "## Training shapes: fixed, and different in every episode",
            "",
            show(page.tabulate_beside(rows, GEOMETRIES)),
            "## The trainings",
            "",
            "The validation RMSE is that of the part held out by each training's own split: neighbours of held-out windows",
            "are trained on if the split is by window, and none if it is by episode.",
            "",
            show(page.tabulate_trainings({name: model.provenance for name, model in models.items()})),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--ensembles", type=Path)
    parser.add_argument("--train", action="store_true", help="train what is missing; needs --ensembles")
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "offline")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.train and options.ensembles is None:
        parser.error("--train needs --ensembles")
    if options.train:
        trained = train_recipes(RECIPES, options.ensembles, options.models)
    else:
        trained = find_models(RECIPES, options.models)
    shipped = {name: find_model(name) for name in shipped_models() if name.startswith("paper-")}
    models = trained | shipped
    rows = run_ablations(models, options.cache, noisy=NOISY)
    points, latency = place_points(rows), race(models, options.cache)
    claims, differences = [*judge_claims(points), *judge_latency(latency)], compare(points)
    everything: dict[str, Any] = {
        "schedule": asdict(SHORT),
        "rows": rows,
        "points": [asdict(point) for point in points],
        "claims": [asdict(claim) for claim in claims],
        "differences": [asdict(one) | {"ratio": one.ratio} for one in differences],
        "latency": latency,
        "models": {
            name: {key: model.provenance.get(key) for key in ("identity", "training", "data", "metrics")}
            for name, model in models.items()
        },
    }
    plain = everything["points"]
    save(options.out / "ablations.json", json.dumps(everything, indent=1, allow_nan=False) + "\n")
    save_figure(options.out / "ablations.png", draw_ablations(plain), dpi=150)
    save_figure(options.out / "ablations_steps.png", draw_error_growth(plain, STEPS), dpi=150)
    page = write_page(rows, models, points, claims, differences, latency)
    save(options.out / "ablations.md", page)
    print(page)


if __name__ == "__main__":
    main()
