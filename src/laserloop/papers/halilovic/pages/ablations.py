"""The page about the ablations."""

from collections.abc import Sequence

from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.pages.table_1 import tabulate_table_1
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.report.ablations import draw_ablations, draw_error_growth
from laserloop.papers.halilovic.report.blocks import (
    Block,
    Cell,
    Heading,
    Measure,
    Page,
    Picture,
    Prose,
    Table,
)
from laserloop.papers.halilovic.study.ablation_claims import judge_claims
from laserloop.papers.halilovic.study.ablation_points import (
    DEPLOYED,
    SHIPPED,
    Difference,
    Point,
    compare,
    measure_scales,
)
from laserloop.papers.halilovic.study.ablation_tables import describe_missing, describe_schedule, spread
from laserloop.papers.halilovic.study.ablations import SEEN, UNSEEN
from laserloop.papers.halilovic.study.published import ONE_SHOT_STEPS, SS_AR_STEPS
from laserloop.papers.halilovic.study.recipes import RECIPES, SEEDS
from laserloop.papers.halilovic.study.table_1 import PATHS
from laserloop.predict.networks import FitSettings

SOURCE = "results/ablations.json"
KINDS = ("base", "corner")
FAMILIES = {kind: [f"{kind}-nh5-seed{seed}" for seed in SEEDS] for kind in KINDS}
SHIPPED_MODELS = {f"paper-{kind}": f"paper-{kind}" for kind in KINDS}
BESIDE = {  # heading → model → the paper's model that it stands beside
    "The schedule: short, and the full protocol": {f"{kind}-nh5-seed0": f"paper-{kind}" for kind in KINDS}
    | SHIPPED_MODELS,
    "The split: by window as in the paper, and by episode": {
        f"{kind}-{end}": f"paper-{kind}" for kind in KINDS for end in ("nh5-seed0", "by-episode")
    },
    "Training shapes: fixed, and different in every episode": {
        f"{kind}-{end}": f"paper-{kind}" for kind in KINDS for end in ("nh5-seed0", "random")
    },
}
STEPS: dict[str, Sequence[float]] = {"SS-AR": SS_AR_STEPS, "one-shot": (ONE_SHOT_STEPS, ONE_SHOT_STEPS)}
KELVIN = Measure(".1f")


def write_ablations(results: Results) -> Page:
    """Every axis, what the paper says of it, and what else moves an error."""
    title = "Offline ablations"
    found = results.ablations
    if found is None:
        return Page("ablations", title, (NOT_RUN,))
    rows, points = found["rows"], [Point(**point) for point in found["points"]]
    trained = {row["model"] for row in rows}
    realisations = sorted({score["realisations"] for row in rows for score in row["scores"].values()})
    blocks: list[Block] = [
        Prose(
            "Horizon RMSE by the blind protocol on the `paper` plant, K: mean of the three excitation "
            "classes and "
            f"{' or '.join(map(str, realisations))} fresh realisation{'s' * (realisations != [1])} of "
            f"each, the same "
            "trajectories for all models. Seen: mean ± spread of horizontal, vertical and spiral; unseen: "
            "the diagonal. "
            "Trained on the corner ensemble, seed 0, where nothing else is said."
        ),
        Prose(f"{describe_schedule(FitSettings(**found['schedule']))} {describe_missing(RECIPES, trained)}"),
        Picture(
            "ablations",
            "Horizon RMSE along every axis (Fig. 16).",
            draw_ablations(found["points"]),
            wide=True,
        ),
        Heading("What the paper says, and what we find"),
        tabulate_claims(judge_claims(points), SOURCE),
        Heading("The figures"),
        _tabulate_points(points),
        Heading("Where we differ by more than a factor of 1.5"),
        *_list_differences(compare(points), rows),
        Heading("The error along the horizon"),
        Picture(
            "ablations-steps",
            "The error of each step on the unseen diagonal.",
            draw_error_growth(found["points"], STEPS),
        ),
        _tabulate_steps(points),
        Heading("Luck: seeds"),
        Prose("Mean ± standard deviation over seeds of the split, the first weights and the batches, K."),
        _tabulate_seeds(rows),
    ]
    quiet = {row["model"]: row for row in rows if row["noise_k"] == 0.0}
    for heading, names in BESIDE.items():
        flat = [{"model": n, **quiet[n]["scores"][path]} for path in PATHS for n in names if n in quiet]
        blocks += [
            Heading(heading),
            tabulate_table_1(flat, names, SOURCE, folded=heading.split(":")[1].strip()) if flat else NOT_RUN,
        ]
    return Page("ablations", title, [*blocks, *_write_trainings(results)])


