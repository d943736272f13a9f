"""What the template of each page is given, and tables that several pages have."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from laserloop.predict.training import FitSettings
from laserloop.studies.halilovic import published
from laserloop.studies.halilovic.cases import (
    ACCELERATION,
    GRADED,
    HORIZONS,
    PAPER,
    PATHS,
    RECIPES,
    SEEDS,
    SEEN,
    SHIPPED,
    STUDIED,
    UNSEEN,
)
from laserloop.studies.halilovic.check import FACTOR, STEADY, Check, Claim, is_near
from laserloop.studies.halilovic.claims import explain, list_checks
from laserloop.studies.halilovic.figures import LOOPS, SOLVERS, list_timed
from laserloop.studies.halilovic.measures import (
    COLUMNS,
    LINE_POWER,
    LINE_SETTLED,
    LINE_SPEED,
    LINE_TICKS,
    WHERE,
    explains,
    figures_of,
    find_best,
)
from laserloop.studies.halilovic.offline_claims import judge_ablations, judge_latency, judge_table_1
from laserloop.studies.halilovic.results import (
    BASE,
    CORNER,
    GUARDED,
    LABELS,
    Point,
    Record,
    Results,
    compare,
    index,
    measure_scales,
)

NOTHING = "–"
MARKS = {-2: "▼▼", -1: "▼", 0: "≈", 1: "▲", 2: "▲▲"}
RULES = (
    "A claim is **confirmed** if every sentence of it holds, **partly** confirmed if some do, and **not** if "
    "none does; each sentence is judged once, by the rule in its brackets, and the same figures count once. "
    "The paper's own figures obey every rule. A sentence whose runs are not there is not judged."
)

# field → head, form and step of comparison; absolute where a ratio says nothing (zeros, or near 14 W)
LOOP_COLUMNS: dict[str, tuple[str, str, float | None]] = {
    "overshoot_k": ("overshoot, K", ".1f", 2.0),
    "n_over": ("ticks over", "d", 2.0),
    "over_ms": ("ms over", ".2f", 0.25),
    "residual_rms_k": ("residual RMS, K", ".1f", None),
    "residual_max_k": ("largest, K", ".1f", None),
    "residual_mean_k": ("mean, K", "+.1f", 2.0),
    "power_mean_w": ("mean P, W", ".2f", 0.25),
    "power_step_mean_w": ("mean ΔP, W", ".2f", None),
}
TABLE_3_COLUMNS = ("highest, K", "overshoot, K", "ticks over", "below, %", "RMSE₁, K")
KINDS = ("base", "corner")
FAMILIES = {kind: [f"{kind}-nh5-seed{seed}" for seed in SEEDS] for kind in KINDS} | {
    f"corner, N_h = {n}": [f"corner-nh{n}", *(f"corner-nh{n}-seed{seed}" for seed in SEEDS[1:])]
    for n in HORIZONS
}
SHIPPED_MODELS = {f"paper-{kind}": f"paper-{kind}" for kind in KINDS}


def _pair(other: str) -> dict[str, str]:
    """Model → the paper's model that it stands beside: the first seed, and another training."""
    return {f"{kind}-{end}": f"paper-{kind}" for kind in KINDS for end in ("nh5-seed0", other)}


COMPARED = {
    "The schedule: short, and the full protocol": {f"{k}-nh5-seed0": f"paper-{k}" for k in KINDS}
    | SHIPPED_MODELS,
    "The episodes: those of the study, and as many others": _pair("other-data"),
    "The previews: of the nearest node, and between the nodes": _pair("bilinear"),
    "The split: by window as in the paper, and by episode": _pair("by-episode"),
    "Training shapes: fixed, and different in every episode": _pair("random"),
}


def beside(
    ours: float | None,
    paper: float | None = None,
    form: str = ".1f",
    step: float | None = None,
    spread: str = "",
) -> str:
    """Ours (the paper's) and the sign of the difference, compared as they are written.

    Near: within `step`, or within a ratio of 1.25; far: beyond twice that, or beyond 1.5.
    """
    text = NOTHING if ours is None else format(ours, form)
    if paper is None:
        return text + spread
    told = format(paper, form)
    mark = "" if ours is None else f" {MARKS[_drift(float(text), float(told), step)]}"
    return f"{text}{spread} ({told}){mark}"


