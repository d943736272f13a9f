"""The page and the figure of benchmarks/learned.py, from its JSON."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from arena import read
from scipy.stats import spearmanr

from laserloop.store import save

Row = dict[str, Any]
LEVELS = ("off", "nominal", "hard")
COLOURS = {"off": "#0072B2", "nominal": "#E69F00", "hard": "#D55E00"}  # Okabe and Ito
NEXT = 1.04  # ratio of errors, below which two marks stand side by side
MARKS = {"off": "o", "nominal": "s", "hard": "^"}


def write_page(results: Path) -> None:
    """docs/results/learned.md and its figure."""
    found = json.loads((results / "learned.json").read_text(encoding="utf-8"))
    loop = [row for row in read(results / "arena.json")["rows"] if row["process"] == "304"]
    first = {name: exam for name, exam in found["exam"].items() if "@" not in name}
    draw(first, loop, results / "learned.png")
    parts = [
        head(found, first, loop),
        exam_table(first),
        seed_table(found["exam"], loop),
        cost_table(found["entrants"]),
    ]
    save(results / "learned.md", ("\n\n".join(part for part in parts if part) + "\n").encode())


def head(found: Row, exam: Row, loop: Sequence[Row]) -> str:
    return f"""# Learned models, open loop and closed loop

Made by `python benchmarks/learned.py` (code of the loop {found["code"]}); figures in `docs/results/learned.json`. Measured with version 0.2.0 on its former plant
([what changed](nested_plant.md)), process `304` (window 760–800 K, ticks of 125 µs). Models are trained by `python -m laserloop.studies.arena.train`; the *blind test* is
one validation path of each family; the closed loops are those of [the arena](arena.md). The publication's own models (`paper-…`) were trained on its grid
and keep their own cost and margin.

![Error on given powers against the excursion in the loop](learned.png)

