"""The README's tables, made from the results under docs/; run as a script it writes them (make readme)."""

import json
import re
from pathlib import Path
from statistics import mean
from typing import Any

from laserloop.arena.common import keep_common
from laserloop.cli.run import tell_published

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"(<!-- results: .*? -->\n).*?(<!-- /results -->)", re.DOTALL)
DEMO = {
    "physics twin": "**physics twin** (the default, nothing trained)",
    "PI": "PI, tuned for this plate",
    "constant power": "constant power, tuned for this plate",
    "the paper's network, retrained": "the paper's network, trained on this plate",
}
ARENA = {
    "twin": "**physics twin**",
    "twin-corrected": "physics twin with a small learned correction",
    "twin-without-camera": "physics twin, no camera",
    "pi": "PI",
    "constant": "constant power",
    "graded-ms-deeponet": "the paper's network, trained on this plate",
}
FORMER = "on the [former plant](docs/results/nested_plant.md)"  # until the arena is measured anew


def read(name: str) -> Any:
    """A file of results."""
    return json.loads((ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8"))


def tabulate_demo() -> list[str]:
    """The runs of `laserloop demo`, a row for each controller, and what the publication says of its own."""
    runs = read("results/demo")["runs"]
    low, high = runs[0]["window_k"]
    lines = [
        f"| the picture: {low:g}–{high:g} K wanted | lowest | highest | ticks above | below |",
        "|---|---|---|---|---|",
    ]
    for run in runs:
        lines.append(
            f"| {DEMO[run['label']]} | {run['t_min_k']:.0f} K | {run['t_max_k']:.0f} K | {run['n_over']} "
            f"| {100 * run['below_fraction']:.0f} % |"
        )
    return [*lines, "", tell_published()]


def tabulate_arena() -> list[str]:
    """Some of the arena's entrants at each level, on the paths that all of these have run."""
    found = read("results/arena")
    every = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    whole = [row for row in every if row["process"] == "304" and "@" not in row["task"]]
    rows = keep_common(whole, list(ARENA))
    levels = list(dict.fromkeys(row["level"] for row in rows))
    paths = len({(row["family"], row["seed"]) for row in rows})
    former = any(row.get("start_over_k") is None for row in rows)
    lines = [
        f"| {paths} unseen paths, RMS from 780 K{' (starts not counted)' if former else ''}, disturbances: "
        f"| {' | '.join(levels)} |",
        "|---" * (1 + len(levels)) + "|",
    ]
    for name, label in ARENA.items():
        own = [row for row in rows if row["entrant"] == name]
        rms = (mean(row["rms_k"] for row in own if row["level"] == level) for level in levels)
        lines.append(f"| {label} | {' | '.join(f'{value:.1f} K' for value in rms)} |")
    return lines


def fill(text: str) -> str:
    """The README with its table as the results stand."""
    table = "\n".join((*tabulate_demo(), "", *tabulate_arena()))
    filled, count = PLACE.subn(lambda place: f"{place[1]}\n{table}\n\n{place[2]}", text)
    assert count == 1, "the README has one place for the results"
    return filled


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(fill(readme.read_text(encoding="utf-8")), encoding="utf-8")