def _drift(ours: float, paper: float, step: float | None) -> int:
    """From −2, far lower, to 2, far higher."""
    sign = 1 if ours > paper else -1
    if step is not None:
        apart = abs(ours - paper) / step - 1e-9
        return 0 if apart <= 1 else sign * (1 if apart <= 2 else 2)
    if ours == paper:
        return 0
    if min(ours, paper) <= 0:
        return 2 * sign
    ratio = max(ours, paper) / min(ours, paper)
    return 0 if ratio <= STEADY else sign * (1 if ratio <= FACTOR else 2)


def tabulate(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def tabulate_checks(checks: Iterable[Check]) -> str:
    """What the paper says with the rule it is judged by, its figures, ours, and whether ours obey."""
    rows = [(check.sentence, check.paper, check.ours, "yes" if check.holds else "**no**") for check in checks]
    return tabulate(("the paper says (rule)", "its figures", "ours", "holds"), rows)


def tabulate_loops(records: Iterable[Record]) -> str:
    """Closed loops as in Table 2; those that the paper has with its figures beside."""
    rows = []
    for record in records:
        key = (record["label"], record["path"])
        theirs = published.TABLE_2.get(key, (None,) * len(LOOP_COLUMNS))
        columns = zip(LOOP_COLUMNS.items(), theirs, strict=True)
        cells = [beside(record[name], paper, form, step) for (name, (_, form, step)), paper in columns]
        below = published.BELOW.get(key)
        share = beside(100 * record["below_fraction"], None if below is None else 100 * below, step=5.0)
        rows.append((*key, *cells, share))
    return tabulate(("controller", "path", *(head for head, *_ in LOOP_COLUMNS.values()), "below, %"), rows)


def tabulate_accuracy(rows: Iterable[Record], names: Mapping[str, str] = SHIPPED_MODELS) -> str:
    """Rows of Table 1; `names` says which of the paper's models a model stands beside."""
    lines = []
    for row in rows:
        if row["model"] in names:
            theirs = published.TABLE_1.get((row["path"], names[row["model"]]), (None,) * len(COLUMNS))
            cells = [beside(one, paper) for one, paper in zip(figures_of(row), theirs, strict=True)]
            steps = row["rmse_per_step_k"]
            place = f"{row['path']} ({WHERE[row['path']]})"
            lines.append((place, row["model"], *cells, f"{steps[0]:.1f} → {steps[-1]:.1f}"))
    return tabulate(("path", "model", *COLUMNS, "step 1 → last"), lines)


def show_table_1(results: Results) -> dict[str, Any]:
    """Ours over the paper's: each mean, and every figure beyond the factor that matters."""
    rows, means, beyond = results.table_1["rows"], [], []
    for row in rows:
        theirs = published.TABLE_1.get((row["path"], row["model"]))
        for column, one, paper in zip(COLUMNS, figures_of(row), theirs or (), strict=False):
            name = f"{row['path']} {row['model']}"
            if column == "mean":
                means.append(f"{name} {one / paper:.2f}")
            if not is_near(one, paper):
                beyond.append(f"{name} {column} {one / paper:.2f}")
    return {
        "rows": rows,
        "trained": {name: results.trainings[name] for name in SHIPPED_MODELS if name in results.trainings},
        "checks": judge_table_1(rows),
        "excitations": results.table_1["excitations"],
        "realisations": _count_realisations(rows),
        "means": means,
        "beyond": beyond,
    }


def _count_realisations(rows: Iterable[Record]) -> str:
    counts = sorted({row["realisations"] for row in rows})
    return f"{' or '.join(map(str, counts))} fresh realisation{'s' * (counts != [1])}"


def _show_closed_loop(results: Results) -> dict[str, Any]:
    loops, corners = results.loops, results.rows("corners")
    best = find_best(corners) if corners else {}
    seeds, runs = results.rows("seeds"), results.ipopt_runs
    first = next(iter(loops.values()))
    graphs = {"ipopt": "IPOPT with the folded graph", "ipopt-plain": "IPOPT with the paper's graph"}
    base_over, corner_over = (_list_overshoots(results, *one) for one in ((BASE, "base"), (CORNER, CORNER)))
    paper_over = published.TABLE_2[BASE, "diagonal"][0]
    guarded = [r for r in [*loops.values(), *seeds] if r["label"].endswith("+ δ")]
    spirals = [loops[label, "spiral"] for label in (BASE, CORNER) if (label, "spiral") in loops]
    cells = results.plant["plants"][PAPER].values() if results.plant else []
    return {
        "first": first,
        "solver": graphs.get(first["controller"], first["controller"]),
        "loops": list(loops.values()),
        "others": results.others,
        "off": max(abs(r["power_mean_w"] - published.TABLE_2[key][6]) for key, r in loops.items()),
        "base": loops.get((BASE, "diagonal")),
        "corner": loops.get((CORNER, "diagonal")),
        "base_over": base_over,
        "base_near": any(over > 0 and is_near(over, paper_over) for over in base_over),
        "corner_over": corner_over,
        "paper_over": paper_over,
        "corners": corners,
        "best": best,
        "best_explains": bool(best) and explains(best),
        "variants": len({row["variant"] for row in corners}),
        "acceleration": ACCELERATION,
        "guarded": guarded,
        "broken": [r for r in guarded if r["n_over"]],
        "larger": [
            r["label"]
            for r in spirals
            if (r["residual_rms_k"] or 0) > published.TABLE_2[r["label"], "spiral"][3]
        ],
        "ripple": max((float(cell["node_ripple_k"]) for cell in cells), default=None),
        "oracles": [r for r in results.others if r["label"] == "oracle"],
        "table_3": _list_table_3(results),
        "seeds": seeds,
        "epochs": results.ablations.get("schedule", {}).get("max_epochs"),
        "ipopt_runs": runs,
        "unsolved": [r for r in runs if set(r["statuses"]) != {"solved"} or r["ending"] != "path completed"],
        "gradient": results.closed_loop.get("gradient"),
        "swapped": [(r, loops[key]) for key, r in index(results.rows("realtime")).items() if key in loops],
        "pictures": LOOPS,
    }


def _list_overshoots(results: Results, label: str, seeds: str) -> list[float]:
    """Without a margin on the diagonal: the deployed model, then other seeds."""
    chosen = [
        r for r in results.rows("seeds") if r["label"].startswith(f"{seeds} ") and r["path"] == "diagonal"
    ]
    deployed = [r for key, r in results.loops.items() if key == (label, "diagonal")]
    return [r["overshoot_k"] for r in [*deployed, *chosen] if not r["label"].endswith("δ")]


def _list_table_3(results: Results) -> list[Record]:
    """Its rows, each with the one-tick residuals of all seeds."""
    usual = [r for r in results.rows("seeds") if r["label"] in ("corner seed 1", "corner seed 2")]
    again = results.rows("horizon_seeds") + [
        {**r, "label": r["label"].replace("corner", "N_h = 5")} for r in usual
    ]
    rows: list[Record] = []
    for row in results.rows("table_3"):
        key = (row["label"], row["path"])
        same = [r["residual_rms_k"] for r in again if (r["label"].split(" seed")[0], r["path"]) == key]
        rows.append({**row, "all_rms_k": [row["residual_rms_k"], *same]})
    return rows


def _read_series(record: Record, name: str) -> Any:
    return np.array(record["series"][name], dtype=np.float64)[record["settled_from"] :]


def mean_residual(record: Record) -> float | None:
    """Of its size over the ticks that count, K; None for a run that was not kept tick by tick."""
    if "series" not in record:
        return None
    return float(np.nanmean(np.abs(_read_series(record, "t_predicted_k") - _read_series(record, "t_true_k"))))


def largest_move(record: Record) -> float | None:
    """Of the power in a tick, W."""
    if "series" not in record:
        return None
    return float(np.abs(np.diff(_read_series(record, "power_w"))).max(initial=0.0))


def _show_calibration(results: Results) -> dict[str, Any]:
    margins = results.calibration
    quantiles = sorted({one["quantile"] for one in margins.values()})
    return {
        "margins": margins,
        "kinds": list(dict.fromkeys(kind for one in margins.values() for kind in one["per_excitation"])),
        "quantiles": " and ".join(f"{100 * q:g} %" for q in quantiles),
        "applied": results.closed_loop.get("delta_k"),
    }


def _show_ablations(results: Results) -> dict[str, Any]:
    found = results.ablations
    rows, points = found["rows"], [Point(**point) for point in found["points"]]
    still = {row["model"]: row for row in rows if row["noise_k"] == 0.0}
    rollouts = found.get("rollouts", [])
    steps = published.SS_AR_STEPS, published.ONE_SHOT_STEPS
    return {
        "realisations": _count_realisations(score for row in rows for score in row["scores"].values()),
        "schedule": {"schedule": "plateau", **found["schedule"]},
        "protocol": FitSettings(),
        "missing": [recipe.name for recipe in RECIPES if recipe.name not in {row["model"] for row in rows}],
        "checks": judge_ablations(points),
        "points": points,
        "differences": explain_differences(points, rows),
        "steps_published": {
            "SS-AR": f"{steps[0][0]:g} → … → {steps[0][1]:g}",
            "one-shot": f"≈ {steps[1]:g}, flat",
        },
        "rollouts": rollouts,
        "lengths": list(dict.fromkeys(n for one in rollouts for rms in one["rmse_k"].values() for n in rms)),
        "families": list_families(still),
        "compared": {
            title: tabulate_accuracy(
                [{"model": n, **still[n]["scores"][path]} for path in PATHS for n in names], names
            )
            for title, names in COMPARED.items()
            if set(still) >= set(names)
        },
        "trainings": results.trainings,
    }


def explain_differences(points: Sequence[Point], rows: Iterable[Record]) -> list[dict[str, Any]]:
    """Those that matter, each with what else moves an error, but by less than half of the difference."""
    scales = measure_scales([dict(row) for row in rows], FAMILIES["corner"], (STUDIED, SHIPPED))
    found = []
    for one in compare(points):
        if one.matters:
            half = abs(one.ours - one.paper) / 2
            small = [f"{what} ({k:.1f} K)" for what, k in scales[one.where].items() if k < half]
            found.append({**asdict(one), "ratio": one.ratio, "excluded": small})
    return found


def list_families(
    still: Mapping[str, Record], families: Mapping[str, Sequence[str]] = FAMILIES
) -> list[tuple[str, int, list[str]]]:
    """Each path's RMSE, mean ± standard deviation over the models of a family of two or more."""
    found = []
    for family, names in families.items():
        there = [still[name] for name in names if name in still]
        if len(there) > 1:
            errors = [[row["scores"][path]["rmse_mean_k"] for row in there] for path in (*SEEN, UNSEEN)]
            errors.append([row["seen_k"] for row in there])
            cells = [f"{np.mean(some):.2f} ± {np.std(some, ddof=1):.2f}" for some in errors]
            found.append((family, len(there), cells))
    return found


def _show_previews(results: Results) -> dict[str, Any]:
    """Every figure and sentence at the nearest node and, of version 0.2.0, bilinearly."""
    before, ours = read_bilinear(), {} if results.bilinear else collect_figures(results)
    if not any(ours.values()):
        return {}
    paper, checks, changed = collect_paper(), [], 0
    for check in list_checks(results):
        told, held = before["sentences"].get(check.key, (NOTHING, None))
        changed += held is not None and held != check.holds
        checks.append((check, told, held))
    sections = {}
    for section, figures in before["figures"].items():
        columns = paper[section], ours[section], figures
        sections[section] = [
            (name, [column.get(name) for column in columns]) for name in {**figures, **ours[section]}
        ]
    return {"version": before["version"], "checks": checks, "changed": changed, "sections": sections}


def collect_figures(results: Results) -> dict[str, dict[str, float]]:
    """All figures of the tables and of the ablations, those that are there: "row: column" → value."""
    sections = ("Table 1", "δ", "Table 2", "Table 3", "Ablations")
    found: dict[str, dict[str, float]] = {section: {} for section in sections}
    for row in results.table_1.get("rows", []):
        for column, value in zip(COLUMNS, figures_of(row), strict=True):
            found["Table 1"][f"{row['path']}, {row['model']}: {column}"] = value
    if "paper-corner" in results.calibration:
        margin = results.calibration["paper-corner"]
        found["δ"] = {
            f"corner: {name}": margin[f"delta_{name.replace('-', '_')}_k"] for name in published.DELTA
        }
    for (label, path), run in results.loops.items():
        for name, (head, *_) in LOOP_COLUMNS.items():
            found["Table 2"][f"{label}, {path}: {head}"] = run[name]
        found["Table 2"][f"{label}, {path}: below, %"] = 100 * run["below_fraction"]
    for run in results.rows("table_3"):
        figures = run["t_max_k"], run["overshoot_k"], run["n_over"], 100 * run["below_fraction"]
        for head, value in zip(TABLE_3_COLUMNS, (*figures, run["residual_rms_k"]), strict=True):
            found["Table 3"][f"{run['label']}, {run['path']}: {head}"] = value
    for point in results.ablations.get("points", []):
        for where in ("seen", "unseen"):
            found["Ablations"][f"{point['axis']} {point['value']}: {where}"] = point[where]
    return {
        section: {name: round(value, 3) for name, value in figures.items() if value is not None}
        for section, figures in found.items()
    }


def collect_paper() -> dict[str, dict[str, float]]:
    """The same of the paper, as far as it gives them."""
    found: dict[str, dict[str, float]] = {section: {} for section in ("Table 1", "Table 2", "Table 3")}
    for (path, model), row in published.TABLE_1.items():
        for column, value in zip(COLUMNS, row, strict=True):
            found["Table 1"][f"{path}, {model}: {column}"] = value
    for (label, path), figures in published.TABLE_2.items():
        for (head, *_), value in zip(LOOP_COLUMNS.values(), figures, strict=True):
            found["Table 2"][f"{label}, {path}: {head}"] = value
    for (label, path), share in published.BELOW.items():
        found["Table 2"][f"{label}, {path}: below, %"] = 100 * share
    for (label, path), three in published.TABLE_3.items():
        for head, value in zip(TABLE_3_COLUMNS, (*three[:3], 100 * three[3], three[4]), strict=True):
            found["Table 3"][f"{label}, {path}: {head}"] = value
    found["δ"] = {f"corner: {name}": value for name, value in published.DELTA.items()}
    found["Ablations"] = {
        f"{axis} {value}: {where}": error
        for (axis, value), errors in published.ABLATIONS.items()
        for where, error in zip(("seen", "unseen"), errors, strict=True)
        if error is not None
    }
    return found


@cache
def read_bilinear() -> dict[str, Any]:
    """Figures and sentences with bilinear previews, by the same protocol: those of version 0.2.0."""
    text = files("laserloop.studies.halilovic").joinpath("bilinear.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _show_plant(results: Results) -> dict[str, Any]:
    reference = results.plant["reference"]
    return {
        "grid": describe_grid(results.plant),
        "reference": reference,
        "plants": results.plant["plants"],
        "parts": [key.split("_")[2] for key in next(iter(reference.values())) if key.startswith("divided")],
        "power": LINE_POWER,
        "speed": LINE_SPEED,
        "settled": LINE_SETTLED,
        "ticks": LINE_TICKS,
    }


def describe_grid(found: Record) -> str:
    """What the paper's grid does to T_max, and what the graded one does."""
    paper, graded = found["plants"][PAPER].values(), found["plants"][GRADED].values()
    bias = [-cell["node_bias_k"] for cell in paper]
    ripple = max(cell["node_ripple_k"] for cell in paper)
    off, still = (max(abs(cell[f"peak_{name}_k"]) for cell in graded) for name in ("bias", "ripple"))
    return (
        f"read at its nodes, the paper's plant is {min(bias):.0f} to {max(bias):.0f} K too cold and ripples "
        f"by up to {ripple:.0f} K at constant power; the graded plant is within {off:.1f} K and ripples by "
        f"at most {still:.2f} K."
    )


def _show_timing(results: Results) -> dict[str, Any]:
    timing = results.timing
    bench, latency = timing.get("bench", {}), timing.get("latency", {})
    return {
        "bench": bench,
        "solvers": {name: words for name, words in SOLVERS.items() if name in bench},
        "timed": list_timed(timing),
        "scenarios": timing.get("scenarios", []),
        "forward": timing.get("forward"),
        "graphs": timing.get("solvers"),
        "table_3": [run for run in timing.get("loops", []) if run["table"] == "table_3"],
        "latency": latency,
        "checks": judge_latency(latency),
    }


def _show_stages(results: Results) -> dict[str, Any]:
    return {name: getattr(results, name) for name in ("stages", "settings", "ensembles", "trainings")}


def show_claims(results: Results, claims: Sequence[Claim]) -> dict[str, Any]:
    """How many sentences hold; those that do not with a measured cause, then those without one."""
    checks = [check for claim in claims for check in claim.checks]
    told = [(check, explain(check.key, results)) for check in checks if not check.holds]
    return {
        "claims": claims,
        "headline": write_headline(claims),
        "rules": RULES,
        "checks_made": len(checks),
        "held": sum(check.holds for check in checks),
        "explained": [(check, why) for check, why in told if why],
        "unexplained": [check for check, why in told if not why],
    }


def write_headline(claims: Sequence[Claim]) -> str:
    """How many of the paper's claims came out how."""
    words = [claim.verdict for claim in claims]
    confirmed, unjudged = words.count("confirmed"), words.count("not judged")
    told = [
        f"{confirmed} {'is' if confirmed == 1 else 'are'} confirmed",
        *(f"{words.count(word)} {word}" for word in ("partly", "not")),
        *([f"{unjudged} not judged yet"] if unjudged else []),
    ]
    return f"Of the paper's {len(claims)} claims, {_join(told)}"


def show_story(results: Results) -> dict[str, Any]:
    """Of five sentences, true for whatever figures came; one whose stage was not run is left out."""
    base, corner, guarded = (results.loops.get((label, "diagonal")) for label in LABELS)
    bench = results.timing.get("bench", {})
    rank = [check.holds for check in list_checks(results) if check.key == "finding.rank"]
    return {
        "parts": _count_work(results),
        "base": base,
        "corner": corner,
        "guarded": guarded,
        "offline": [row["rmse_mean_k"] for row in results.offline("diagonal")],
        "misleading": any(rank),
        "broken": [r for r in results.loops.values() if r["label"] == GUARDED and r["n_over"]],
        "grid": describe_grid(results.plant) if results.plant else "",
        "slow": bench.get("reference"),
        "fast": bench.get("exported_c") if "reference" in bench else None,
    }


def _count_work(results: Results) -> str:
    """How many episodes, networks and loops; the same run may stand in two tables."""
    names = ("table_3", "horizon_seeds", "seeds", "corners", "realtime")
    runs = [*results.loops.values(), *results.others, *(r for name in names for r in results.rows(name))]
    kinds = {json.dumps({k: v for k, v in r.items() if k not in ("label", "series")}) for r in runs}
    again = [run for run in results.timing.get("loops", []) if run["table"] == "other_graph"]
    counts = {
        "simulated episodes": sum(one["episodes"] for one in results.ensembles.values()),
        "trained networks": len(results.trainings),
        "closed loops": len(kinds) + len(again),
    }
    return _join([f"{count} {words}" for words, count in counts.items() if count])


def _join(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


PAGES: dict[str, Callable[[Results], dict[str, Any]]] = {  # name → what its template is given, if it was run
    "table_1": lambda results: show_table_1(results) if results.table_1 else {},
    "closed_loop": lambda results: _show_closed_loop(results) if results.loops else {},
    "calibration": lambda results: _show_calibration(results) if results.calibration else {},
    "ablations": lambda results: _show_ablations(results) if results.ablations else {},
    "previews": _show_previews,
    "plant": lambda results: _show_plant(results) if results.plant else {},
    "timing": lambda results: _show_timing(results) if results.timing else {},
    "stages": _show_stages,
}
WITHOUT_MODELS = ("plant", "stages", "previews")  # pages that say nothing of a model, or say how it sees
