"""The README's tables, made from the results under docs/; run as a script it writes them (make readme)."""

import json
import re
from pathlib import Path
from statistics import mean
from typing import Any

from laserloop.arena.common import keep_common

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"(<!-- results: .*? -->\n).*?(<!-- /results -->)", re.DOTALL)
DEMO = {
    "physics twin": "**physics twin** (`laserloop control`, nothing trained)",
    "PI": "PI, tuned for this plant",
    "constant power": "constant power, tuned for this plant",
    "the paper's MPC": "the paper's MPC: model with corners and margin, trained on `paper`",
}
CONTROLLERS = {
    "constant": "constant power, tuned",
    "pi": "PI, tuned",
    "baseline": "MPC, model without corners (the paper's baseline)",
    "corner": "MPC, model with corners",
    "corner + δ": "MPC, model with corners and margin",
    "oracle": "MPC on the plant itself (bound)",
}
ARENA = {
    "twin": "**physics twin** (nothing trained)",
    "twin-corrected": "physics twin with a small learned correction",
    "distilled": "network taught by the twin's planner",
    "affine-history": "network with a memory, trained on `graded`",
    "twin-without-camera": "physics twin, no camera",
    "pi": "PI, tuned without disturbances",
    "constant": "constant power",
    "graded-ms-deeponet": "the paper's network, trained on `graded`",
    "paper-corner": "the paper's MPC, trained on `paper`",
}


def read(name: str) -> Any:
    """A file of results."""
    return json.loads((ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8"))


def tabulate_demo() -> list[str]:
    """The runs of `laserloop demo`, a row for each controller."""
    runs = read("results/demo")["runs"]
    plant, ticks = runs[0]["plant"], runs[0]["ticks"]
    lines = [
        f"| `{plant}` plant, {ticks} ticks on the unseen diagonal, 760–800 K wanted "
        "| lowest | highest | ticks above | below | mean ∣ΔP∣ |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs:
        lines.append(
            f"| {DEMO[run['label']]} | {run['t_min_k']:.1f} K | {run['t_max_k']:.1f} K | {run['n_over']} "
            f"| {100 * run['below_fraction']:.0f} % | {run['power_step_mean_w']:.2f} W |"
        )
    return lines


def tabulate_arena() -> list[str]:
    """Some of the arena's entrants at each level, on the paths that all of these have run."""
    found = read("results/arena")
    every = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    whole = [row for row in every if row["process"] == "304" and "@" not in row["task"]]
    rows = keep_common(whole, list(ARENA))
    levels = list(dict.fromkeys(row["level"] for row in rows))
    paths = len({(row["family"], row["seed"]) for row in rows})
    lines = [
        f"| `graded` plant, {paths} held-out paths of ten families, RMS from 780 K with disturbances "
        f"| {' | '.join(levels)} | ticks outside 760–800 K |",
        "|---" * (2 + len(levels)) + "|",
    ]
    for name, label in ARENA.items():
        own = [row for row in rows if row["entrant"] == name]
        rms = (mean(row["rms_k"] for row in own if row["level"] == level) for level in levels)
        outside = sum(row["outside"] for row in own) / sum(row["ticks"] for row in own)
        lines.append(f"| {label} | {' | '.join(f'{value:.1f} K' for value in rms)} | {outside:.1%} |")
    return lines


def tabulate_loops() -> list[str]:
    """The unseen diagonal, a row for each controller."""
    rows = {
        row["label"]: row
        for row in read("reproduction/results/closed_loop")["table_2"]
        if row["path"] == "diagonal"
    }
    lines = [
        "| `paper` plant, 320 ticks on the unseen diagonal, 760–800 K wanted "
        "| ticks above | overshoot | below | power |",
        "|---|---|---|---|---|",
    ]
    for label, name in CONTROLLERS.items():
        row = rows[label]
        lines.append(
            f"| {name} | {row['n_over']} | {row['overshoot_k']:.1f} K | {100 * row['below_fraction']:.0f} % "
            f"| {row['power_mean_w']:.1f} W |"
        )
    return lines


def tabulate_speed() -> list[str]:
    """One line for each of the other questions."""
    machine = read("reproduction/results/clock/stages")["machine"]["cpu"]
    mpc = read("reproduction/results/clock/timing")["bench"]
    step, plants = read("results/plant_speed")["bench"], read("reproduction/results/plant")["plants"]
    bias = {name: max(abs(at["peak_bias_k"]) for at in angles.values()) for name, angles in plants.items()}
    coarse = next(value for name, value in bias.items() if name.startswith("paper"))
    return [
        f"| on one core of {machine} | |",
        "|---|---|",
        "| one plan of five ticks, median, problems of the `paper` plant "
        f"| IPOPT {mpc['reference']['median_us'] / 1e3:.0f} ms, exported C "
        f"{mpc['exported_c']['median_us']:.0f} µs ({mpc['ratio_median_c']:.0f} times faster) |",
        f"| one step of the plant | {step['paper_ms']:.1f} ms `paper`, {step['graded_ms']:.1f} ms `graded`; "
        f"{step['ratio_scipy']:.0f} times faster than SciPy's sparse Newton |",
        f"| largest error of T_max on lines | `paper` {coarse:.0f} K, `graded` {bias['graded']:.1f} K |",
    ]


def fill(text: str) -> str:
    """The README with its table as the results stand."""
    table = "\n".join((*tabulate_demo(), "", *tabulate_arena(), "", *tabulate_loops(), "", *tabulate_speed()))
    filled, count = PLACE.subn(lambda place: f"{place[1]}\n{table}\n\n{place[2]}", text)
    assert count == 1, "the README has one place for the results"
    return filled


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(fill(readme.read_text(encoding="utf-8")), encoding="utf-8")
