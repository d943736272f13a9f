"""The page about `identify` and `replay`, from docs/results/identify.json."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

LABELS = {
    "absorptivity": "absorptivity",
    "diffusivity_factor": "diffusivity, × the alloy's",
    "sigma_um": "beam σ, µm",
    "delay_ticks": "camera's delay, ticks",
}
WORDS = """## How to read it

- An interval of 95 % should miss one run in twenty; of 50 runs 0 to 6 misses are in keeping with that. The least share above
  is what to count on: residuals are the plant's, but the slopes behind an interval are the twin's, and where parameters are nearly
  tied (spirals) it comes out a little too narrow.
- Beam σ was not changed and not told either: it is fitted like the others.
- Paths that turn little (arcs, wide spirals) tell absorptivity and diffusivity badly apart: their intervals are the wide ones, and
  `not_separable` says so. Their combination, which is what a plan needs, is known much better.
- The plant of the fit is the plant of the log but for its parameters. A real plate differs in more than these: the residual is then
  correlated, which widens the intervals, but what no parameter stands for can still move a value beyond its interval."""


def write_page(file: Path) -> tuple[str, Figure]:
    """What was hidden and what was found."""
    found = json.loads(file.read_text(encoding="utf-8"))
    runs = found["runs"]
    codes = ", ".join(sorted({run["code"] for run in runs}))
    seconds = np.median([run["seconds"] for run in runs])
    head = f"""# Is what is hidden in a plant found in its log?

Made by `python benchmarks/identify.py` (measured with version {found["versions"]["laserloop"]}; code of the fits {codes}; {found["versions"]["processor"]}). Plant `graded`, process `paper`;
{len(runs)} closed loops of 320 ticks by the twin on paths of ten families drawn by seed. The plant absorbs 0.83 of the power (the
process says 1), has 8 % more diffusivity (less heat capacity), and a camera that is two ticks late with 5 K of noise in every pixel.
`laserloop identify LOG --process paper` is told none of it.

![Values and intervals of all runs](identify.png)

*Each line is a run: the value found and its 95 % interval; dashed: what was hidden.*
"""
    fit = f"""A fit takes {min(run["plant_runs"] for run in runs)} to {max(run["plant_runs"] for run in runs)} simulations of the log on the plant, {seconds:.0f} s here
in the median beside other work; {sum(run["converged"] for run in runs)} of {len(runs)} settled. Noise was found as {np.mean([run["noise_k"] for run in runs]):.2f} K in the mean."""
    parts = (head, write_coverage(found), fit, write_plans(found), write_replay(found), WORDS)
    return "\n\n".join(part.strip() for part in parts) + "\n", draw(found)


def write_coverage(found: dict[str, Any]) -> str:
    """How often the truth lay inside."""
    rows = [
        "| | hidden | found: mean ± standard deviation | half an interval, median | inside |",
        "|---|---|---|---|---|",
    ]
    for name, label in LABELS.items():
        true = found["hidden"][name]
        value, low, high = (
            np.array([run[name][key] for run in found["runs"]]) for key in ("value", "low", "high")
        )
        inside = int(((low <= true) & (true <= high)).sum())
        half = np.median(0.5 * (high - low))
        rows.append(
            f"| {label} | {true:g} | {value.mean():.4g} ± {value.std():.2g} | {half:.2g} | "
            f"{inside} of {len(value)} ({inside / len(value):.0%}) |"
        )
    return "\n".join(rows)


def write_plans(found: dict[str, Any]) -> str:
    """What it is good for."""
    plans = found["plans"]
    rows = ["| path | with the process believed, K | with the process found, K |", "|---|---|---|"]
    for plan in plans:
        ends = (f"{plan[k]['t_min_k']:.1f} – {plan[k]['t_max_k']:.1f}" for k in ("believed", "found"))
        rows.append(f"| `{plan['path']}` | {' | '.join(ends)} |")
    low = min(plan["found"]["t_min_k"] for plan in plans)
    high = max(plan["found"]["t_max_k"] for plan in plans)
    kept = sum(plan["found"]["t_min_k"] >= 760 and plan["found"]["t_max_k"] <= 800 for plan in plans)
    return (
        "## Planned without a camera, with the process found\n\n"
        f"Paths that were in no log, on the hidden plant, planned by the twin without a single measurement (window 760 to 800 K, "
        f"ticks that count). With the processes found: **{low:.1f} to {high:.1f} K**, {kept} of {len(plans)} paths in the window.\n\n"
        + "\n".join(rows)
    )


def write_replay(found: dict[str, Any]) -> str:
    """Broken frames."""
    told = found["replay"]
    put = told["put_in"]
    rows = [
        "| controller | readings | lost | NaN | frozen | would command, W | asked beyond the limits |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in ("twin", "pi", "feedforward"):
        one = told[name]
        frames = one["frames"]
        rows.append(
            f"| {name} | {frames['readings']} | {frames['lost']} | {frames['nan']} | {frames['frozen']} | "
            f"{one['commanded_min_w']:.2f} – {one['commanded_max_w']:.2f} | {one['asked_outside_limits']} ticks |"
        )
    return (
        "## Replay of a log with broken frames\n\n"
        f"A raster of {told['ticks']} ticks ({told['ticks'] * 1.25e-4:.1f} s), written as CSV with NIST's names. Put in: {put['lost']} readings lost "
        f"(1 %), {put['nan']} NaN (0.5 %), and one second in which the same reading came again ({put['frozen']} times that are neither "
        f"lost nor NaN). Limits of the laser: 0 to 20 W. Code {told['code']}.\n\n" + "\n".join(rows)
    )


def draw(found: dict[str, Any]) -> Figure:
    """Every run's values and intervals."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots(1, len(LABELS), sharey=True)
    for column, (name, label) in zip(axes, LABELS.items(), strict=True):
        true = found["hidden"][name]
        for k, run in enumerate(found["runs"]):
            one = run[name]
            colour = "#1f86c2" if one["low"] <= true <= one["high"] else "#9c3600"
            column.plot([one["low"], one["high"]], [k, k], color=colour, linewidth=1)
            column.plot(one["value"], k, ".", color=colour, markersize=3)
        column.axvline(true, color="#222b35", linestyle="--", linewidth=1)
        column.set_xlabel(label, fontsize="small")
        column.tick_params(labelsize="small")
    axes[0].set_ylabel("run")
    return figure
