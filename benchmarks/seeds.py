"""How lucky is one training? The paper's base and corner model, twenty times each, at the diagonal's corner.

    python benchmarks/seeds.py                          # four hours on one core; may be stopped and goes on
    python benchmarks/seeds.py --seeds 3 --minutes 20   # as many as there is time for
    python benchmarks/seeds.py --page                   # writes from what is there, runs nothing

Short schedule: 120 episodes of 401 states, 150 epochs, the rate halved after 20 epochs without progress (paper:
320 episodes, early stopping after a thousand epochs and more). Every seed splits, begins and shuffles anew on
the same episodes. `random` varies hatch, turns and start of the training paths. Writes docs/results/seeds.json,
.md and .png.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from laserloop.data import EnsembleSettings, run_ensemble
from laserloop.loop.case import LoopCase, keep_case
from laserloop.predict.networks import FitSettings, MsDeepONet, train
from laserloop.report.save import dump, save
from laserloop.versions import find_versions

ROOT = Path(__file__).parent.parent
RUNS, EPOCHS, HALVE, SEEDS = 120, 150, 20, 20
KINDS = ("base", "corner")
GEOMETRIES = ("fixed", "random")
PUBLISHED = {"base": 51.1, "corner": 1.4}  # K over 800 K at the diagonal's corner, without a margin
COLOURS = {"base": "#D55E00", "corner": "#0072B2"}
Row = dict[str, Any]


def main() -> None:
    """Train and run what is missing, then write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--minutes", type=float, default=1e6, help="start no training after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "seeds")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    file = options.results / "seeds.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []
    until = monotonic() + 60.0 * options.minutes
    if not options.page:
        for row in run_missing(rows, options, until):
            rows.append(row)
            save(file, dump({"versions": find_versions(), "schedule": tell_schedule(), "rows": rows}))
    if rows:
        draw(rows, options.results / "seeds.png")
        save(options.results / "seeds.md", write_page(rows).encode())


def tell_schedule() -> Row:
    """The short schedule in numbers."""
    return {"episodes": RUNS, "epochs": EPOCHS, "halve_after": HALVE, "plant": "paper", "process": "paper"}


def run_missing(rows: list[Row], options: argparse.Namespace, until: float) -> Iterator[Row]:
    """Seed by seed, every kind and geometry."""
    done = {(row["kind"], row["geometry"], row["seed"]) for row in rows}
    for seed in range(options.seeds):
        for geometry in GEOMETRIES:
            for kind in KINDS:
                if (kind, geometry, seed) not in done and monotonic() < until:
                    yield run_one(kind, geometry, seed, options.out)


def run_one(kind: str, geometry: str, seed: int, out: Path) -> Row:
    """One training, and its closed loop along the diagonal."""
    data = out / f"{kind}-{geometry}"
    settings = EnsembleSettings(kind=kind, runs=RUNS, geometry=geometry)
    run_ensemble(data, settings, workers=1)
    schedule = FitSettings(seed=seed, max_epochs=EPOCHS, patience=EPOCHS, halve_after=HALVE)
    folder = out / "models" / f"{kind}-{geometry}-{seed}"
    model = train(data, MsDeepONet(), schedule, folder)
    case = LoopCase(path="diagonal", controller="realtime", model=str(folder), plant="paper", delta_k=0.0)
    record = keep_case(case, out)
    print(f"{kind} {geometry} {seed}: {record['overshoot_k']:.1f} K over", flush=True)
    return {
        "kind": kind,
        "geometry": geometry,
        "seed": seed,
        "overshoot_k": record["overshoot_k"],
        "n_over": record["n_over"],
        "below_fraction": record["below_fraction"],
        "validation_rmse_k": model.provenance["metrics"]["validation_rmse_k"],
        "training": asdict(schedule),
    }


def pick(rows: list[Row], kind: str, geometry: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Overshoots, K."""
    found = [row["overshoot_k"] for row in rows if (row["kind"], row["geometry"]) == (kind, geometry)]
    return np.sort(np.array(found))


def draw(rows: list[Row], file: Path) -> None:
    """Every training as a dot, the paper's as a line."""
    figure, axes = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    places = [(kind, geometry) for kind in KINDS for geometry in GEOMETRIES]
    for place, (kind, geometry) in enumerate(places):
        over = pick(rows, kind, geometry)
        spread = np.random.default_rng(0).uniform(-0.15, 0.15, len(over))
        axes.plot(over, place + spread, "o", color=COLOURS[kind], alpha=0.75, ms=5)
        axes.plot([PUBLISHED[kind]] * 2, [place - 0.35, place + 0.35], color="k", lw=1.5)
        axes.annotate(f"paper {PUBLISHED[kind]} K", (PUBLISHED[kind], place + 0.36), fontsize=7, ha="center")
    axes.set_yticks(range(len(places)), [f"{kind}, {geometry} paths" for kind, geometry in places])
    axes.set(xlabel="over 800 K at the diagonal's corner, K", ylim=(-0.6, len(places) - 0.2))
    axes.set_title(
        f"Plant paper, process paper, no margin; {RUNS} episodes, {EPOCHS} epochs", fontsize=9, loc="left"
    )
    axes.grid(alpha=0.25, axis="x", lw=0.4)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def write_page(rows: list[Row]) -> str:
    """One figure, one table, one sentence."""
    lines = [
        "# How lucky is one training?",
        "",
        "Made by `python benchmarks/seeds.py`. Plant `paper`, process `paper`, the paper's network, cost and path, no margin;",
        f"short schedule of {RUNS} episodes and {EPOCHS} epochs, which is not the paper's. Each dot is one training seed on the same data.",
        "",
        "![Overshoot at the diagonal's corner](seeds.png)",
        "",
        "*Plant `paper`, process `paper`; `python benchmarks/seeds.py`.*",
        "",
        "| model | training paths | trainings | least | median | most | paper |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        for geometry in GEOMETRIES:
            over = pick(rows, kind, geometry)
            if len(over):
                lines.append(
                    f"| {kind} | {geometry} | {len(over)} | {over[0]:.1f} K | {np.median(over):.1f} K | "
                    f"{over[-1]:.1f} K | {PUBLISHED[kind]} K |"
                )
    base, corner = (pick(rows, kind, "fixed") for kind in KINDS)
    if len(base) and len(corner):
        lines += [
            "",
            f"With nothing changed but the seed, the base model passes 800 K by {base[0]:.1f} to {base[-1]:.1f} K "
            f"({len(base)} trainings) and the corner model by {corner[0]:.1f} to {corner[-1]:.1f} K ({len(corner)}).",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
