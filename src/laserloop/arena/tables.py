"""Tables of a contest, all from the runs on disk: a row per run, the standings, and the clocks apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laserloop.arena.contest import Contest, read_runs
from laserloop.arena.entrants import find_entrant
from laserloop.arena.scores import Row, clock_record, score_record
from laserloop.arena.standings import add_gaps, rank, time_all
from laserloop.logs.export import can_parquet, render_rows
from laserloop.report.save import dump, save


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What a contest came to so far."""

    rows: Sequence[Row]  # a run each, with its gap and folder
    standings: dict[str, dict[str, Row]]  # entrant → level or all
    clocks: dict[str, Row]  # entrant → how long decisions took
    clock_rows: Sequence[Row]  # a run each
    declared: dict[str, Row]  # entrant → what it is, may know and cost


def tabulate(contest: Contest, out: Path) -> Tables:
    """Score every run of a contest that is on disk."""
    rows, clocks = list[Row](), list[Row]()
    for kept in read_runs(contest, out):
        rows.append(score_record(kept.record) | {"run": kept.folder})
        clocks.append(clock_record(kept.record))
    declared = {entrant["name"]: entrant for entrant in map(declare, contest.entrants)}
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


def save_tables(tables: Tables, contest: Contest, out: Path) -> list[Path]:
    """Write them: Parquet where its library is installed, otherwise CSV; returns the files."""
    ending = ".parquet" if can_parquet() else ".csv"
    standings = {"tasks": list(contest.tasks), "entrants": tables.declared, "standings": tables.standings}
    files = {
        f"scores{ending}": render_rows(tables.rows, ending),
        f"clocks{ending}": render_rows(tables.clock_rows, ending),
        "standings.json": dump(standings).encode(),
        "clocks.json": dump(tables.clocks).encode(),
    }
    for name, content in files.items():
        save(out / name, content)
    return [out / name for name in files]


def summarise(tables: Tables, contest: Contest) -> dict[str, Any]:
    """What `laserloop arena --json` writes: a line of numbers for each entrant."""
    entrants = {}
    for name, standing in tables.standings.items():
        every, declared = standing["all"], tables.declared[name]
        entrants[name] = {
            **{key: every[key] for key in ("gap_mean_k", "gap_low_k", "gap_high_k", "gap_worst_k")},
            **{key: every[key] for key in ("outside_fraction", "below_fraction", "rms_k", "excursion_k")},
            **{key: every[key] for key in ("above_k", "below_k", "step_mean_w", "energy_mj")},
            **tables.clocks[name],
            **{key: declared[key] for key in ("core_minutes", "plant_steps", "foresight", "bound")},
            **{key: every[key] for key in ("clipped", "refused", "runs", "worst_task")},
        }
    return {"tasks": list(contest.tasks), "entrants": entrants}
