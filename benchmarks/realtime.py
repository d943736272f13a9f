"""Real time: the compiled solver against IPOPT, in the closed loops of Table 2, and under deadlines.

    python benchmarks/realtime.py    # ten minutes; on a quiet machine

Writes docs/results/realtime.{md,json}. Runs are kept under out/realtime and found again, timings are not.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from laserloop.bench.mpc import INTERVAL, run_mpc_bench
from laserloop.study.claim import format_rows
from laserloop.study.loop_tables import list_table_2, run_entries
from laserloop.study.scenarios import list_scenarios, run_scenario

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"

Record = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=600)
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "realtime")
    parser.add_argument(
        "--loops", type=Path, default=ROOT / "out" / "closed_loop", help="cache of closed_loops.py"
    )
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    bench = run_mpc_bench(problems=options.problems, progress=show)
    rows = [entry for entry in list_table_2("ipopt") if entry.case.model is not None]
    reference = run_entries(rows, options.loops, workers=2)
    swapped = [replace(entry, case=replace(entry.case, controller="realtime")) for entry in rows]
    ours = run_entries(swapped, options.cache, workers=1)
    slow = tuple(1e-3 * t for t in reference[-1]["series"]["tick_ms"][1:])
    quick = tuple(1e-3 * t for t in ours[-1]["series"]["tick_ms"][1:])
    scenarios = []
    for scenario in list_scenarios(slow, quick):
        scenarios.append({"label": scenario.label, **run_scenario(scenario, options.cache)})
        show(len(scenarios), 13)
    page = write_page(bench, reference, ours, scenarios)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "realtime.md").write_text(page)
    content = {
        "bench": bench,
        "loops": [drop_series(r) for r in ours],
        "scenarios": [drop_series(r) for r in scenarios],
    }
    (options.out / "realtime.json").write_text(json.dumps(content, indent=1))
    print(page)


def show(done: int, total: int) -> None:
    if done == total or done % 50 == 0:
        print(f"{done}/{total}", flush=True)


def drop_series(record: Record) -> Record:
    return {key: value for key, value in record.items() if key != "series"}


def write_page(bench: Record, reference: list[Record], ours: list[Record], scenarios: list[Record]) -> str:
    solvers = {
        "reference": "IPOPT, the paper's graph",
        "folded": "IPOPT, folded graph",
        "numba": "compiled by numba, called from Python",
        "realtime": "exported C, called from Python (the default)",
        "exported_c": "exported C, the call alone",
    }
    base = bench["reference"]["median_us"]
    first, free = bench["first_move_difference_w"], bench["first_move_difference_slack_free_w"]
    late = [r["statuses"].get("deadline passed: previous plan shifted by one tick", 0) for r in scenarios]
    return "\n".join(
        [
            "# Real time: one tick inside its own 125 µs",
            "",
            "Made by `python benchmarks/realtime.py`. The same nonlinear program, the same network (`paper-corner`).",
            "",
            f"## {bench['problems']} problems, each put to every solver in turn, one process, one core",
            "",
            "Half of them from closed loops along three paths (heating up and corners included), half random states around",
            f"them. {bench['feasible']} have a plan below the ceiling, {bench['slack_free']} also one above the floor.",
            "",
            format_rows(
                ("solver", "median µs", "p99 µs", "p99.9 µs", "ratio of medians"),
                [
                    (
                        words,
                        *(
                            f"{bench[name][key]:.0f}" if bench[name][key] > 100 else f"{bench[name][key]:.1f}"
                            for key in ("median_us", "p99_us", "p999_us")
                        ),
                        f"{base / bench[name]['median_us']:.0f}",
                    )
                    for name, words in solvers.items()
                    if name in bench
                ],
            ),
            f"Answers of the fastest that took longer than {1e6 * INTERVAL:g} µs: {100 * bench['over_tick_fraction']:.2f} %, "
            "ticks hit by other processes included.",
            "",
            f"First move against IPOPT at a tolerance of 1e-10: p99 {first['p99']:.3f} W, largest {first['max']:.2f} W over all "
            f"feasible problems; p99 {free['p99']:.3f} W, largest {free['max']:.2f} W where the window can be kept. The problem is "
            "not convex: from a cold plate two solvers may stop at different plans. Largest excess over the ceiling: "
            f"{bench['over_ceiling_k']:.4f} K.",
            "",
            "Statuses: " + "; ".join(f"{name}: {found}" for name, found in bench["statuses"].items()) + ".",
            "",
            "## The closed loops of Table 2 with the compiled solver in IPOPT's place",
            "",
            format_rows(
                (
                    "model",
                    "path",
                    "overshoot K (IPOPT)",
                    "n > 800",
                    "mean P W",
                    "below %",
                    "tick median µs",
                    "p99 µs",
                ),
                [
                    (
                        r["label"],
                        r["path"],
                        f"{r['overshoot_k']:.2f} ({i['overshoot_k']:.2f})",
                        f"{r['n_over']} ({i['n_over']})",
                        f"{r['power_mean_w']:.3f} ({i['power_mean_w']:.3f})",
                        f"{100 * r['below_fraction']:.1f} ({100 * i['below_fraction']:.1f})",
                        f"{1e3 * r['tick_ms']['median']:.0f}",
                        f"{1e3 * r['tick_ms']['p99']:.0f}",
                    )
                    for r, i in zip(ours, reference, strict=True)
                ],
            ),
            "The whole tick: judging the image, sampling it, the solver, Python.",
            "",
            "## Deadlines and cameras, diagonal, corner + δ",
            "",
            format_rows(
                (
                    "scenario",
                    "late ticks",
                    "overshoot K",
                    "n > 800",
                    "below %",
                    "deepest K",
                    "residual RMS K",
                    "mean P W",
                ),
                [
                    (
                        r["label"],
                        str(n),
                        f"{r['overshoot_k']:.1f}",
                        str(r["n_over"]),
                        f"{100 * r['below_fraction']:.0f}",
                        f"{r['deepest_below_k']:.0f}",
                        "–" if r["residual_rms_k"] is None else f"{r['residual_rms_k']:.1f}",
                        f"{r['power_mean_w']:.2f}",
                    )
                    for r, n in zip(scenarios, late, strict=True)
                ],
            ),
            "A charged answer takes a time drawn from those measured in this run. Not compensated: an old image is taken for",
            "one of now.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
