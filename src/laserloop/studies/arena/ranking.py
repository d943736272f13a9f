"""The ranking: rows of all runs, entrant by entrant, with intervals over paths, and the tables made of it.

The gap of a run is its RMS from the window's middle, the time of decisions charged, minus that of the
informed twin on the same task, K: the twin told what differs, with the same camera. Below zero somebody does
what a twin that knows all that cannot. RMS from the middle is what every planning entrant is asked for, and
it moves with every tick. Intervals are 95 %, by drawing paths with replacement (all levels of a path stay
together), with the same seed every time.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from laserloop.logs import can_parquet, render_rows
from laserloop.store import dump, save
from laserloop.studies.arena.benchmark import Benchmark, read_runs
from laserloop.studies.arena.entrants import find_entrant
from laserloop.studies.arena.scores import Row, clock_record, score_record

BOUND, TWIN = "twin-informed", "twin"
DRAWS, LEVEL = 2000, 0.95
FEWEST = 5  # paths, below which an interval would only look like one
MEANS = ("rms_k", "charged_rms_k", "outside_fraction", "below_fraction", "step_mean_w", "energy_mj")
WORST = ("above_k", "below_k", "excursion_k")
SUMS = ("outside", "ticks", "clipped", "refused")


def add_gaps(rows: Iterable[Row]) -> list[Row]:
    """The rows with the gap to the bound, and to the twin, where these ran on the same task."""
    rows = list(rows)
    rms = {(row["entrant"], row["task"]): row["charged_rms_k"] for row in rows}

    def beside(row: Row, name: str) -> float | None:
        other = rms.get((name, row["task"]))
        return None if other is None else float(row["charged_rms_k"] - other)

    return [row | {"gap_k": beside(row, BOUND), "to_twin_k": beside(row, TWIN)} for row in rows]


def summarise_runs(rows: Sequence[Row]) -> Row:
    """What all runs of one entrant come to."""
    worst = max(rows, key=lambda row: row["excursion_k"])
    return {
        "runs": len(rows),
        "paths": len({path_of(row) for row in rows}),
        **compare(rows, "gap_k", "gap"),
        **compare(rows, "to_twin_k", "to_twin"),
        **compare(rows, "charged_rms_k", "rms"),
        **{name: float(np.mean([row[name] or 0.0 for row in rows])) for name in MEANS},
        **{name: max(row[name] for row in rows) for name in WORST},
        **{name: sum(row[name] for row in rows) for name in SUMS},
        "completed": sum(row["completed"] for row in rows),
        "worst_task": worst["task"],
    }


def compare(rows: Sequence[Row], column: str, name: str) -> Row:
    """Mean, interval and worst of a difference, over the tasks where it is known."""
    known = [row for row in rows if row[column] is not None]
    if not known:
        return {f"{name}_{end}_k": None for end in ("mean", "low", "high", "worst")} | {f"{name}_runs": 0}
    values = [row[column] for row in known]
    low, high = draw_interval(values, [path_of(row) for row in known])
    return {
        f"{name}_mean_k": float(np.mean(values)),
        f"{name}_low_k": low,
        f"{name}_high_k": high,
        f"{name}_worst_k": float(max(values)),
        f"{name}_worst_task": known[int(np.argmax(values))]["task"],
        f"{name}_runs": len(known),
    }


def draw_interval(values: Sequence[float], groups: Sequence[str]) -> tuple[float | None, float | None]:
    """The bootstrap interval of a mean, of which the values of a group come together; a few have none."""
    gathered = defaultdict[str, list[float]](list)
    for value, group in zip(values, groups, strict=True):
        gathered[group].append(value)
    if len(gathered) < FEWEST:
        return None, None
    sums = np.array([sum(some) for some in gathered.values()])
    counts = np.array([len(some) for some in gathered.values()])
    drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, (50.0 * (1.0 - LEVEL), 50.0 * (1.0 + LEVEL)))
    return float(low), float(high)


def path_of(row: Mapping[str, Any]) -> str:
    """What is drawn when intervals are."""
    return f"{row['family']}:{row['seed']}"


def rank(rows: Iterable[Row]) -> dict[str, dict[str, Row]]:
    """Entrant → level, or all → what it comes to; the least mean gap first, unknown ones by RMS last."""
    rows = add_gaps(rows)
    by_name = defaultdict[str, list[Row]](list)
    for row in rows:
        by_name[row["entrant"]].append(row)
    levels = list(dict.fromkeys(row["level"] for row in rows))
    found = {
        name: {"all": summarise_runs(own)}
        | {
            level: summarise_runs(some)
            for level in levels
            if (some := [r for r in own if r["level"] == level])
        }
        for name, own in by_name.items()
    }

    def order(name: str) -> tuple[bool, float]:
        gap = found[name]["all"]["gap_mean_k"]
        return gap is None, found[name]["all"]["charged_rms_k"] if gap is None else gap

    return {name: found[name] for name in sorted(found, key=order)}


def time_all(clocks: Iterable[Row]) -> dict[str, Row]:
    """Entrant → how long its decisions took: of the median run; deadlines of all runs."""
    by_name = defaultdict[str, list[Row]](list)
    for row in clocks:
        by_name[row["entrant"]].append(row)
    return {
        name: {
            "decision_p50_us": float(np.median([row["decision_p50_us"] for row in some])),
            "decision_p999_us": float(np.median([row["decision_p999_us"] for row in some])),
            "missed_fraction": float(np.mean([row["missed_fraction"] for row in some])),
        }
        for name, some in by_name.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What a benchmark came to so far."""

    rows: Sequence[Row]  # a run each, with its gap and folder
    standings: dict[str, dict[str, Row]]  # entrant → level or all
    clocks: dict[str, Row]  # entrant → how long decisions took
    clock_rows: Sequence[Row]  # a run each
    declared: dict[str, Row]  # entrant → what it is, may know and cost


