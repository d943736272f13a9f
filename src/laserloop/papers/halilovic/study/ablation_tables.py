"""Tables of the ablations in Markdown: ours, and in brackets the paper's."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from laserloop.papers.halilovic.study.ablation_points import Difference, Point
from laserloop.papers.halilovic.study.ablations import SEEN, UNSEEN, Row
from laserloop.papers.halilovic.study.claim import format_rows
from laserloop.papers.halilovic.study.published import ONE_SHOT_STEPS, SS_AR_STEPS
from laserloop.papers.halilovic.study.recipes import Recipe
from laserloop.papers.halilovic.study.table_1 import PATHS, format_table_1
from laserloop.predict.networks import FitSettings, Model


def format_points(points: Iterable[Point]) -> str:
    """Every axis of the ablation figure."""
    rows = [
        (
            point.axis,
            point.value + (" ticks" if point.axis == "horizon" else " K" if "noise" in point.axis else ""),
            f"{point.seen:.1f} ± {point.seen_std:.1f}{_bracket(point.paper_seen)}",
            f"{point.unseen:.1f}{_bracket(point.paper_unseen)}",
        )
        for point in points
    ]
    return format_rows(("axis", "value", "seen, K", "unseen diagonal, K"), rows)


def format_steps(points: Iterable[Point]) -> str:
    """The error of each step of the horizon, SS-AR and LSTM beside the one-shot model."""
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
    return format_rows(("model", "paths", "steps 1 → last, K", "the paper's, K"), rows)


def format_differences(
    differences: Iterable[Difference],
    reasons: Mapping[str, str],
    scales: Mapping[str, Mapping[str, float]],
) -> str:
    """Those that matter, each with its reason by "axis value where", or what is too small to be one.

    `scales`: seen or unseen → what else moves an error → by how much, K.
    """
    rows = []
    for one in differences:
        if one.matters:
            key = f"{one.axis} {one.value} {one.where}"
            gap = abs(one.ours - one.paper)
            small = [f"{what} ({k:.1f} K)" for what, k in scales.get(one.where, {}).items() if k < gap / 2]
            excluded = f"; less than half of it by {' or '.join(small)}" if small else ""
            reason = reasons.get(key, "not explained") + excluded
            rows.append((key, f"{one.ours:.1f} ({one.paper:.1f})", f"{one.ratio:.2f}", reason))
    if not rows:
        return "None.\n"
    return format_rows(("figure", "ours (the paper's), K", "ratio", "why"), rows)


def format_seeds(rows: Iterable[Row], families: Mapping[str, Sequence[str]]) -> str:
    """The spread over seeds: each path's RMSE, mean ± standard deviation over the models of a family."""
    found = {row["model"]: row for row in rows if row["noise_k"] == 0.0}
    lines = []
    for family, names in families.items():
        there = [found[name] for name in names if name in found]
        if len(there) < 2:
            continue
        cells = [spread([row["scores"][path]["rmse_mean_k"] for row in there]) for path in (*SEEN, UNSEEN)]
        lines.append((family, str(len(there)), *cells, spread([row["seen_k"] for row in there])))
    return format_rows(("ensemble", "seeds", *SEEN, UNSEEN, "mean of seen"), lines)


def format_beside(rows: Iterable[Row], names: Mapping[str, str]) -> str:
    """Rows of Table 1; `names` says which of the paper's models each model stands beside."""
    found = {row["model"]: row for row in rows if row["noise_k"] == 0.0}
    there = [name for name in names if name in found]
    flat = [{"model": name, **found[name]["scores"][path]} for path in PATHS for name in there]
    return format_table_1(flat, names)


def format_trainings(models: Mapping[str, Model]) -> str:
    """How each model was trained and what its validation says."""
    rows = [(name, *_describe(model.provenance)) for name, model in models.items()]
    heads = ("model", "ensemble", "split", "seed", "epochs (best)", "validation RMSE, K")
    return format_rows(heads, rows)


def format_latency(latency: Mapping[str, Mapping[str, float]], reference: str) -> str:
    """Median µs of one window, and the ratio to the reference."""
    rows = []
    for name, times in latency.items():
        ratios = [times[way] / latency[reference][way] for way in ("numpy_us", "compiled_us")]
        cells = [f"{times[way]:.1f}" for way in ("numpy_us", "compiled_us")]
        rows.append((name, *cells, *(f"{ratio:.1f}" for ratio in ratios)))
    return format_rows(("model", "NumPy, µs", "compiled, µs", "ratio, NumPy", "ratio, compiled"), rows)


def describe_schedule(settings: FitSettings) -> str:
    """The schedule in one sentence."""
    usual = FitSettings()
    return (
        f"Every model of this page but those named paper-* was trained by one schedule shorter than the "
        f"paper's: the learning rate is halved after {settings.halve_after} stagnant epochs "
        f"({usual.halve_after} in the full protocol), training ends after {settings.patience} epochs without "
        f"a better validation loss ({usual.patience}) and after {settings.max_epochs} epochs at the latest."
    )


def describe_missing(recipes: Iterable[Recipe], models: Container[str]) -> str:
    """Which recipes have no model yet, in one sentence."""
    absent = [recipe.name for recipe in recipes if recipe.name not in models]
    if not absent:
        return "All models of the study are trained."
    return f"Not trained yet, and therefore left out: {', '.join(absent)}."


def _bracket(paper: float | None) -> str:
    return "" if paper is None else f" ({paper:.1f})"


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation of a sample."""
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"


def _describe(provenance: Mapping[str, Any]) -> tuple[str, ...]:
    ensemble, training = provenance["data"]["ensemble"], provenance["training"]
    metrics = provenance["metrics"]
    return (
        f"{ensemble['kind']}, {ensemble['geometry']}",
        training["split"],
        str(training["seed"]),
        f"{metrics['epochs']} ({metrics['best_epoch']})",
        f"{metrics['validation_rmse_k']:.1f}",
    )
