"""The page and the figure of benchmarks/learned.py, from its JSON."""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from laserloop.report.save import save

Row = dict[str, Any]
LEVELS = ("off", "nominal", "hard")
COLOURS = {"off": "#0072B2", "nominal": "#E69F00", "hard": "#D55E00"}  # Okabe and Ito
MARKS = {"off": "o", "nominal": "s", "hard": "^"}
WORDS = {"near": "near the window", "persistent": "0 W to all there is"}


def write_page(results: Path) -> None:
    """docs/results/learned.md and its figure."""
    found = json.loads((results / "learned.json").read_text(encoding="utf-8"))
    first = found | {
        key: {n: v for n, v in found[key].items() if "@" not in n} for key in ("entrants", "exam")
    }
    if any("near" in exam for exam in first["exam"].values()):
        draw(first, results / "learned.png")
    tables = (loop_table, exam_table, family_table, cost_table)
    parts = [head(), *(table(first) for table in tables), seed_table(found)]
    save(results / "learned.md", ("\n\n".join(part for part in parts if part) + "\n").encode())


def head() -> str:
    return """# What is learned, and what it is worth in the loop

Made by `python benchmarks/learned.py`. Plant `graded`, process `304` (window 760–800 K, ticks of 125 µs), validation
paths of the arena: nothing on this page was measured on held-out paths, and nothing here may be used to rank entrants
for the leaderboard. All who learn had the same lessons (`python -m laserloop.arena.lessons`, 240 episodes, 76,800 plant
steps) and were trained by `python -m laserloop.arena.train`, seed 0. All are asked for the same: the middle of the
window. The paper's own models (`paper-…`) were trained on the paper's grid and keep their own cost and margin.

How to read it: trainings are short (core minutes below); where a table says few paths or families, no more
were run. What is not affine (TiDE and the paper's networks on `graded`) plans by four QPs a tick without a line search, so
that part of the excursions of the `graded-…` networks may be the solver's.

![Error on given powers against the excursion in the loop](learned.png)

*Each mark is a predictor at one level of disturbance: left to right the root mean square error over five ticks with given
powers (exam), upwards the widest excursion from the window's middle in any run, on the paths that all of them have run. Plant `graded`, process `304`;
`python benchmarks/learned.py`.*"""


