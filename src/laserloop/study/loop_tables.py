"""Tables 2 and 3 of the paper: its closed loops and ours, side by side."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from laserloop.study.claim import format_rows
from laserloop.study.closed_loop import TICKS, LoopCase, run_case
from laserloop.study.published_loops import BELOW, TABLE_2, TABLE_3

Progress = Callable[[int, int], None]

PATHS = ("vertical", "spiral", "diagonal")
DELTA_K = 13.0  # the paper's margin
BASE, CORNER = "paper-base", "paper-corner"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a table: what it is called there, and the case behind it."""

    label: str
    case: LoopCase


def list_table_2(
    controller: str = "ipopt",
    delta_k: float = DELTA_K,
    *,
    models: tuple[str, str] = (BASE, CORNER),
    ticks: int = TICKS,
) -> list[Entry]:
    """The paper's nine runs; `models` are those of both ensembles."""
    rows = []
    for label, model, delta in (
        ("baseline", models[0], 0.0),
        ("corner", models[1], 0.0),
        ("corner + δ", models[1], delta_k),
    ):
        rows += [
            Entry(label, LoopCase(path=path, controller=controller, model=model, delta_k=delta, ticks=ticks))
            for path in PATHS
        ]
    return rows


def list_others(*, ticks: int = TICKS) -> list[Entry]:
    """The same paths under the controllers without a model, and under the oracle."""
    return [
        Entry(other, LoopCase(path=path, controller=other, ticks=ticks))
        for other in ("pi", "constant", "feedforward", "oracle")
        for path in PATHS
    ]


def list_seeds(models: Mapping[str, str], *, delta_k: float = DELTA_K, ticks: int = TICKS) -> list[Entry]:
    """Models by labels "base …" without a margin, "corner …" with and without, on every path."""
    entries = []
    for label, model in models.items():
        for delta in (0.0,) if label.startswith("base") else (0.0, delta_k):
            entries += [
                Entry(
                    label + (" + δ" if delta else ""),
                    LoopCase(path=path, controller="ipopt", model=model, delta_k=delta, ticks=ticks),
                )
                for path in PATHS
            ]
    return entries


def list_table_3(models: Mapping[str, str], controller: str = "ipopt", *, ticks: int = TICKS) -> list[Entry]:
    """Runs without a margin of the models given by the row's name, such as "N_h = 3" or "SS-AR"."""
    rows = []
    for label, model in models.items():
        paths = PATHS if label == "SS-AR" else ("vertical", "diagonal")
        graph = "plain" if label == "SS-AR" else "folded"
        rows += [
            Entry(label, LoopCase(path=path, controller=controller, model=model, graph=graph, ticks=ticks))
            for path in paths
        ]
    return rows


def run_entries(
    entries: Sequence[Entry], root: Path, *, workers: int | None = None, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """The records of all rows, in their order; those on disk are not run again."""
    workers = workers or os.cpu_count() or 1
    done: dict[int, dict[str, Any]] = {}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        jobs = {pool.submit(run_case, entry.case, root): n for n, entry in enumerate(entries)}
        for job in as_completed(jobs):
            done[jobs[job]] = job.result()
            if progress is not None:
                progress(len(done), len(entries))
    return [{"label": entry.label, **done[n]} for n, entry in enumerate(entries)]


def format_table_2(records: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: ours (the paper's)."""
    heads = (
        "controller",
        "path",
        "overshoot K",
        "n > 800",
        "ms over",
        "residual RMS K",
        "max abs K",
        "mean K",
        "mean P W",
        "mean abs ΔP W",
        "below 760 %",
    )
    fields = (
        ("overshoot_k", ".1f"),
        ("n_over", "d"),
        ("over_ms", ".2f"),
        ("residual_rms_k", ".1f"),
        ("residual_max_k", ".1f"),
        ("residual_mean_k", "+.1f"),
        ("power_mean_w", ".2f"),
        ("power_step_mean_w", ".2f"),
    )
    lines = []
    for record in records:
        key = (record["label"], record["path"])
        paper = TABLE_2.get(key)
        cells = [
            _beside(record[name], None if paper is None else paper[i], form)
            for i, (name, form) in enumerate(fields)
        ]
        below = BELOW.get(key)
        cells.append(_beside(100 * record["below_fraction"], None if below is None else 100 * below, ".1f"))
        lines.append([record["label"], record["path"], *cells])
    return format_rows(heads, lines)


def format_table_3(records: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: ours (the paper's)."""
    heads = (
        "setting",
        "path",
        "highest K",
        "overshoot K",
        "n > 800",
        "below 760 %",
        "RMSE₁ K",
        "solve ms, mean",
    )
    lines = []
    for record in records:
        paper = TABLE_3.get((record["label"], record["path"]))
        ours = (
            (record["t_max_k"], ".1f"),
            (record["overshoot_k"], ".1f"),
            (record["n_over"], "d"),
            (100 * record["below_fraction"], ".1f"),
            (record["residual_rms_k"], ".1f"),
            (record["solve_ms"]["mean"], ".1f"),
        )
        theirs = None if paper is None else (*paper[:3], 100 * paper[3], *paper[4:])
        cells = [
            _beside(value, None if theirs is None else theirs[i], form)
            for i, (value, form) in enumerate(ours)
        ]
        lines.append([record["label"], record["path"], *cells])
    return format_rows(heads, lines)


def _beside(ours: float | None, theirs: float | None, form: str) -> str:
    text = "–" if ours is None else format(ours, form)
    return text if theirs is None else f"{text} ({format(theirs, form)})"
