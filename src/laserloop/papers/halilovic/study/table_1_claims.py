"""What Table 1 of the paper shows, judged on our rows."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from laserloop.papers.halilovic.study.claim import FACTOR, STEADY, Claim, is_flat, is_near, judge, judge_all
from laserloop.papers.halilovic.study.published import FLAT_STEPS, RUN_STD, TABLE_1
from laserloop.papers.halilovic.study.table_1 import COLUMNS, figures_of

SEEN = ("vertical", "spiral")
MODELS = BASE, CORNER = "paper-base", "paper-corner"
MEAN, WORST = COLUMNS.index("mean"), COLUMNS.index("worst")
PERCENT = 7.8  # K, of a temperature kept at 780 K
ON_SEEN = list(product(SEEN, MODELS))
ON_DIAGONAL = [("diagonal", model) for model in MODELS]

Row = Mapping[str, Any]
Table = Mapping[tuple[str, str], Row]


def judge_table_1(rows: Sequence[Row]) -> list[Claim]:
    """The claims, once the rows of both models are there."""
    table = {(row["path"], row["model"]): row for row in rows if row["model"] in MODELS}
    return judge_all(JUDGES, table) if set(table) == set(TABLE_1) else []


def _judge_means(table: Table) -> list[Claim]:
    near = {key: is_near(table[key]["rmse_mean_k"], TABLE_1[key][MEAN]) for key in TABLE_1}
    return [
        judge(f"table_1.{name}", all(near[key] for key in keys), **_tell_means(table, keys))
        for name, keys in (("seen", ON_SEEN), ("diagonal", ON_DIAGONAL))
    ]


def _judge_percent(table: Table) -> list[Claim]:
    keys = [(path, BASE) for path in SEEN]
    holds = all(table[key]["rmse_mean_k"] < PERCENT for key in keys)
    return [judge("table_1.percent", holds, **_tell_means(table, keys))]


def _judge_std(table: Table) -> list[Claim]:
    most = max(std for row in table.values() for std in row["rmse_std_k"].values())
    return [judge("table_1.std", most <= RUN_STD, paper=RUN_STD, ours=most)]


def _judge_order(table: Table) -> list[Claim]:
    """Each class harder than the slower one."""

    def is_ordered(row: Sequence[float]) -> bool:
        return row[0] < row[1] < row[2]

    counts = [sum(is_ordered(TABLE_1[key]) for key in ON_SEEN)]
    counts.append(sum(is_ordered(figures_of(table[key])) for key in ON_SEEN))
    paper, ours = (f"{count} of {len(ON_SEEN)} rows" for count in counts)
    return [judge("table_1.order", counts[1] == len(ON_SEEN), paper=paper, ours=ours)]


def _judge_spiral(table: Table) -> list[Claim]:
    holds = all(table["spiral", m]["rmse_mean_k"] > table["vertical", m]["rmse_mean_k"] for m in MODELS)
    return [judge("table_1.spiral", holds, **_tell_means(table, ON_SEEN))]


def _judge_flat(table: Table) -> list[Claim]:
    """By the paper's own example."""
    steps = table["vertical", BASE]["rmse_per_step_of_k"]["persistent"]
    ours = f"{steps[0]:.1f} → {steps[-1]:.1f}"
    return [judge("table_1.flat", is_flat(steps), paper=FLAT_STEPS, ours=ours)]


def _judge_cost(table: Table) -> list[Claim]:
    """What corner data cost on the seen paths: in the mean, and at worst."""
    found = []
    for key, column in (("table_1.worse", MEAN), ("table_1.grows", WORST)):
        ours = {
            path: _divide(figures_of(table[path, CORNER]), figures_of(table[path, BASE]), column)
            for path in SEEN
        }
        paper = {path: _divide(TABLE_1[path, CORNER], TABLE_1[path, BASE], column) for path in SEEN}
        told = {"paper": _tell_ratios(paper), "ours": _tell_ratios(ours)}
        found.append(judge(key, min(ours.values()) > 1, **told))
    return found


def _judge_alike(table: Table) -> list[Claim]:
    """Two means that could be the same one, and worst errors of one size."""
    base, corner = (table[key] for key in ON_DIAGONAL)
    deviation = max(std for row in (base, corner) for std in row["rmse_std_k"].values())
    apart = abs(base["rmse_mean_k"] - corner["rmse_mean_k"])
    modest = base["max_error_k"] <= STEADY * corner["max_error_k"]
    paper, theirs = ([TABLE_1[key][column] for key in ON_DIAGONAL] for column in (MEAN, WORST))
    return [
        judge(
            "finding.alike",
            apart <= 2 * deviation,
            paper=f"{paper[0]} and {paper[1]} K, deviation up to {RUN_STD:g} K",
            ours=f"{base['rmse_mean_k']:.1f} and {corner['rmse_mean_k']:.1f} K, "
            f"deviation up to {deviation:.2f} K",
        ),
        judge(
            "finding.modest",
            modest,
            paper=f"{theirs[0]} → {theirs[1]} K",
            ours=f"{base['max_error_k']:.1f} → {corner['max_error_k']:.1f} K",
        ),
    ]


JUDGES: tuple[Callable[[Table], list[Claim]], ...] = (
    _judge_means,
    _judge_percent,
    _judge_std,
    _judge_order,
    _judge_spiral,
    _judge_flat,
    _judge_cost,
    _judge_alike,
)


def describe_ratios(rows: Sequence[Row]) -> str:
    """Ours over the paper's: each mean, and every figure beyond the factor that matters."""
    means, beyond = [], []
    for row in rows:
        published = TABLE_1.get((row["path"], row["model"]))
        if published is None:
            continue
        ratios = [one / other for one, other in zip(figures_of(row), published, strict=True)]
        means.append(f"{row['path']} {row['model']} {ratios[MEAN]:.2f}")
        for column, one, other in zip(COLUMNS, figures_of(row), published, strict=True):
            if not is_near(one, other):
                beyond.append(f"{row['path']} {row['model']} {column} {one / other:.2f}")
    return (
        f"Ours over the paper's, means: {', '.join(means)}. "
        f"Beyond a factor of {FACTOR:g}: {', '.join(beyond) or 'none'}."
    )


def _tell_means(table: Table, keys: Sequence[tuple[str, str]]) -> dict[str, str]:
    def tell(means: Mapping[tuple[str, str], float]) -> str:
        return ", ".join(f"{path} {model} {means[path, model]:.1f}" for path, model in keys)

    return {
        "paper": tell({key: TABLE_1[key][MEAN] for key in keys}),
        "ours": tell({key: table[key]["rmse_mean_k"] for key in keys}),
    }


def _divide(one: Sequence[float], other: Sequence[float], column: int) -> float:
    return one[column] / other[column]


def _tell_ratios(ratios: Mapping[str, float]) -> str:
    return ", ".join(f"{path} ×{ratio:.2f}" for path, ratio in ratios.items())
