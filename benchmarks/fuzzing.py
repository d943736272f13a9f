"""The loop of a fuzz: file after file by seed; what is done is kept, so that one that was stopped goes on."""

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import laserloop
from laserloop.bad_input import BadInput
from laserloop.store import dump, save
from laserloop.versions import find_versions, hash_source

CHUNK = 5000  # files between two savings
NOTHING = {"trips": 0, "wrong": 0, "malformed": 0, "refused": 0, "without_line": 0, "raised": 0}

Row = dict[str, Any]
Try = Callable[[int], str | None]


def fuzz(
    file: Path,
    name: str,
    count: int,
    rooms: tuple[str, ...],
    malformed: Try,
    *,
    round_trip: Try | None = None,
    trips: int = 0,
) -> Row:
    """`count` malformed files and, of their first seeds, `trips` round trips: into the row `name` of `file`.

    A row that was begun with other code in these rooms of the package is begun anew.
    """
    rows = {row["format"]: row for row in _load(file)}
    row, code = rows.get(name, {}), hash_source(Path(laserloop.__file__).parent, only=rooms)
    if row.get("code") != code:
        row = {"format": name, "code": code, **NOTHING, "worst_s": 0.0, "worst_seed": 0}
    rows[name] = row
    versions = find_versions()
    for seed in range(row["malformed"], count):
        if round_trip is not None and seed < trips:
            _count(row, round_trip(seed))
        word, spent = _time(malformed, seed)
        _count(row, word)
        if spent > row["worst_s"]:  # again: beside other work even a processor's time is no sure measure
            spent = min(spent, *(_time(malformed, seed)[1] for _ in range(2)))
            row["worst_s"], row["worst_seed"] = max((row["worst_s"], row["worst_seed"]), (spent, seed))
        row["malformed"] += 1
        if row["malformed"] % CHUNK == 0 or row["malformed"] == count:
            row["memory_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            save(file, dump({"versions": versions, "rows": list(rows.values())}))
            print(row, flush=True)
    return row


def judge(problem: Exception, names: tuple[str, ...], place: str) -> str | None:
    """A refusal must be one line, name its file and a place in it (a pattern); anything else is told here."""
    said = str(problem)
    if not isinstance(problem, BadInput) or "\n" in said.strip():
        print("no sentence:", type(problem).__name__, said, flush=True)
        return "raised"
    return "refused" if re.search(place, said) and any(name in said for name in names) else "without_line"


def _time(work: Try, seed: int) -> tuple[str | None, float]:
    began = process_time()
    word = work(seed)
    return word, process_time() - began


def _load(file: Path) -> list[Row]:
    return json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []


def _count(row: Row, word: str | None) -> None:
    if word is not None:
        row[word] += 1
