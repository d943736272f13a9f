"""The page about Table 1: offline accuracy."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from laserloop.data.excitation import Excitation, draw_power
from laserloop.papers.halilovic.pages.claims import MODELS
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.write import write_page
from laserloop.papers.halilovic.report.blocks import Block, Heading, Measure, Page, Picture, Table, tabulate
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
EXCITATIONS = {
    "excitation": "{excitation}",
    "spread of T_max, K": "{t_max_std_k:.0f}",
    "mean change of power in a tick, W": "{power_change_w:.1f}",
}
TRAINED = {
    "model": "{name}",
    "ensemble": "{data[ensemble][kind]}, {data[ensemble][runs]} episodes, seed {data[ensemble][seed]}",
    "schedule": "batch {training[batch]}, halving after {training[halve_after]}, "
    "patience {training[patience]}",
    "epochs (best)": "{metrics[epochs]} ({metrics[best_epoch]})",
    "validation RMSE, K": "{metrics[validation_rmse_k]:.1f}",
}


def write_table_1(results: Results) -> Page:
    """Ours beside the paper's, what was expected of it, and what the models were shown."""
    found = results.table_1
    if found is None:
        return write_page("table_1", None)
    rows, trainings = found["rows"], results.trainings or {}
    trained = [{"name": name, **trainings[name]} for name in MODELS if name in trainings]
    parts = {
        "table": tabulate_table_1(rows, {row["model"]: row["model"] for row in rows}, SOURCE),
        "models": tabulate(trained, TRAINED, source="results/trainings.json") if trained else None,
        "claims": tabulate_claims(judge_table_1(rows), SOURCE),
        "excitations": tabulate(found["excitations"], EXCITATIONS, source=SOURCE),
        "inputs": draw_inputs(),
        "tracking": _draw_tracking(found.get("tracking")),
    }
    counts = count_realisations(row["realisations"] for row in rows)
    return write_page("table_1", parts, counts=counts, ratios=describe_ratios(rows))


def tabulate_table_1(
    rows: Sequence[Record], names: Mapping[str, str], source: str = "", *, folded: str = ""
) -> Table:
    """`names` says which of the paper's rows a model stands beside."""
    lines = []
    for row in rows:
        paper = TABLE_1.get((row["path"], names.get(row["model"], "")))
        steps = row["rmse_per_step_k"]
        cells = [KELVIN.show(ours, paper[i] if paper else None) for i, ours in enumerate(figures_of(row))]
        place = f"{row['path']} ({SEEN[row['path']]})"
        lines.append((place, row["model"], *cells, f"{steps[0]:.1f} → {steps[-1]:.1f}"))
    heads = ("path", "model", *COLUMNS, "step 1 → last")
    return Table(heads, lines, grouped=True, folded=folded, source=source)


def draw_inputs() -> list[Block]:
    """The scan paths and the power profiles, as in the paper's Figs. 5 and 6."""
    points = {title: (1e3 * find_path(name, ticks=400).positions).tolist() for name, title in SHOWN.items()}
    powers = {str(kind): draw_power(kind, 100, np.random.default_rng(0)).tolist() for kind in Excitation}
    caption = "Scan paths: seen in training, and the unseen diagonal (Fig. 5)."
    return [
        Picture("paths", caption, draw_paths(points)),
        Picture("excitations", "The three classes of excitation (Fig. 6).", draw_excitations(powers)),
    ]


def _draw_tracking(tracking: Sequence[Record] | None) -> list[Block]:
    if not tracking:
        return []
    caption = "Blind predictions of the corner model, on a seen and on the unseen path (Fig. 9)."
    figure = draw_tracking(tracking, title="Blind windows of the corner model")
    return [Heading("Blind windows"), Picture("offline-corner", caption, figure, wide=True)]


def count_realisations(found: Iterable[int]) -> str:
    """How many fresh realisations, in words."""
    counts = sorted(set(found))
    return f"{' or '.join(map(str, counts))} fresh realisation{'s' * (counts != [1])}"
