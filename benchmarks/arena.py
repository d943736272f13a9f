"""Who is best? Every entrant of the arena on held-out paths.

    python benchmarks/arena.py --paths 100                    # many hours; may be stopped and goes on
    python benchmarks/arena.py --paths 100 --entrants pi      # some entrants only
    python benchmarks/arena.py --minutes 30 --workers 1       # as far as that goes, path by path
    python benchmarks/arena.py --page                         # writes from what is there, runs nothing

Runs are kept under --out and found again as long as the code of the loop is the same. Writes
docs/results/arena.json (one row per run), arena.md and arena.png. Rows that this code has not measured stay
as they were, each names the code that measured it; delete the file to begin anew.
"""

import argparse
import json
from pathlib import Path
from time import monotonic, process_time
from typing import Any

from arena_page import choose, write_page

from laserloop.arena.contest import hold, make_contest, read_runs
from laserloop.arena.figures import draw_standings
from laserloop.arena.levels import LEVELS
from laserloop.arena.scores import clock_record, score_record
from laserloop.arena.standings import rank
from laserloop.arena.tables import declare
from laserloop.arena.tasks import FULL_PATHS, PROCESSES, list_tasks
from laserloop.loop.case import TICKS
from laserloop.report.save import save, save_figure
from laserloop.versions import find_versions, hash_loop

ROOT = Path(__file__).parent.parent
DIGITS = 6
CLOCKED = ("decision_p50_us", "decision_p999_us", "missed_fraction")
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
    if not options.page:
        run(tasks, options)
        save(file, pack(join(read(file), list(collect(tasks, options)))))
    found = read(file)
    standings = rank(choose(found["rows"]))
    save_figure(options.results / "arena.png", draw_standings(standings))
    save(options.results / "arena.md", write_page(found, standings))


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


def run(tasks: list[Any], options: argparse.Namespace) -> None:
    """Path by path, all levels of it, so that whatever the time is enough for is whole."""
    until = monotonic() + 60.0 * options.minutes
    paths = list(dict.fromkeys(task.path for task in tasks))
    for path in paths:
        if monotonic() > until:
            return
        contest = make_contest([task for task in tasks if task.path == path], options.entrants)
        began = process_time()
        done = hold(contest, options.out, workers=options.workers)
        print(f"{path}: {done} runs, {process_time() - began:.0f} s of this process", flush=True)


def collect(tasks: list[Any], options: argparse.Namespace) -> Any:
    """The rows of all runs on disk."""
    for kept in read_runs(make_contest(tasks, options.entrants), options.out):
        clock = clock_record(kept.record)
        yield score_record(kept.record) | {name: clock[name] for name in CLOCKED} | {"code": hash_loop()}


def join(old: Row, new: list[Row]) -> Row:
    """The new rows, and the old ones that were not measured anew."""
    rows = {(row["task"], row["entrant"]): row for row in (*old["rows"], *new)}
    names = list(dict.fromkeys(row["entrant"] for row in rows.values()))
    declared = old["entrants"] | {name: declare(name) for name in names}
    return {"versions": find_versions(), "entrants": declared, "rows": list(rows.values())}


def read(file: Path) -> Row:
    """Rows as they were packed."""
    if not file.exists():
        return {"versions": {}, "entrants": {}, "rows": []}
    found = json.loads(file.read_text(encoding="utf-8"))
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    return {**found, "rows": rows}


def pack(found: Row) -> str:
    """A row a line, numbers to six digits."""
    columns = list(found["rows"][0]) if found["rows"] else []

    def tidy(value: Any) -> Any:
        return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value

    rows = ",\n".join(json.dumps([tidy(row[name]) for name in columns]) for row in found["rows"])
    head = json.dumps({key: found[key] for key in ("versions", "entrants")} | {"columns": columns}, indent=1)
    return f'{head[:-2]},\n "rows": [\n{rows}\n]\n}}\n'


if __name__ == "__main__":
    main()
