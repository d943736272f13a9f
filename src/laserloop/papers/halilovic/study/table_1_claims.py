"""What Table 1 of the paper shows, judged on our rows."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from laserloop.papers.halilovic.study.claim import FACTOR, STEADY, Claim, is_flat, is_near
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
    return [
        Claim(
            sentence=f"means of seen paths (ours within {FACTOR:g} times the paper's)",
            paper=_means(TABLE_1, seen),
            ours=_means(ours, seen),
            holds=all(is_near(ours[key][MEAN], TABLE_1[key][MEAN]) for key in seen),
        ),
        Claim(
            sentence=f"means of the unseen diagonal, near 13 K (ours within {FACTOR:g} times the paper's)",
            paper=_means(TABLE_1, diagonal),
            ours=_means(ours, diagonal),
            holds=all(is_near(ours[key][MEAN], TABLE_1[key][MEAN]) for key in diagonal),
        ),
        Claim(
            sentence="the corner model is worse on every seen path",
            paper=_means(TABLE_1, seen),
            ours=_means(ours, seen),
            holds=all(ours[path, CORNER][MEAN] > ours[path, BASE][MEAN] for path in SEEN),
        ),
        Claim(
            sentence="bang-bang is the hardest excitation, in every seen row",
            paper=_count(TABLE_1, seen, lambda row: row[2] > max(row[:2])),
            ours=_count(ours, seen, lambda row: row[2] > max(row[:2])),
            holds=all(ours[key][2] > max(ours[key][:2]) for key in seen),
        ),
        Claim(
            sentence="persistent is easier than hf-random, in every seen row",
            paper=_count(TABLE_1, seen, lambda row: row[0] < row[1]),
            ours=_count(ours, seen, lambda row: row[0] < row[1]),
            holds=all(ours[key][0] < ours[key][1] for key in seen),
        ),
        Claim(
            sentence=f"the error is flat (last step within {STEADY:g} times the first, in every row)",
            paper="essentially flat, 2.7 → 3.0 in one",
            ours=", ".join(
                f"{path} {model} ×{step[-1] / step[0]:.2f}" for (path, model), step in steps.items()
            ),
            holds=all(is_flat(step) for step in steps.values()),
        ),
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


def _count(table: Table, keys: Sequence[tuple[str, str]], obeys: Any) -> str:
    return f"{sum(bool(obeys(table[key])) for key in keys)} of {len(keys)} rows"