def _tabulate_points(points: Sequence[Point]) -> Table:
    rows: list[tuple[Cell | str, ...]] = []
    for point in points:
        unit = " ticks" if point.axis == "horizon" else " K" if "noise" in point.axis else ""
        seen = KELVIN.show(point.seen, point.paper_seen)
        rows.append(
            (
                point.axis,
                point.value + unit,
                Cell(f"{seen.text} ± {point.seen_std:.1f}", seen.paper, seen.drift),
                KELVIN.show(point.unseen, point.paper_unseen),
            )
        )
    heads = ("axis", "value", "seen, K", "unseen diagonal, K")
    return Table(heads, rows, grouped=True, folded="every point of the figure", source=SOURCE)


def _list_differences(differences: Sequence[Difference], rows: list[Record]) -> list[Block]:
    """Those that matter, and which of the measured scales are too small to explain them."""
    scales = measure_scales([dict(row) for row in rows], FAMILIES["corner"], (DEPLOYED, SHIPPED))
    lines = []
    for one in differences:
        if one.matters:
            gap = abs(one.ours - one.paper)
            small = [f"{what} ({k:.1f} K)" for what, k in scales.get(one.where, {}).items() if k < gap / 2]
            excluded = f"; less than half of it by {' or '.join(small)}" if small else ""
            lines.append(
                (
                    f"{one.axis} {one.value} {one.where}",
                    f"{one.ours:.1f} ({one.paper:.1f})",
                    f"{one.ratio:.2f}",
                    f"not explained{excluded}",
                )
            )
    if not lines:
        return [Prose("None.")]
    return [Table(("figure", "ours (the paper's), K", "ratio", "why"), lines, wordy=True, source=SOURCE)]


def _tabulate_steps(points: Sequence[Point]) -> Table:
    published = {
        "SS-AR": f"{SS_AR_STEPS[0]:g} → … → {SS_AR_STEPS[1]:g}",
        "one-shot": f"≈ {ONE_SHOT_STEPS:g}, flat",
    }
    rows = [
        (point.value, where, " → ".join(f"{step:.1f}" for step in steps), published.get(point.value, "–"))
        for point in points
        if point.axis == "structure"
        for where, steps in (("seen", point.seen_per_step), ("unseen", point.unseen_per_step))
    ]
    return Table(("model", "paths", "steps 1 → last, K", "the paper's, K"), rows, grouped=True, source=SOURCE)


def _tabulate_seeds(rows: list[Record]) -> Block:
    quiet = {row["model"]: row for row in rows if row["noise_k"] == 0.0}
    lines = []
    for family, names in FAMILIES.items():
        there = [quiet[name] for name in names if name in quiet]
        if len(there) > 1:
            cells = [
                spread([row["scores"][path]["rmse_mean_k"] for row in there]) for path in (*SEEN, UNSEEN)
            ]
            lines.append((family, str(len(there)), *cells, spread([row["seen_k"] for row in there])))
    if not lines:
        return Prose("One seed only was trained.")
    return Table(("ensemble", "seeds", *SEEN, UNSEEN, "mean of seen"), lines, source=SOURCE)


def _write_trainings(results: Results) -> list[Block]:
    if results.trainings is None:
        return []
    rows = []
    for name, one in results.trainings.items():
        ensemble, training, metrics = one["data"]["ensemble"], one["training"], one["metrics"]
        rows.append(
            (
                name,
                f"{ensemble['kind']}, {ensemble['geometry']}",
                training["split"],
                str(training["seed"]),
                f"{metrics['epochs']} ({metrics['best_epoch']})",
                f"{metrics['validation_rmse_k']:.1f}",
            )
        )
    heads = ("model", "ensemble", "split", "seed", "epochs (best)", "validation RMSE, K")
    return [
        Heading("The trainings"),
        Prose(
            "The validation RMSE is that of the part held out by each training's own split: neighbours of "
            "held-out windows "
            "are trained on if the split is by window, and none if it is by episode."
        ),
        Table(heads, rows, folded=f"{len(rows)} trainings", source="results/trainings.json"),
    ]
