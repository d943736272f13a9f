"""The page about Table 1: offline accuracy."""

from collections.abc import Sequence

import numpy as np

from laserloop.data.excitation import Excitation, draw_power
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.pages.tables import tabulate_claims
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
from laserloop.papers.halilovic.report.figures import draw_excitations, draw_paths
from laserloop.papers.halilovic.report.offline import draw_tracking
from laserloop.papers.halilovic.study.published import TABLE_1
from laserloop.papers.halilovic.study.table_1 import COLUMNS, SEEN, figures_of
from laserloop.papers.halilovic.study.table_1_claims import describe_ratios, judge_table_1
from laserloop.paths import find_path

SOURCE = "results/table_1.json"
KELVIN = Measure(".1f")
SHOWN = {
    "vertical": "vertical: seen",
    "spiral": "spiral: seen",
    "polyline:0": "a random polyline: seen",
    "diagonal": "diagonal: unseen",
}


def write_table_1(results: Results) -> Page:
    """Ours beside the paper's, what was expected of it, and what the models were shown."""
    title = "Table 1: offline accuracy"
    found = results.table_1
    if found is None:
        return Page("table_1", title, (NOT_RUN,))
    rows = found["rows"]
    counts = sorted({row["realisations"] for row in rows})
    blocks: list[Block] = [
        Prose(
            "Horizon RMSE by the paper's blind protocol, K: windows that do not overlap, each begun at the "
            "truth. Mean of "
            f"{_spell(counts)} of each excitation class; the mean of the classes; the worst error of all; "
            f"the RMSE of the "
            "first and the last step of the horizon. Both models are scored on identical trajectories of "
            "the `paper` plant."
        ),
        tabulate_table_1(rows, {row["model"]: row["model"] for row in rows}, SOURCE),
        *_describe_models(results),
        Heading("What was expected"),
        tabulate_claims(judge_table_1(rows), SOURCE),
        Heading("Where we differ"),
        Prose(describe_ratios(rows)),
        Prose("What each class asks a model to follow, on the vertical path:"),
        Table(
            ("excitation", "spread of T_max, K", "mean change of power in a tick, W"),
            [
                (r["excitation"], f"{r['t_max_std_k']:.0f}", f"{r['power_change_w']:.1f}")
                for r in found["excitations"]
            ],
            source=SOURCE,
        ),
        Prose(
            "What can move these figures without being an error of either side: the paper does not give "
            "its hatch, its "
            "spiral, its speed or how the diagonal meets its corners, and part of the error is the beam's "
            "place on the "
            "100 µm grid ([plant](plant.md)), which depends on just these. Both protocols are of one seed; "
            "[ablations](ablations.md) shows what three seeds, shorter training, another split and varied "
            "training shapes "
            "change."
        ),
        Heading("What the models were shown"),
        *draw_inputs(),
    ]
    if found.get("tracking"):
        title_of = "Blind windows of the corner model"
        caption = "Blind predictions of the corner model, on a seen and on the unseen path (Fig. 9)."
        tracking = draw_tracking(found["tracking"], title=title_of)
        blocks += [Heading("Blind windows"), Picture("offline-corner", caption, tracking, wide=True)]
    return Page("table_1", title, blocks)


def tabulate_table_1(
    rows: Sequence[Record], names: dict[str, str], source: str, *, folded: str = ""
) -> Table:
    """`names` says which of the paper's rows a model stands beside."""
    lines: list[tuple[Cell | str, ...]] = []
    for row in rows:
        paper = TABLE_1.get((row["path"], names.get(row["model"], "")))
        figures = figures_of(row)
        steps = row["rmse_per_step_k"]
        lines.append(
            (
                f"{row['path']} ({SEEN[row['path']]})",
                row["model"],
                *(KELVIN.show(ours, paper[i] if paper else None) for i, ours in enumerate(figures)),
                f"{steps[0]:.1f} → {steps[-1]:.1f}",
            )
        )
    heads = ("path", "model", *COLUMNS, "step 1 → last")
    return Table(heads, lines, grouped=True, folded=folded, source=source)


def draw_inputs() -> list[Block]:
    """The scan paths and the power profiles, as in the paper's Figs. 5 and 6."""
    points = {title: (1e3 * find_path(name, ticks=400).positions).tolist() for name, title in SHOWN.items()}
    powers = {str(kind): draw_power(kind, 100, np.random.default_rng(0)).tolist() for kind in Excitation}
    return [
        Picture(
            "paths", "Scan paths: seen in training, and the unseen diagonal (Fig. 5).", draw_paths(points)
        ),
        Picture("excitations", "The three classes of excitation (Fig. 6).", draw_excitations(powers)),
    ]


def _describe_models(results: Results) -> list[Block]:
    trainings = results.trainings or {}
    rows = []
    for name in ("paper-base", "paper-corner"):
        if name in trainings:
            data, metrics = trainings[name]["data"]["ensemble"], trainings[name]["metrics"]
            training = trainings[name]["training"]
            rows.append(
                (
                    name,
                    f"{data['kind']}, {data['runs']} episodes, seed {data['seed']}",
                    f"batch {training['batch']}, halving after {training['halve_after']}, patience "
                    f"{training['patience']}",
                    f"{metrics['epochs']} ({metrics['best_epoch']})",
                    f"{metrics['validation_rmse_k']:.1f}",
                )
            )
    heads = ("model", "ensemble", "schedule", "epochs (best)", "validation RMSE, K")
    return [Table(heads, rows, source="results/trainings.json")] if rows else []


def _spell(counts: list[int]) -> str:
    words = " or ".join(map(str, counts))
    return f"{words} fresh realisation{'s' * (counts != [1])}"