def loop_table(found: Row) -> str:
    """Closed loop, by level."""
    lines = [
        "## In the loop",
        "",
        "Over all lit ticks that have settled. `worst` is the mean over paths of the farthest tick from 780 K, with its",
        "standard error; `outside` counts ticks outside the window; `residual` is the error of the one-tick prediction.",
        "",
        "| predictor | level | paths | range | worst | RMS | outside | residual RMS | decision |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in found["entrants"]:
        for level in LEVELS:
            rows = [row for row in found["loop"] if row["entrant"] == name and row["level"] == level]
            if rows:
                lines.append(tell_loop(name, level, rows))
    return "\n".join(lines)


def tell_loop(name: str, level: str, rows: list[Row]) -> str:
    worst = np.array([row["worst_k"] for row in rows])
    ticks = np.array([row["ticks"] for row in rows])
    rms = np.sqrt(np.average([row["rms_k"] ** 2 for row in rows], weights=ticks))
    error = worst.std(ddof=1) / np.sqrt(len(worst)) if len(worst) > 1 else float("nan")
    low, high = min(row["lowest_k"] for row in rows), max(row["highest_k"] for row in rows)
    residuals = [row["residual_rms_k"] for row in rows if row["residual_rms_k"] is not None]
    residual = f"{np.sqrt(np.mean(np.square(residuals))):.2f} K" if residuals else "–"
    decision = np.median([row["decision_ms"] for row in rows])
    return (
        f"| {name} | {level} | {len(rows)} | {low:.1f}–{high:.1f} K | {worst.mean():.2f} ± {error:.2f} K | "
        f"{rms:.2f} K | {sum(row['outside'] for row in rows)} of {ticks.sum()} | {residual} | {decision:.2g} ms |"
    )


def exam_table(found: Row) -> str:
    """Blind errors with given powers."""
    lines = [
        "## With given powers",
        "",
        "Blind protocol: from what was seen so far, the next five ticks; root mean square and worst error, K.",
        "",
        "| predictor | families | near the window | tick 1 | tick 5 | worst | 0 W to all there is | worst |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, exam in found["exam"].items():
        near, wide = exam.get("near"), exam.get("persistent")
        if near:
            steps = near["rmse_per_step_k"]
            rest = f"{wide['rmse_k']:.1f} | {wide['worst_k']:.0f}" if wide else "not run | –"
            lines.append(
                f"| {name} | {len(near['families'])} | {near['rmse_k']:.2f} | {steps[0]:.2f} | {steps[-1]:.2f} | "
                f"{near['worst_k']:.1f} | {rest} |"
            )
    return "\n".join(lines)


def family_table(found: Row) -> str:
    """By family: exam near the window, and residual in the loop."""
    exams = {name: exam["near"]["families"] for name, exam in found["exam"].items() if "near" in exam}
    families = list(next(iter(exams.values()), {}))
    lines = [
        "## By family",
        "",
        "Exam near the window / one-tick residual in the undisturbed loop, root mean squares, K.",
        "",
        f"| predictor | {' | '.join(families)} |",
        "|---" * (1 + len(families)) + "|",
    ]
    for name, exam in exams.items():
        cells = []
        for family in families:
            rows = [
                row["residual_rms_k"]
                for row in found["loop"]
                if (row["entrant"], row["family"], row["level"]) == (name, family, "off")
                and row["residual_rms_k"] is not None
            ]
            loop = f"{np.sqrt(np.mean(np.square(rows))):.1f}" if rows else "–"
            cells.append(f"{exam[family]:.1f} / {loop}" if family in exam else f"– / {loop}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cost_table(found: Row) -> str:
    """What the trainings took."""
    lines = [
        "## Training",
        "",
        "| predictor | core minutes | plant steps | what it is |",
        "|---|---|---|---|",
    ]
    for name, told in found["entrants"].items():
        if told["learns"]:
            lines.append(f"| {name} | {told['core_minutes']:.1f} | {told['plant_steps']} | {told['about']} |")
    return "\n".join(lines)


def seed_table(found: Row) -> str:
    """Other trainings of the same, on the tasks that all of them have run."""
    names = [name for name in found["entrants"] if f"{name}@1" in found["entrants"]]
    lines = [
        "## Three trainings",
        "",
        "Seeds 0, 1 and 2: exam near the window, RMS, and the undisturbed loop on the tasks that all of them ran, RMS and farthest",
        "tick from the middle, K. Seed 0 is the one that ships and stands in the tables above.",
        "",
        "| predictor | exam | loop, RMS | loop, farthest | tasks |",
        "|---|---|---|---|---|",
    ]
    for name in names:
        trained = [other for other in found["entrants"] if other.partition("@")[0] == name]
        runs = {
            one: {r["task"]: r for r in found["loop"] if r["entrant"] == one and r["level"] == "off"}
            for one in trained
        }
        shared = set.intersection(*(set(tasks) for tasks in runs.values()))
        exams = [found["exam"].get(one, {}).get("near", {}).get("rmse_k") for one in trained]
        told = " / ".join("–" if value is None else f"{value:.2f}" for value in exams)
        if shared:
            rms, worst = (
                [function([runs[one][task][column] for task in shared]) for one in trained]
                for column, function in (("rms_k", np.mean), ("worst_k", np.max))
            )
            loop = f"{' / '.join(f'{v:.2f}' for v in rms)} | {' / '.join(f'{v:.1f}' for v in worst)}"
            lines.append(f"| {name} | {told} | {loop} | {len(shared)} |")
    return "\n".join(lines) if len(lines) > 7 else ""


def find_shared(found: Row, level: str) -> set[str]:
    """The tasks of a level that all who took the exam have run, so that none is judged on more paths."""
    runs = {
        name: {row["task"] for row in found["loop"] if row["entrant"] == name and row["level"] == level}
        for name in found["exam"]
    }
    return set.intersection(*runs.values()) if runs else set()


def draw(found: Row, file: Path) -> None:
    """Error on given powers against the excursion in the loop."""
    figure, axes = plt.subplots(figsize=(8.0, 5.2), layout="constrained")
    for name, exam in found["exam"].items():
        if "near" not in exam:
            continue
        x, tops = exam["near"]["rmse_k"], []
        for level in LEVELS:
            shared = find_shared(found, level)
            rows = [row for row in found["loop"] if row["entrant"] == name and row["task"] in shared]
            if rows:
                y = max(row["worst_k"] for row in rows)
                tops.append(y)
                axes.plot(x, y, MARKS[level], color=COLOURS[level], ms=7, mec="white", mew=0.6)
        if tops:
            axes.plot([x, x], [min(tops), max(tops)], color="0.7", lw=0.8, zorder=0)
            axes.annotate(
                name, (x, max(tops)), (0, 6), textcoords="offset points", rotation=45, fontsize=8, ha="left"
            )
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
    axes.set(xscale="log", yscale="log", ylim=(0.5, 2000.0))
    axes.set_xlabel("error of five ticks with given powers near the window, RMS, K")
    axes.set_ylabel("widest excursion from 780 K in the loop, K")
    axes.set_title("Plant graded, process 304, validation paths", fontsize=9, loc="left")
    axes.legend(title="level", fontsize=8, loc="lower right")
    axes.grid(alpha=0.25, which="both", lw=0.4)
    figure.savefig(file, dpi=130)
    plt.close(figure)
