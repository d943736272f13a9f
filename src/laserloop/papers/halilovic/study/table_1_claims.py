"""What Table 1 of the paper shows, judged on our rows."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from laserloop.papers.halilovic.study.claim import FACTOR, Claim, is_flat, is_near, judge
from laserloop.papers.halilovic.study.published import TABLE_1
from laserloop.papers.halilovic.study.table_1 import COLUMNS, figures_of

SEEN = ("vertical", "spiral")
MODELS = BASE, CORNER = "paper-base", "paper-corner"
MEAN = COLUMNS.index("mean")

Table = Mapping[tuple[str, str], Sequence[float]]


def judge_table_1(rows: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """The claims, once the rows of both models are there."""
    ours: Table = {(row["path"], row["model"]): figures_of(row) for row in rows if row["model"] in MODELS}
    steps = {(row["path"], row["model"]): row["rmse_per_step_k"] for row in rows if row["model"] in MODELS}
    if set(ours) != set(TABLE_1):
        return []
    seen = list(product(SEEN, MODELS))
    diagonal = [("diagonal", model) for model in MODELS]
    near = {key: is_near(ours[key][MEAN], TABLE_1[key][MEAN]) for key in TABLE_1}
    told = {"paper": _means(TABLE_1, seen), "ours": _means(ours, seen)}
    worse = all(ours[path, CORNER][MEAN] > ours[path, BASE][MEAN] for path in SEEN)
    slopes = [f"{path} {model} ×{step[-1] / step[0]:.2f}" for (path, model), step in steps.items()]
    return [
        judge("table_1.seen", all(near[key] for key in seen), **told),
        judge(
            "table_1.diagonal",
            all(near[key] for key in diagonal),
            paper=_means(TABLE_1, diagonal),
            ours=_means(ours, diagonal),
        ),
        judge("table_1.worse", worse, **told),
        _count("table_1.hardest", ours, seen, lambda row: row[2] > max(row[:2])),
        _count("table_1.easier", ours, seen, lambda row: row[0] < row[1]),
        judge("table_1.flat", all(is_flat(step) for step in steps.values()), ours=", ".join(slopes)),
    ]


def describe_ratios(rows: Sequence[Mapping[str, Any]]) -> str:
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


def _means(table: Table, keys: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{path} {model} {table[path, model][MEAN]:.1f}" for path, model in keys)


def _count(
    key: str, ours: Table, keys: Sequence[tuple[str, str]], obeys: Callable[[Sequence[float]], bool]
) -> Claim:
    """Is a rule obeyed in every row, and in how many of the paper's?"""
    counts = [sum(obeys(table[one]) for one in keys) for table in (TABLE_1, ours)]
    paper, found = (f"{count} of {len(keys)} rows" for count in counts)
    return judge(key, counts[1] == len(keys), paper=paper, ours=found)
