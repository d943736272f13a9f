"""Tables 2 and 3 of the paper with our closed loops, the margin, the gradient and the timing, beside theirs.

    python benchmarks/closed_loops.py [LABEL=FOLDER …]    # ten minutes on two cores

LABEL is a row of Table 3 ("N_h = 3", "SS-AR", …) or a further seed of a deployed model ("base seed 1",
"corner seed 2", …). Writes docs/results/closed_loop.{md,json} and its figures. Runs are kept under
out/closed_loop and found again.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from laserloop.control.gains import find_gains
from laserloop.control.problem import MpcProblem
from laserloop.episode import make_plant
from laserloop.loop.run import COMPLETED
from laserloop.paths import find_path
from laserloop.plant import Camera
from laserloop.report.run_figures import draw_residual_map, draw_run, draw_tick_times
from laserloop.report.save import save_figure
from laserloop.study.claim import format_rows
from laserloop.study.closed_loop import LoopCase
from laserloop.study.corner_details import DETAILS, run_details
from laserloop.study.gradient import compare_gradients
from laserloop.study.loop_tables import (
    DELTA_K,
    PATHS,
    Entry,
    format_table_2,
    format_table_3,
    list_table_2,
    list_table_3,
    run_entries,
)
from laserloop.study.published_loops import CORNER_FAILURE, DELTA, GRADIENT, TABLE_2, TIMING
from laserloop.study.questions import collect_questions
from laserloop.study.timing import time_forward, time_solvers
from laserloop.surrogates import find_model

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"

Record = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "models", nargs="*", metavar="LABEL=FOLDER", help="models of Table 3 and of more seeds"
    )
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "closed_loop")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    given = dict(text.rsplit("=", 1) for text in options.models)
    seeds = {label: folder for label, folder in given.items() if "seed" in label}
    rows = {"N_h = 5": "paper-corner"} | {label: f for label, f in given.items() if label not in seeds}
    rows = dict(sorted(rows.items(), key=lambda row: (row[0] == "SS-AR", len(row[0]), row[0])))

    def show(done: int, total: int) -> None:
        print(f"{done}/{total} runs", flush=True)

    def run(entries: list[Entry]) -> list[Record]:
        return run_entries(entries, options.cache, workers=options.workers, progress=show)

    table_2, table_3 = run(list_table_2()), run(list_table_3(rows))
    spread = run(list_seeds(seeds))
    plain = run(
        [Entry("plain", LoopCase(path="diagonal", controller="ipopt", model="paper-corner", graph="plain"))]
    )
    details = run_details({"baseline": "paper-base", "corner": "paper-corner"}, options.cache)
    gradient = measure_gradient(table_2)
    corner = find_model("paper-corner")
    questions = collect_questions(corner, MpcProblem(), ("diagonal",), 320)
    timing = {"forward": time_forward(corner), "solvers": time_solvers(corner, questions)}
    page = write_page(table_2, table_3, (spread, details), gradient, timing)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "closed_loop.md").write_text(page)
    content = {
        "table_2": [drop_series(r) for r in table_2],
        "table_3": [drop_series(r) for r in table_3],
        "seeds": [drop_series(r) for r in spread],
        "plain": [drop_series(r) for r in plain],
        "details": [drop_series(r) for r in details],
        "gradient": gradient,
        "timing": timing,
        "gains": find_gains("paper").to_json(),
    }
    (options.out / "closed_loop.json").write_text(json.dumps(content, indent=1))
    draw(table_2, plain[0], options.out)
    print(page)


def list_seeds(models: dict[str, str]) -> list[Entry]:
    """Base models without a margin on the diagonal, corner models with and without on every path."""
    entries = []
    for label, folder in models.items():
        deltas = (0.0,) if label.startswith("base") else (0.0, DELTA_K)
        for delta in deltas:
            entries += [
                Entry(
                    label + (" + δ" if delta else ""),
                    LoopCase(path=path, controller="ipopt", model=folder, delta_k=delta),
                )
                for path in PATHS
            ]
    return entries


def measure_gradient(table_2: list[Record]) -> dict[str, Any]:
    """Along the spiral, under the power that the closed loop of each model gave."""
    found = {}
    for label, name in (("baseline", "paper-base"), ("corner", "paper-corner")):
        record = next(r for r in table_2 if (r["label"], r["path"]) == (label, "spiral"))
        path = find_path("spiral", ticks=record["ticks"])
        found[name] = compare_gradients(
            find_model(name), make_plant("paper", path), Camera(), path, record["series"]["power_w"]
        )
    return found


def drop_series(record: Record) -> Record:
    return {key: value for key, value in record.items() if key != "series"}


def write_page(
    table_2: list[Record],
    table_3: list[Record],
    more: tuple[list[Record], list[Record]],
    gradient: Record,
    timing: Record,
) -> str:
    spread, details = more
    margins = {name: find_model(name).provenance["calibration"] for name in ("paper-base", "paper-corner")}
    everything = [*table_2, *table_3, *spread]
    solved = [r for r in everything if r["controller"] == "ipopt"]
    others = [r for r in solved if set(r["statuses"]) != {"solved"} or r["ending"] != COMPLETED]
    failure = next(r for r in table_2 if (r["label"], r["path"]) == ("baseline", "diagonal"))[
        "worst_residual"
    ]
    forward, solvers = timing["forward"], timing["solvers"]
    lines = [
        "# Closed loops: ours (the paper's)",
        "",
        "Made by `python benchmarks/closed_loops.py` with the models named below. 320 ticks on the `paper` plant, scored",
        "on the hottest node over ticks from 10 on, against 800 K whatever the margin. IPOPT with the folded graph.",
        "",
        "## Table 2",
        "",
        format_table_2(table_2),
        "The last four groups are not in the paper. `pi`, `constant` and `feedforward` were tuned on vertical, horizontal",
        "and spiral of this plant (src/laserloop/study/tuning.py); `oracle` plans on the plant itself.",
        "",
        *explain(table_2, spread),
        "## The corner failure",
        "",
        f"Baseline on the diagonal, largest residual: {failure['residual_k']:+.1f} K at ({failure['x_mm']:.2f}, "
        f"{failure['y_mm']:.2f}) mm, t = {failure['t_ms']:.2f} ms (the paper: {CORNER_FAILURE['residual_k']:+.1f} K at "
        f"({CORNER_FAILURE['x_mm']}, {CORNER_FAILURE['y_mm']}) mm, t ≈ {CORNER_FAILURE['t_ms']} ms).",
        "",
        "The same path, sampled in other ways that the paper need not have mentioned:",
        "",
        format_rows(
            (
                "corner",
                "model",
                "overshoot K",
                "n > 800",
                "residual RMS K",
                "largest residual K",
                "where mm",
                "when ms",
            ),
            [
                (
                    f"{r['detail']}: {DETAILS[r['detail']]}" if r["label"] == "baseline" else "",
                    r["label"],
                    f"{r['overshoot_k']:.1f}",
                    str(r["n_over"]),
                    f"{r['residual_rms_k']:.1f}",
                    f"{r['worst_residual']['residual_k']:+.1f}",
                    f"{r['worst_residual']['x_mm']:.2f}, {r['worst_residual']['y_mm']:.2f}",
                    f"{r['worst_residual']['t_ms']:.2f}",
                )
                for r in details
            ],
        ),
        "## Margin",
        "",
        format_rows(
            (
                "model",
                "one-sided δ, K",
                "symmetric δ, K",
                "windows",
                *(k for k in margins["paper-base"]["per_excitation"]),
            ),
            [
                (
                    name,
                    f"{m['delta_one_sided_k']:.1f}"
                    + (f" ({DELTA['one-sided']})" if "corner" in name else ""),
                    f"{m['delta_symmetric_k']:.1f}"
                    + (f" ({DELTA['symmetric']})" if "corner" in name else ""),
                    f"{m['windows']}",
                    *(f"{e['delta_one_sided_k']:.1f}" for e in m["per_excitation"].values()),
                )
                for name, m in margins.items()
            ],
        ),
        "95th percentile of the one-tick under-prediction on the held-out fifth of the windows.",
        "",
        "## Table 3",
        "",
        format_table_3(table_3),
        "## Seeds",
        "",
        format_table_2(spread) if spread else "None were given.\n",
        "Trained by the shorter schedule of ablations.md (200 epochs at most, halving after 20 stagnant ones).",
        "",
        "## Did IPOPT converge?",
        "",
        f"{len(solved)} runs, {sum(r['ticks'] for r in solved)} ticks; runs with another status than solved: {len(others)}.",
        *(f"- {r['label']}, {r['path']}: {r['statuses']}" for r in others),
        "",
        "## Gradient along the spiral",
        "",
        format_rows(
            ("model", "points", "same sign", "plant, mean K/W", "mean off K/W", "median off K/W"),
            [
                (
                    name,
                    str(g["points"]),
                    f"{100 * g['sign_agreement']:.1f} % (100 %)",
                    f"{g['typical_k_w']:.1f} (≈ {GRADIENT['typical_k_w']:g})",
                    f"{g['mean_k_w']:.2f} ({GRADIENT['mean_k_w']})",
                    f"{g['median_k_w']:.2f} ({GRADIENT['median_k_w']})",
                )
                for name, g in gradient.items()
            ],
        ),
        "## Timing",
        "",
        f"One forecast of five ticks: {forward['numpy_us']:.0f} µs in NumPy, {forward['numba_us']:.1f} µs compiled; five "
        f"plant steps {forward['plant_5_steps_ms']:.1f} ms: a ratio of {forward['ratio_numpy']:.0f} and "
        f"{forward['ratio_numba']:.0f} (the paper: {TIMING['forward_ms']} ms against {TIMING['plant_5_steps_ms']:g} ms, 1200). "
        "Our plant is two orders faster than theirs, so the same surrogate gains less on it.",
        "",
        format_rows(
            (
                "graph",
                "solve mean ms",
                "p95",
                "max",
                "whole tick, mean ms",
                "evaluations %",
                "IPOPT %",
                "iterations mean",
                "max",
            ),
            [
                (
                    name,
                    f"{s['solve_ms']['mean']:.1f} ({TIMING['solve_mean_ms']:g})",
                    f"{s['solve_ms']['p95']:.1f} ({TIMING['solve_p95_ms']})",
                    f"{s['solve_ms']['max']:.1f} ({TIMING['solve_max_ms']})",
                    f"{s['tick_ms']['mean']:.1f}",
                    f"{100 * s['evaluation_share']:.0f}",
                    f"{100 * s['solver_share']:.0f}",
                    f"{s['iterations']['mean']:.1f} ({TIMING['iterations_mean']:g})",
                    f"{s['iterations']['max']} ({TIMING['iterations_max']:g})",
                )
                for name, s in solvers.items()
            ],
        ),
        "A share of the tick: evaluating the network and its derivatives, IPOPT's own work; the rest is Python.",
        "",
    ]
    return "\n".join(lines)


def explain(table_2: list[Record], spread: list[Record]) -> list[str]:
    """What differs from the paper, with the figures that say so."""

    def over(rows: list[Record], label: str, path: str) -> list[float]:
        return [r["overshoot_k"] for r in rows if r["label"].startswith(label) and r["path"] == path]

    def tell(values: list[float]) -> str:
        return ", ".join(f"{value:.1f}" for value in values)

    kinds = ("baseline", "corner", "corner + δ")
    off = [abs(r["power_mean_w"] - TABLE_2[r["label"], r["path"]][6]) for r in table_2 if r["label"] in kinds]
    guarded = [r for r in [*table_2, *spread] if r["label"].endswith("+ δ")]
    broken = [r for r in guarded if r["n_over"]]
    base = over(table_2, "baseline", "diagonal") + over(spread, "base", "diagonal")
    corner = over(table_2, "corner", "diagonal")[:1] + [
        r["overshoot_k"]
        for r in spread
        if r["label"].startswith("corner") and not r["label"].endswith("δ") and r["path"] == "diagonal"
    ]
    return [
        "### Where we differ",
        "",
        f"- Mean power is within {max(off):.2f} W of the paper's on every row.",
        f"- The baseline fails on the unseen diagonal with every seed, overshoot {tell(base)} K, but by less than the paper's "
        "51 K. Neither the training length (full and short schedules above) nor the way the path meets its corners (table "
        "below) closes the gap; hatch, spiral and speed of the authors' training paths are not known.",
        f"- Corner data alone leave {tell(corner)} K (paper 1.4 K): fewer ticks, not always fewer kelvins.",
        f"- With δ, {len(broken)} of {len(guarded)} runs have a tick above 800 K: "
        + (
            ", ".join(f"{r['label']} {r['path']} {r['overshoot_k']:.1f} K ({r['n_over']})" for r in broken)
            or "none"
        )
        + ". A margin that covers 95 % of one-tick errors on held-out windows does not promise zero in 310 ticks: the paper's "
        "zero (799.5 K on its spiral) and our excess are the same margin at its limit.",
        "- The spiral's residual is larger than the paper's for both models. Part of it is the nodal T_max of this plant, which "
        "ripples by up to 35 K at constant power with the beam's place on the grid (plant_accuracy.md); how much depends on "
        "where a spiral runs, and the authors' is not known.",
        "- The oracle, which knows the plant, stays inside the window on every path with about the same power: nothing in the "
        "problem itself forces the other controllers out of it.",
        "",
    ]


def draw(table_2: list[Record], plain: Record, out: Path) -> None:
    """The closed-loop figures of the results section and the appendix."""
    folder = out / "figures"
    folder.mkdir(exist_ok=True)
    for record in table_2:
        if record["label"] in ("baseline", "corner", "corner + δ"):
            name = f"{record['label'].replace(' + δ', '-delta')}-{record['path']}"
            save_figure(folder / f"loop-{name}.png", draw_run(record))
            if record["path"] == "diagonal":
                save_figure(folder / f"residual-{name}.png", draw_residual_map(record))
    first = next(r for r in table_2 if (r["label"], r["path"]) == ("corner", "diagonal"))
    save_figure(folder / "tick-times.png", draw_tick_times([first, plain]))


if __name__ == "__main__":
    main()