def tabulate(benchmark: Benchmark, out: Path) -> Tables:
    """Score every run of a benchmark that is on disk."""
    rows, clocks = list[Row](), list[Row]()
    for kept in read_runs(benchmark, out):
        rows.append(score_record(kept.record) | {"run": kept.folder})
        clocks.append(clock_record(kept.record))
    declared = {entrant["name"]: entrant for entrant in map(declare, benchmark.entrants)}
    return Tables(add_gaps(rows), rank(rows), time_all(clocks), clocks, declared)


def declare(name: str) -> Row:
    """What an entrant says of itself."""
    entrant = find_entrant(name)
    cost = entrant.cost
    return {
        "name": entrant.name,
        "about": entrant.about,
        "foresight": entrant.foresight,
        "camera": entrant.camera,
        "passes": entrant.passes,
        "bound": entrant.bound,
        "learns": entrant.learns,
        "core_minutes": cost.core_minutes,
        "plant_steps": cost.plant_steps,
    }


def save_tables(tables: Tables, benchmark: Benchmark, out: Path) -> list[Path]:
    """Write them: Parquet where its library is installed, otherwise CSV; returns the files."""
    ending = ".parquet" if can_parquet() else ".csv"
    standings = {"tasks": list(benchmark.tasks), "entrants": tables.declared, "standings": tables.standings}
    files = {
        f"scores{ending}": render_rows(tables.rows, ending),
        f"clocks{ending}": render_rows(tables.clock_rows, ending),
        "standings.json": dump(standings).encode(),
        "clocks.json": dump(tables.clocks).encode(),
    }
    for name, content in files.items():
        save(out / name, content)
    return [out / name for name in files]


def summarise(tables: Tables, benchmark: Benchmark) -> dict[str, Any]:
    """What `laserloop arena --json` writes: a line of numbers for each entrant."""
    entrants = {}
    for name, standing in tables.standings.items():
        every, declared = standing["all"], tables.declared[name]
        entrants[name] = {
            **{key: every[key] for key in ("gap_mean_k", "gap_low_k", "gap_high_k", "gap_worst_k")},
            **{
                key: every[key]
                for key in ("outside_fraction", "below_fraction", "rms_k", "charged_rms_k", "excursion_k")
            },
            **{key: every[key] for key in ("above_k", "below_k", "step_mean_w", "energy_mj")},
            **tables.clocks[name],
            **{key: declared[key] for key in ("core_minutes", "plant_steps", "foresight", "bound")},
            **{key: every[key] for key in ("clipped", "refused", "runs", "worst_task")},
        }
    return {"tasks": list(benchmark.tasks), "entrants": entrants}
