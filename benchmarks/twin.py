"""How well does the physics twin hold its window, and where not?

    python benchmarks/twin.py                           # hours; may be stopped and goes on
    python benchmarks/twin.py unseen --paths 40         # one table, on the first 40 unseen paths
    python benchmarks/twin.py blind --lacking           # only what the table does not have yet, by whatever code
    python benchmarks/twin.py --page                    # writes from what is there, runs nothing

Runs are kept under --out and found again as long as the code is the same. Writes docs/results/twin/*.json, a
file for each table, and docs/results/twin.md from these. Rows that this code has not measured stay as they were;
delete a file to begin it anew.
"""

import argparse
import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from twin_page import write_page
from twin_trials import DISTURBED, EXACT, UNSEEN, Trial, list_trials

from laserloop.data.episode import find_turns
from laserloop.jobs import check_workers, open_cluster, share_out
from laserloop.loop.scenario import Scenario, keep_case
from laserloop.predict.twin.rollout import judge_reach
from laserloop.report.record import mark_judged
from laserloop.store import dump, has_case, save
from laserloop.versions import find_versions, hash_code

ROOT = Path(__file__).parent.parent
TABLES = ("unseen", "baselines", "disturbances", "alloys", "special", "blind")
Row = dict[str, Any]


def main() -> None:
    """Run what is missing, then write tables and page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all unless given")
    parser.add_argument("--paths", type=int, default=len(UNSEEN), help="of the unseen ones, in seed order")
    parser.add_argument("--rows", default="", help="only those whose name has this in it")
    parser.add_argument("--lacking", action="store_true", help="only those that the tables do not have yet")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e6, help="start no run after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "twin")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    tables = options.tables or TABLES
    if unknown := set(tables) - set(TABLES):
        parser.error(f"tables are {', '.join(TABLES)}, not {', '.join(sorted(unknown))}")
    few = set(UNSEEN[: options.paths])
    trials = [
        trial
        for trial in list_trials(options.out / "paths")
        if trial.table in tables and (trial.table not in ("unseen", "blind") or trial.case.path in few)
    ]
    trials = [trial for trial in trials if options.rows in trial.row]
    if options.lacking:
        known = {t: {name(r) for r in read_rows(options.results / "twin" / f"{t}.json")} for t in tables}
        trials = [trial for trial in trials if name(head(trial)) not in known[trial.table]]
    if not options.page:
        run_all(trials, options.out, check_workers(options.workers, None), options.minutes)
    for table in tables:
        rows = [row for trial in trials if trial.table == table and (row := tell(trial, options.out))]
        if rows:
            file = options.results / "twin" / f"{table}.json"
            found = {"versions": find_versions(), "rows": keep_widest(join(read_rows(file), rows))}
            save(file, dump(found))
    save(options.results / "twin.md", write_page(options.results))


def run_all(trials: Iterable[Trial], out: Path, workers: int, minutes: float) -> None:
    """Those that are not on disk and that the laser can reach, as many at a time as there are workers."""
    missing = [
        trial.case
        for trial in trials
        if not has_case(out / "runs", trial.case.settings()) and not find_reach(trial)
    ]
    print(f"{len(missing)} runs are missing", flush=True)
    until = monotonic() + 60.0 * minutes
    if workers == 1:
        for case in missing:
            keep(case, out, until)
        return
    with open_cluster(workers) as client:
        for n, _ in enumerate(share_out(client, keep, [(case, out, until) for case in missing]), start=1):
            if n % 20 == 0:
                print(f"{n} of {len(missing)}", flush=True)


def keep(case: Scenario, out: Path, until: float) -> None:
    """The run of a case on disk, unless the time is over."""
    if monotonic() < until:
        warnings.filterwarnings("ignore", "temperatures of .* the range of material")
        keep_case(case, out)


def read_rows(file: Path) -> list[Row]:
    """Rows of a table as it stands."""
    return json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []


def join(old: list[Row], new: list[Row]) -> list[Row]:
    """The new rows, and the old ones that were not measured anew; each names the code that measured it."""
    return list({name(row): row for row in (*old, *new)}.values())


def name(row: Row) -> str:
    """What tells a row from the others of its table."""
    keys = ("row", "path", "controller", "window_k", "speed_mm_s", "mismatch")
    return dump({key: row[key] for key in keys})


def find_reach(trial: Trial) -> str:
    """What is said before the start of a case that the laser cannot reach; nothing if it can."""
    if trial.table != "alloys":
        return ""
    case = trial.case
    return judge_reach(case.process, case.find_path().median_speed or case.process.speed) or ""


def head(trial: Trial) -> Row:
    """A trial's row before it was run."""
    case = trial.case
    return {
        "row": trial.row,
        "path": Path(case.path_name).name,
        "controller": case.controller,
        "window_k": list(case.process.window),
        "speed_mm_s": round(1e3 * case.process.speed, 3),
        "mismatch": dict(case.mismatch),
        "code": hash_code(),
    }


