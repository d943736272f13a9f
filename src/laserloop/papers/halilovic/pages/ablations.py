"""The page about the ablations."""

from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.table_1 import count_realisations, tabulate_table_1
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.write import Parts, write_page
from laserloop.papers.halilovic.report import blocks
from laserloop.papers.halilovic.report.ablations import draw_ablations, draw_error_growth
from laserloop.papers.halilovic.report.blocks import Block, Cell, Heading, Picture, Prose, Table
from laserloop.papers.halilovic.study.ablation_claims import judge_claims
from laserloop.papers.halilovic.study.ablation_points import (
    DEPLOYED,
    SHIPPED,
    Difference,
    Point,
    compare,
    measure_scales,
)
from laserloop.papers.halilovic.study.ablations import SEEN, UNSEEN
from laserloop.papers.halilovic.study.published import ONE_SHOT_STEPS, SS_AR_STEPS
from laserloop.papers.halilovic.study.recipes import HORIZONS, RECIPES, SEEDS, Recipe
from laserloop.papers.halilovic.study.table_1 import PATHS
from laserloop.papers.halilovic.words import say
from laserloop.predict.train import FitSettings

SOURCE = "results/ablations.json"
KINDS = ("base", "corner")
FAMILIES = {kind: [f"{kind}-nh5-seed{seed}" for seed in SEEDS] for kind in KINDS} | {
    f"corner, N_h = {n}": [f"corner-nh{n}", *(f"corner-nh{n}-seed{seed}" for seed in SEEDS[1:])]
    for n in HORIZONS
}
SHIPPED_MODELS = {f"paper-{kind}": f"paper-{kind}" for kind in KINDS}
BESIDE = {  # heading → model → the paper's model that it stands beside
    "The schedule: short, and the full protocol": {f"{kind}-nh5-seed0": f"paper-{kind}" for kind in KINDS}
    | SHIPPED_MODELS,
    "The episodes: those of the study, and as many others": {
        f"{kind}-{end}": f"paper-{kind}" for kind in KINDS for end in ("nh5-seed0", "other-data")
    },
    "The previews: of the nearest node, and between the nodes": {
        f"{kind}-{end}": f"paper-{kind}" for kind in KINDS for end in ("nh5-seed0", "bilinear")
    },
    "The split: by window as in the paper, and by episode": {
        f"{kind}-{end}": f"paper-{kind}" for kind in KINDS for end in ("nh5-seed0", "by-episode")
    },
    "Training shapes: fixed, and different in every episode": {
        f"{kind}-{end}": f"paper-{kind}" for kind in KINDS for end in ("nh5-seed0", "random")
    },
}
STEPS: dict[str, Sequence[float]] = {"SS-AR": SS_AR_STEPS, "one-shot": (ONE_SHOT_STEPS, ONE_SHOT_STEPS)}
STEPS_TOLD = {
    "SS-AR": f"{SS_AR_STEPS[0]:g} → … → {SS_AR_STEPS[1]:g}",
    "one-shot": f"≈ {ONE_SHOT_STEPS:g}, flat",
}
TRAININGS = {
    "model": "{name}",
    "ensemble": "{data[ensemble][kind]}, {data[ensemble][geometry]}",
    "split": "{training[split]}",
    "seed": "{training[seed]}",
    "epochs (best)": "{metrics[epochs]} ({metrics[best_epoch]})",
    "validation RMSE, K": "{metrics[validation_rmse_k]:.1f}",
}
KELVIN = blocks.Measure(".1f")


def write_ablations(results: Results) -> blocks.Page:
    """Every axis, what the paper says of it, and what else moves an error."""
    found = results.ablations
    if found is None:
        return write_page("ablations", None)
    rows, points = found["rows"], [Point(**point) for point in found["points"]]
    scales = measure_scales([dict(row) for row in rows], FAMILIES["corner"], (DEPLOYED, SHIPPED))
    everywhere, steps = draw_ablations(found["points"]), draw_error_growth(found["points"], STEPS)
    seeds = tabulate_seeds(rows)
    beside: list[Block] = []
    for heading, names in BESIDE.items():
        table = tabulate_beside(rows, names, folded=heading.split(":")[1].strip())
        if {row["model"] for row in rows} >= set(names):  # nothing stands beside anything otherwise
            beside += [Heading(heading), table]
    parts: Parts = {
        "picture": Picture("ablations", "Horizon RMSE along every axis (Fig. 16).", everywhere, wide=True),
        "claims": tabulate_claims(judge_claims(points), SOURCE),
        "points": tabulate_points(points),
        "differences": tabulate_differences(compare(points), scales) or Prose("None."),
        "growth": Picture("ablations-steps", "The error of each step on the unseen diagonal.", steps),
        "steps": tabulate_steps(points),
        "rollouts": _write_rollouts(found.get("rollouts", [])),
        "seeds": seeds if seeds.rows else Prose("One seed only was trained."),
        "beside": beside,
        "trainings": _write_trainings(results.trainings),
    }
    return write_page(
        "ablations",
        parts,
        realisations=count_realisations(s["realisations"] for row in rows for s in row["scores"].values()),
        schedule=describe_schedule(FitSettings(**found["schedule"])),
        missing=describe_missing(RECIPES, {row["model"] for row in rows}),
    )