*Each mark is a predictor at one level of disturbance: across, the root mean square error over five ticks with given
powers (blind test); up, the widest excursion from the window's middle in any run, on the tasks that all have run.
{tell_rank(exam, loop)}*"""


def tell_rank(exam: Row, loop: Sequence[Row]) -> str:
    """How well the order of the exam is that of the loop."""
    told = []
    for level in LEVELS:
        tops = find_tops(exam, loop, level)
        if len(tops) > 2:
            blind = [exam[name]["near"]["rmse_k"] for name in tops]
            told.append(f"{level} {spearmanr(blind, list(tops.values())).statistic:.2f}")
    if not told:
        return ""
    calm = find_tops(exam, loop, "off")
    name = max(calm, key=lambda one: calm[one] / exam[one]["near"]["rmse_k"])
    return (
        f"Spearman's rank correlation: {', '.join(told)}. A good rank proves nothing: {name} errs by "
        f"{exam[name]['near']['rmse_k']:.1f} K in the blind test and by {calm[name]:.0f} K in its own undisturbed loop."
    )


def find_tops(exam: Row, loop: Sequence[Row], level: str) -> dict[str, float]:
    """The widest excursion of each who took the exam, K, on the tasks of a level that all of them have run."""
    runs = {
        name: {row["task"]: row for row in loop if row["entrant"] == name and row["level"] == level}
        for name in exam
    }
    runs = {name: own for name, own in runs.items() if own}
    shared = set.intersection(*map(set, runs.values())) if runs else set()
    return {name: max(own[task]["excursion_k"] for task in shared) for name, own in runs.items() if shared}


def exam_table(exam: Row) -> str:
    """Blind errors with given powers."""
    lines = [
        "## With given powers",
        "",
        "The next five ticks from the past; root mean square and worst error over ten families, K.",
        "",
        "| predictor | near the window | worst | power over the whole range | worst |",
        "|---|---|---|---|---|",
    ]
    for name, by_shake in exam.items():
        near, wide = by_shake["near"], by_shake["persistent"]
        lines.append(
            f"| {name} | {near['rmse_k']:.2f} | {near['worst_k']:.1f} | "
            f"{wide['rmse_k']:.1f} | {wide['worst_k']:.0f} |"
        )
    return "\n".join(lines)


def seed_table(exam: Row, loop: Sequence[Row]) -> str:
    """Other trainings of the same."""
    lines = [
        "## Other trainings",
        "",
        "Seeds 0 / 1 / 2: blind test near the window, RMS, K; closed loop, mean RMS from the middle, K, on 30 tasks at most",
        "(`laserloop arena --entrants NAME@1`). Seed 0 ships.",
        "",
        "| entrant | blind test | off | nominal | hard |",
        "|---|---|---|---|---|",
    ]
    there = {row["entrant"] for row in loop}
    names = [name for name in dict.fromkeys(row["entrant"] for row in loop) if f"{name}@1" in there]
    for name in names:
        trained = [one for one in (name, f"{name}@1", f"{name}@2") if one in there]
        runs = [{row["task"]: row for row in loop if row["entrant"] == one} for one in trained]
        shared = sorted(set.intersection(*map(set, runs)))
        blind = " / ".join(f"{exam[one]['near']['rmse_k']:.2f}" if one in exam else "–" for one in trained)
        cells = []
        for level in LEVELS:
            tasks = [task for task in shared if runs[0][task]["level"] == level]
            means = [np.mean([own[task]["rms_k"] for task in tasks]) if tasks else np.nan for own in runs]
            cells.append(" / ".join(f"{value:.2f}" for value in means))
        lines.append(f"| {name} | {blind} | {' | '.join(cells)} |")
    return "\n".join(lines) if names else ""


def cost_table(entrants: Row) -> str:
    """What the trainings took."""
    lines = [
        "## Training",
        "",
        "| predictor | core minutes | plant steps | what it is |",
        "|---|---|---|---|",
    ]
    for name, told in entrants.items():
        if told["learns"] and "@" not in name:
            lines.append(f"| {name} | {told['core_minutes']:.1f} | {told['plant_steps']} | {told['about']} |")
    return "\n".join(lines)


def draw(exam: Row, loop: Sequence[Row], file: Path) -> None:
    """Error on given powers against the excursion in the loop."""
    figure, axes = plt.subplots(figsize=(8.0, 5.2), layout="constrained")
    tops = {level: find_tops(exam, loop, level) for level in LEVELS}
    before = 0.0
    for name, by_shake in sorted(exam.items(), key=lambda item: item[1]["near"]["rmse_k"]):
        x, own = (
            by_shake["near"]["rmse_k"],
            {level: tops[level][name] for level in LEVELS if name in tops[level]},
        )
        for level, y in own.items():
            axes.plot(x, y, MARKS[level], color=COLOURS[level], ms=7, mec="white", mew=0.6)
        if own:
            low, high = min(own.values()), max(own.values())
            axes.plot([x, x], [low, high], color="0.7", lw=0.8, zorder=0)
            above = x > NEXT * before  # else its name would lie on its neighbour's
            axes.annotate(
                name,
                (x, high if above else low),
                (0, 6 if above else -6),
                textcoords="offset points",
                rotation=45 if above else -45,
                fontsize=8,
                ha="left",
                va="bottom" if above else "top",
            )
            before = x
    for level in LEVELS:
        axes.plot([], [], MARKS[level], color=COLOURS[level], label=level)
    axes.axhline(20.0, color="0.4", lw=0.8, ls="--")
    axes.text(
        0.99,
        20.5,
        "edge of the window",
        transform=axes.get_yaxis_transform(),
        fontsize=8,
        ha="right",
        va="bottom",
    )
    axes.set(xscale="log", yscale="log", ylim=(0.5, 4000.0), xlim=(0.25, 80.0))
    axes.set_xlabel("error of five ticks with given powers near the window, RMS, K")
    axes.set_ylabel("widest excursion from 780 K in the loop, K")
    axes.set_title(
        "Plant graded, process 304; blind test on validation, loop on held-out paths", fontsize=9, loc="left"
    )
    axes.legend(title="level", fontsize=8, loc="lower right")
    axes.grid(alpha=0.25, which="both", lw=0.4)
    figure.savefig(file, dpi=130)
    plt.close(figure)
