"""The README's table, made from the results under docs/; run as a script it writes them (make readme)."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"(<!-- results: .*? -->\n).*?(<!-- /results -->)", re.DOTALL)
DEMO = {
    "physics twin": "**physics twin** (the default, nothing trained)",
    "PI": "PI, tuned for this plate",
    "constant power": "constant power, tuned for this plate",
}


def read(name: str) -> Any:
    """A file of results."""
    return json.loads((ROOT / "docs" / f"{name}.json").read_text(encoding="utf-8"))


def tabulate_demo() -> list[str]:
    """The runs of `laserloop demo` that need no training, a row for each controller."""
    runs = read("results/demo")["runs"]
    low, high = runs[0]["window_k"]
    lines = [
        f"| the picture: {low:g}–{high:g} K wanted | lowest | highest | ticks above | below |",
        "|---|---|---|---|---|",
    ]
    for run in (run for run in runs if run["label"] in DEMO):
        lines.append(
            f"| {DEMO[run['label']]} | {run['t_min_k']:.0f} K | {run['t_max_k']:.0f} K | {run['n_over']} "
            f"| {100 * run['below_fraction']:.0f} % |"
        )
    return lines


def fill(text: str) -> str:
    """The README with its table as the results stand."""
    table = "\n".join(tabulate_demo())
    filled, count = PLACE.subn(lambda place: f"{place[1]}\n{table}\n\n{place[2]}", text)
    assert count == 1, "the README has one place for the results"
    return filled


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(fill(readme.read_text(encoding="utf-8")), encoding="utf-8")