def tabulate_points(points: Iterable[Point]) -> Table:
    """Every axis of the ablation figure."""
    rows: list[tuple[Cell | str, ...]] = []
    for point in points:
        unit = " ticks" if point.axis == "horizon" else " K" if "noise" in point.axis else ""
        seen = KELVIN.show(point.seen, point.paper_seen)
        spread = Cell(f"{seen.text} ± {point.seen_std:.1f}", seen.paper, seen.drift)
        rows.append((point.axis, point.value + unit, spread, KELVIN.show(point.unseen, point.paper_unseen)))
    heads = ("axis", "value", "seen, K", "unseen diagonal, K")
    return Table(heads, rows, grouped=True, folded="every point of the figure", source=SOURCE)


def tabulate_differences(
    differences: Iterable[Difference],
    scales: Mapping[str, Mapping[str, float]],
    reasons: Mapping[str, str] | None = None,
) -> Table | None:
    """Those that matter, each with its reason by "axis value where", or what is too small to be one.

    `scales`: seen or unseen → what else moves an error → by how much, K.
    """
    lines = []
    for one in differences:
        if one.matters:
            key, gap = f"{one.axis} {one.value} {one.where}", abs(one.ours - one.paper)
            small = [f"{what} ({k:.1f} K)" for what, k in scales.get(one.where, {}).items() if k < gap / 2]
            excluded = f"; less than half of it by {' or '.join(small)}" if small else ""
            why = (reasons or {}).get(key, "not explained") + excluded
            lines.append((key, f"{one.ours:.1f} ({one.paper:.1f})", f"{one.ratio:.2f}", why))
    heads = ("figure", "ours (the paper's), K", "ratio", "why")
    return Table(heads, lines, wordy=True, source=SOURCE) if lines else None


def tabulate_steps(points: Iterable[Point]) -> Table:
    """The error of each step of the horizon, SS-AR and LSTM beside the one-shot model."""
    rows = [
        (point.value, where, " → ".join(f"{step:.1f}" for step in steps), STEPS_TOLD.get(point.value, "–"))
        for point in points
        if point.axis == "structure"
        for where, steps in (("seen", point.seen_per_step), ("unseen", point.unseen_per_step))
    ]
    return Table(("model", "paths", "steps 1 → last, K", "the paper's, K"), rows, grouped=True, source=SOURCE)


def tabulate_seeds(rows: Iterable[Record], families: Mapping[str, Sequence[str]] = FAMILIES) -> Table:
    """Each path's RMSE, mean ± standard deviation over the models of a family of two or more."""
    quiet = _find_quiet(rows)
    lines = []
    for family, names in families.items():
        there = [quiet[name] for name in names if name in quiet]
        if len(there) > 1:
            errors = [[row["scores"][path]["rmse_mean_k"] for row in there] for path in (*SEEN, UNSEEN)]
            errors.append([row["seen_k"] for row in there])
            cells = [f"{np.mean(some):.2f} ± {np.std(some, ddof=1):.2f}" for some in errors]
            lines.append((family, str(len(there)), *cells))
    return Table(("ensemble", "seeds", *SEEN, UNSEEN, "mean of seen"), lines, source=SOURCE)


def tabulate_beside(rows: Iterable[Record], names: Mapping[str, str], *, folded: str = "") -> Table:
    """Rows of Table 1; `names` says which of the paper's models each model stands beside."""
    quiet = _find_quiet(rows)
    flat = [{"model": n, **quiet[n]["scores"][path]} for path in PATHS for n in names if n in quiet]
    return tabulate_table_1(flat, names, SOURCE, folded=folded)


def tabulate_trainings(trainings: Mapping[str, Record]) -> Table:
    """How each model was trained and what its validation says."""
    rows = [{"name": name, **one} for name, one in trainings.items()]
    return blocks.tabulate(rows, TRAININGS, folded=f"{len(rows)} trainings", source="results/trainings.json")


def describe_schedule(settings: FitSettings) -> str:
    """The schedule in one sentence."""
    return say(f"schedule.{settings.schedule}", ours=settings, usual=FitSettings())


def describe_missing(recipes: Iterable[Recipe], models: Container[str]) -> str:
    """Which recipes have no model yet, in one sentence."""
    absent = [recipe.name for recipe in recipes if recipe.name not in models]
    if not absent:
        return "All models of the study are trained."
    return f"Not trained yet, and therefore left out: {', '.join(absent)}."


def _write_rollouts(rows: Sequence[Record]) -> list[Block]:
    """Longer than a horizon, as far as a model goes; nothing if no model was asked."""
    if not rows:
        return []
    lengths = dict.fromkeys(n for row in rows for errors in row["rmse_k"].values() for n in errors)
    lines = [
        (row["label"], where, *(f"{errors[n]:.1f}" if n in errors else blocks.NOTHING for n in lengths))
        for row in rows
        for where, errors in row["rmse_k"].items()
    ]
    heads = ("model", "paths", *(f"ticks {int(n) - 4} to {n}, K" for n in lengths))
    table = Table(heads, lines, grouped=True, source=SOURCE)
    return [Heading("Longer rollouts: does the peak's place help?"), Prose(say("rollouts")), table]


def _write_trainings(trainings: Record | None) -> list[Block]:
    if trainings is None:
        return []
    return [Heading("The trainings"), Prose(say("trainings")), tabulate_trainings(trainings)]


def _find_quiet(rows: Iterable[Record]) -> dict[str, Record]:
    """Rows without noise, by model."""
    return {row["model"]: row for row in rows if row["noise_k"] == 0.0}
