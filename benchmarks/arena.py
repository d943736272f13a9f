"""Who is best? Entrants of the arena on held-out paths, ranked with the time of decisions charged.

    python benchmarks/arena.py --paths 12 --entrants twin pi     # may be stopped and goes on, path by path
    python benchmarks/arena.py --minutes 30 --workers 1          # as far as that goes
    python benchmarks/arena.py --page                            # writes from what is there, runs nothing

Runs are kept under --out. Writes docs/results/arena.json (one row per run) and arena.md; rows that were not
measured anew stay, and each names the code that measured it.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from page import format_rows

from laserloop.store import save
from laserloop.studies.arena.benchmark import DECISIONS, make_benchmark, read_runs, run_benchmark
from laserloop.studies.arena.entrants import ENTRANTS
from laserloop.studies.arena.ranking import BOUND, TWIN, draw_interval, path_of
from laserloop.studies.arena.scores import score_record
from laserloop.studies.arena.tasks import LEVELS, list_tasks
from laserloop.versions import find_versions, hash_loop

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
DIGITS = 6
SURE = 0.05  # of a family of claims
ALL = 14  # paths, up to which every sign pattern is tried
READINGS = {"with starts": "charged_rms_k", "without starts": "charged_settled_rms_k"}
BUYS = {  # what → (without, with)
    "the camera": ("twin-without-camera", "twin"),
    "preview": ("twin-without-preview", "twin"),
    "a model instead of feedback alone": ("pi", "twin"),
    "PI on top of feed-forward": ("feedforward-residual", "feedforward-pi"),
    "trial passes on top of the blind plan": ("twin-without-camera", "ilc"),
    "knowing what differs": ("twin", "twin-informed"),
}
Row = dict[str, Any]


def main() -> None:
    options = read_options()
    file = RESULTS / "arena.json"
    found = read(file)
    if not options.page:
        tasks = list(list_tasks(paths=options.paths, levels=options.levels))
        names = options.entrants or [entrant.name for entrant in ENTRANTS]
        benchmark, until = make_benchmark(tasks, names), monotonic() + 60.0 * options.minutes
        run_benchmark(benchmark, options.out, workers=options.workers, until=lambda: monotonic() > until)
        rows = {(row["task"], row["entrant"]): row for row in found["rows"]}
        for kept in read_runs(benchmark, options.out):
            row = score_record(kept.record) | {"code": hash_loop()}
            rows[row["task"], row["entrant"]] = row
        decisions = json.loads(DECISIONS.read_text(encoding="utf-8"))
        found = {"versions": find_versions(), "decisions": decisions, "rows": list(rows.values())}
        save(file, pack(found))
    save(RESULTS / "arena.md", write_page(read(file)))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=30)
    parser.add_argument("--levels", nargs="+", default=list(LEVELS))
    parser.add_argument("--entrants", nargs="+", default=[])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no run after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "arena")
    parser.add_argument("--page", action="store_true", help="run nothing")
    return parser.parse_args()


def read(file: Path) -> Row:
    """Rows as they were packed."""
    if not file.exists():
        return {"versions": {}, "decisions": {"decision_us": {}}, "rows": []}
    found: Row = json.loads(file.read_text(encoding="utf-8"))
    return found | {"rows": [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]}


def pack(found: Row) -> str:
    """A row a line, numbers to six digits."""
    columns = list(dict.fromkeys(name for row in found["rows"] for name in row))

    def tidy(value: Any) -> Any:
        return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value

    rows = ",\n".join(json.dumps([tidy(row.get(name)) for name in columns]) for row in found["rows"])
    head = json.dumps({"versions": found["versions"], "decisions": found["decisions"], "columns": columns})
    return f'{head[:-1]},\n"rows": [\n{rows}\n]}}\n'


def write_page(found: Row) -> str:
    """One table a level, what each thing buys, and which claims survive."""
    rows, decisions = found["rows"], found["decisions"]["decision_us"]
    by_level = {level: [row for row in rows if row["level"] == level] for level in LEVELS}
    tables = "\n".join(
        f"## {level.capitalize()}\n\n{tabulate(own, decisions)}" for level, own in by_level.items() if own
    )
    text = (Path(__file__).parent / "arena.md").read_text(encoding="utf-8")
    return text.format(
        processor=found["versions"].get("processor", ""),
        code=", ".join(sorted({row["code"] for row in rows})),
        runs=len(rows),
        paths=len({path_of(row) for row in rows}),
        tables=tables,
        buys=tabulate_buys(by_level),
        claims=tell_claims(by_level),
    )


def tabulate(rows: Sequence[Row], decisions: dict[str, float]) -> str:
    """Entrants of a level on the tasks that all of them have run, the least RMS with time charged first."""
    own = group(rows)
    common = set.intersection(*(set(some) for some in own.values()))
    bound = own.get(BOUND, {})
    lines = []
    for name, some in own.items():
        kept = [some[task] for task in sorted(common)]
        mean = {key: float(np.mean([row[key] for row in kept])) for key in ("rms_k", "settled_rms_k")}
        charged = [row["charged_rms_k"] for row in kept]
        low, high = draw_interval(charged, [path_of(row) for row in kept])
        gap = (
            np.mean([row["charged_rms_k"] - bound[row["task"]]["charged_rms_k"] for row in kept])
            if bound
            else 0
        )
        lines.append(
            (
                name + (" (bound)" if name == BOUND else ""),
                f"{np.mean(charged):.2f}" + ("" if low is None else f" ({low:.2f} to {high:.2f})"),
                f"{max(charged):.1f}",
                f"{gap:+.2f}",
                f"{mean['rms_k']:.2f}",
                f"{mean['settled_rms_k']:.2f}",
                f"{np.mean([row['charged_outside_fraction'] for row in kept]):.1%}",
                f"{decisions.get(name, np.nan):.0f}",
            )
        )
    heads = (
        "entrant",
        "RMS, K",
        "worst",
        "to the bound",
        "uncharged",
        "without starts",
        "outside",
        "decision, µs",
    )
    return format_rows(heads, sorted(lines, key=lambda line: float(line[1].split(" ")[0])))


def group(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    """Entrant → task → row."""
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        found[row["entrant"]][row["task"]] = row
    return found


def differ(own: dict[str, dict[str, Row]], one: str, other: str, key: str) -> np.ndarray[Any, Any]:
    """One minus the other on the tasks that both have run, K."""
    common = sorted(set(own.get(one, {})) & set(own.get(other, {})))
    return np.array([own[one][task][key] - own[other][task][key] for task in common])


def tabulate_buys(by_level: dict[str, list[Row]]) -> str:
    """RMS without minus with."""
    lines = []
    for what, (without, having) in BUYS.items():
        cells = []
        for rows in by_level.values():
            off = differ(group(rows), without, having, "charged_rms_k")
            cells.append(f"{off.mean():+.2f} ({len(off)})" if len(off) else "–")
        lines.append((what, *cells))
    return format_rows(("what", *by_level), lines)


def find_p(off: np.ndarray[Any, Any]) -> float:
    """Two-sided, of paired differences whose signs are as likely either way."""
    n, seen = len(off), abs(off.mean())
    if n <= ALL:
        signs = np.array(list(product((-1.0, 1.0), repeat=n)))
        return float(np.mean(np.abs(signs @ off / n) >= seen - 1e-12))
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(20_000, n))
    return float((1 + np.sum(np.abs(signs @ off / n) >= seen)) / 20_001)


def hold(p: Sequence[float]) -> list[bool]:
    """Which of a family's claims survive (Holm)."""
    order, kept = np.argsort(p), [False] * len(p)
    for rank, place in enumerate(order):
        if p[place] > SURE / (len(p) - rank):
            break
        kept[int(place)] = True
    return kept


def tell_claims(by_level: dict[str, list[Row]]) -> str:
    """Families: the twin against each contestant at a level, with starts and without."""
    lines = []
    for (reading, key), (level, rows) in product(READINGS.items(), by_level.items()):
        own = group(rows)
        names = [name for name in own if name not in (TWIN, BOUND)]
        off = {name: differ(own, name, TWIN, key) for name in names}
        off = {name: some for name, some in off.items() if len(some)}
        kept = hold([find_p(some) for some in off.values()])
        worse = [name for name, sure in zip(off, kept, strict=True) if sure and off[name].mean() > 0]
        better = [name for name, sure in zip(off, kept, strict=True) if sure and off[name].mean() < 0]
        paths = max((len(some) for some in off.values()), default=0)
        lines.append(
            (level, reading, str(paths), str(len(off)), ", ".join(worse) or "–", ", ".join(better) or "–")
        )
    return format_rows(("level", "scored", "paths", "claims", "worse than the twin", "better"), lines)


if __name__ == "__main__":
    main()