def tell(trial: Trial, out: Path) -> Row | None:
    """A trial's row; None if it was not run yet."""
    case, row = trial.case, head(trial)
    if told := find_reach(trial):
        return row | {"refused": told}
    if not has_case(out / "runs", case.settings()):
        return None
    return row | measure(keep_case(case, out))


def measure(record: Row) -> Row:
    """What is told of a run, over the ticks that count; RMS over those below the window, and what lies above."""
    series = {name: np.array(record["series"][name], dtype=float) for name in record["series"]}
    judged = mark_judged(record)
    T, (low, high) = series["t_true_k"][judged], record["window_k"]
    middle = 0.5 * (low + high)
    worst = int(np.flatnonzero(judged)[np.argmax(np.abs(T - middle))])
    return {
        "lowest_k": record["t_min_k"],
        "highest_k": record["t_max_k"],
        "rms_k": float(np.sqrt(np.mean((T - middle) ** 2))),
        "ticks": int(judged.sum()),
        "outside": int(np.count_nonzero((low > T) | (high < T))),
        "starts": record["starts"],
        "step_w": record["power_step_mean_w"],
        "residual_rms_k": record["residual_rms_k"],
        "ending": record["ending"],
        "worst": {"t_k": float(series["t_true_k"][worst]), "tick": worst} | locate(series, worst),
        "series": {
            name: np.round(series[name], 4).tolist() for name in ("t_s", "t_true_k", "power_w", "lit")
        },
    }


def locate(series: dict[str, Any], k: int) -> Row:
    """Where tick k is, and how many ticks ago the beam turned, came out of the dark or changed its speed."""
    x, y = series["x_mm"], series["y_mm"]
    hops = np.hypot(np.diff(x), np.diff(y))
    lit = series["lit"] > 0
    since = {
        "turn": find_turns(np.column_stack((x, y))) + 1,
        "dark": np.flatnonzero(~lit),
        "speed": np.flatnonzero((np.abs(np.diff(hops)) > 0.05 * hops[1:].max()) & lit[2:]) + 2,
    }
    ago = {name: int(k - at[at <= k].max()) for name, at in since.items() if (at <= k).any()}
    return {"x_mm": round(float(x[k]), 3), "y_mm": round(float(y[k]), 3), "since": ago}


def keep_widest(rows: list[Row]) -> list[Row]:
    """Rows without their series, but for the widest excursion of the twin in each row of the unseen paths."""
    for kind in {row["row"] for row in rows}:
        same = [row for row in rows if row["row"] == kind and "series" in row]
        drawn = same and kind in (EXACT, DISTURBED) and same[0]["controller"] == "twin"
        widest = max(same, key=reach_out) if drawn else None
        for row in same:
            if row is not widest:
                del row["series"]
    return rows


def reach_out(row: Row) -> float:
    """How far from the window's middle, K."""
    return abs(float(row["worst"]["t_k"]) - 0.5 * sum(row["window_k"]))


if __name__ == "__main__":
    main()
