"""Who is best? Every entrant of the arena on held-out paths.

    python benchmarks/arena.py --paths 100                    # many hours; may be stopped and goes on
    python benchmarks/arena.py --paths 100 --entrants pi      # some entrants only
    python benchmarks/arena.py --minutes 30 --workers 1       # as far as that goes, path by path
    python benchmarks/arena.py --page                         # writes from what is there, runs nothing

Runs are kept under --out and found again as long as the code of the loop is the same. Writes
docs/results/arena.json (one row per run), arena.md and arena.png. What that file holds of this very code and
entrant is not run again, on whatever machine it was measured; other rows stay as they were until they are
measured anew, and each names the code that measured it. arena_further.png shows those who have run more paths
than everybody.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time, strftime
from typing import Any

from arena_coverage import cover_all
from arena_page import write_page
from arena_rows import choose, first, share_further, share_tasks

from laserloop.loop.scenario import TICKS
from laserloop.report.figures import save_figure
from laserloop.store import save
from laserloop.studies.arena.benchmark import (
    Benchmark,
    make_benchmark,
    name_run,
    read_runs,
    run_benchmark,
    settings_of,
)
from laserloop.studies.arena.entrants import find_entrant
from laserloop.studies.arena.leaderboard import draw_standings
from laserloop.studies.arena.ranking import declare, rank
from laserloop.studies.arena.scores import clock_record, score_record
from laserloop.studies.arena.tasks import FULL_PATHS, LEVELS, PROCESSES, find_task, list_tasks
from laserloop.studies.arena.training_set import EPISODES, record_lesson
from laserloop.versions import find_versions, hash_loop

ROOT = Path(__file__).parent.parent
DIGITS = 6
TIMED = range(0, 104, 13)  # lessons, one of each kind of power and all but two families
CLOCKED = ("decision_p50_us", "decision_p999_us", "missed_fraction", "cpu_s")
Row = dict[str, Any]


def main() -> None:
    options = read_options()
    file = options.results / "arena.json"
    tasks = list(
        list_tasks(
            paths=options.paths,
            levels=options.levels,
            processes=options.processes,
            split=options.split,
            ticks=options.ticks,
        )
    )
    old = read(file)
    if not options.page:
        contest = leave_known(make_benchmark(tasks, options.entrants), old["rows"])
        run(contest, options)
        whole = make_benchmark(tasks, options.entrants)
        new = join(old, list(collect(contest, options)))
        new["lessons_core_min"] = old.get("lessons_core_min") or time_lessons()
        save(file, pack(new | {"coverage": join_coverage(old, cover_all(read_runs(whole, options.out)))}))
    found = read(file)
    rows = first(choose(found["rows"]))
    for name, some in (("arena", share_tasks(rows)), ("arena_further", share_further(rows))):
        if some:
            save_figure(options.results / f"{name}.png", draw_standings(rank(some)))
    save(options.results / "arena.md", write_page(found))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=FULL_PATHS)
    parser.add_argument("--levels", nargs="+", default=list(LEVELS))
    parser.add_argument("--processes", nargs="+", default=list(PROCESSES[:1]))
    parser.add_argument("--split", default="held-out")
    parser.add_argument("--ticks", type=int, default=TICKS, help="fewer: other tasks, told apart on the page")
    parser.add_argument("--entrants", nargs="+", default=[])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no path after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "arena")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", action="store_true", help="run nothing")
    return parser.parse_args()


def run(contest: Benchmark, options: argparse.Namespace) -> None:
    """Path by path, all levels of it, so that whatever the time is enough for is nearly whole."""
    until = monotonic() + 60.0 * options.minutes

    def tell(done: int, total: int) -> None:
        if done % 50 == 0 or done == total:
            print(f"{strftime('%H:%M')}  {done} of {total} runs", flush=True)

    run_benchmark(
        contest, options.out, workers=options.workers, progress=tell, until=lambda: monotonic() > until
    )


def time_lessons() -> float:
    """Core minutes of all lessons, by some of them."""
    record_lesson(0)  # compiles
    began = process_time()
    for index in TIMED:
        record_lesson(index)
    return (process_time() - began) / len(TIMED) * EPISODES / 60.0


def leave_known(contest: Benchmark, rows: list[Row]) -> Benchmark:
    """Without the trials that this very code has measured before, wherever their runs are now."""
    known = {(row["task"], row["entrant"]): row.get("run") for row in rows}
    entrants = {name: find_entrant(name) for name in contest.entrants}
    done = (
        (task, name)
        for task, name in contest.trials
        if (folder := known.get((task, name)))
        and folder == name_run(settings_of(find_task(task), entrants[name]))
    )
    return replace(contest, but=frozenset(done))


def collect(contest: Benchmark, options: argparse.Namespace) -> Iterator[Row]:
    """The rows of all runs on disk."""
    for kept in read_runs(contest, options.out):
        clock = clock_record(kept.record)
        clocked = {name: clock[name] for name in CLOCKED}
        yield score_record(kept.record) | clocked | {"code": hash_loop(), "run": kept.folder}


def join(old: Row, new: list[Row]) -> Row:
    """The new rows, and the old ones that were not measured anew."""
    rows = {(row["task"], row["entrant"]): row for row in (*old["rows"], *new)}
    declared = old["entrants"] | {name: declare(name) for name in dict.fromkeys(r["entrant"] for r in new)}
    return {"versions": find_versions(), "entrants": declared, "rows": list(rows.values())}


def join_coverage(old: Row, new: list[Row]) -> list[Row]:
    """The new rows, and the old ones of more runs, or of entrants that did not run."""
    rows = {(row["entrant"], row["level"]): row for row in old.get("coverage", [])}
    for row in new:
        before = rows.get(key := (row["entrant"], row["level"]))
        if before is None or before["runs"] <= row["runs"]:
            rows[key] = row
    return list(rows.values())


def read(file: Path) -> Row:
    """Rows as they were packed."""
    if not file.exists():
        return {"versions": {}, "entrants": {}, "rows": []}
    found = json.loads(file.read_text(encoding="utf-8"))
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    return {**found, "rows": rows}


def pack(found: Row) -> str:
    """A row a line, numbers to six digits."""
    columns = list(dict.fromkeys(name for row in found["rows"] for name in row))

    def tidy(value: Any) -> Any:
        return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value

    rows = ",\n".join(json.dumps([tidy(row.get(name)) for name in columns]) for row in found["rows"])
    kept = {
        key: found[key] for key in ("versions", "lessons_core_min", "entrants", "coverage") if key in found
    }
    head = json.dumps(kept | {"columns": columns}, indent=1)
    return f'{head[:-2]},\n "rows": [\n{rows}\n]\n}}\n'


if __name__ == "__main__":
    main()
