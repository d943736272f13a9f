"""The shelf: which files of a folder are runs, and what the page is told about each."""

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from laserloop.report.run_record import find_troubles, name_model, name_runs

LARGEST = 50_000_000  # bytes; a run of 100,000 ticks has some 20 million
STORES = ("zarr.json", "training.safetensors")  # folders that hold one of these hold no runs
COLUMNS = ("t_s", "x_mm", "y_mm", "power_w")  # alike in `control --json` and `simulate --json`
OWN = {"paper": "t_max_k", "graded": "t_peak_k"}  # the plant's own T_max, of `simulate --json`
OPTIONAL = {"predicted_k": "t_predicted_k", "tick_ms": "tick_ms"}
SCORES = ("settled_from", "n_over", "overshoot_k", "below_fraction", "power_mean_w")

Shown = dict[str, Any]  # a run as the page reads it


@dataclass(slots=True)
class Shelf:
    """The runs below a folder; looked at again, it reads only what has changed."""

    root: Path
    runs: dict[str, Shown] = field(default_factory=dict)  # by names that fit into an address
    _known: dict[Path, tuple[str, Shown | None]] = field(default_factory=dict)

    def look(self) -> dict[str, Shown]:
        """Every run that is there now, in the order of their files."""
        known, runs = {}, {}
        for file in _walk(self.root):
            try:
                state = file.stat()
            except OSError:  # gone meanwhile
                continue
            if not stat.S_ISREG(state.st_mode):  # a pipe would keep us waiting
                continue
            stamp = f"{state.st_mtime_ns:x}-{state.st_size:x}"
            before = self._known.get(file)
            known[file] = before if before is not None and before[0] == stamp else (stamp, read_run(file))
            shown = known[file][1]
            if shown is not None:
                place = os.fsencode(file.relative_to(self.root))
                name = hashlib.sha256(place).hexdigest()[:12]
                runs[name] = {"file": place.decode(errors="replace"), "stamp": stamp} | shown
        self._known, self.runs = known, runs
        return runs

    def list(self) -> list[Shown]:
        """All runs without their series."""
        return [
            {"id": name} | {key: value for key, value in shown.items() if key != "series"}
            for name, shown in self.runs.items()
        ]


def read_run(file: Path) -> Shown | None:
    """The run in a file, or None if there is none: other JSON is nobody's fault."""
    try:
        if file.stat().st_size > LARGEST:
            return None
        text = file.read_bytes()
        if b'"power_w"' not in text:
            return None
        return show_run(json.loads(text))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def show_run(record: Mapping[str, Any]) -> Shown:
    """What the page is told: the series in its own names, and the scores if the loop was closed."""
    closed = "series" in record
    table = record["series"] if closed else record
    own = "t_true_k" if closed else OWN.get(_word(record.get("plant")), "t_max_k")
    series = {name: _numbers(table[name]) for name in COLUMNS} | {"t_k": _numbers(table[own])}
    ticks = len(series["t_s"])
    if ticks == 0 or {len(column) for column in series.values()} != {ticks}:
        raise ValueError("columns of a run must be equally long")
    for name in ("t_s", "x_mm", "y_mm"):
        if None in series[name]:
            raise ValueError("time and place must be numbers")
    for name, column in OPTIONAL.items():
        found = _numbers(table.get(column, ()))
        if len(found) == ticks and any(value is not None for value in found):
            series[name] = found
    first = int(record.get("settled_from", 0))
    masks = {"lit": _booleans(table.get("lit", [True] * ticks), ticks)}
    masks["counted"] = _booleans(table.get("settled", [k >= first for k in range(ticks)]), ticks)
    shown: Shown = {"path": _word(record.get("path")), "plant": _word(record.get("plant")), "ticks": ticks}
    if closed:
        shown |= dict(zip(SCORES, _numbers(record[name] for name in SCORES), strict=True))
        shown |= {"name": name_runs([record])[0], "model": name_model(record)}
        shown |= {"window_k": _numbers(record["window_k"])}
        shown |= {"ending": _word(record["ending"]), "troubles": find_troubles(record)}
        low, high = shown["window_k"]
        if not low < high or not shown["settled_from"] >= 0:
            raise ValueError("a window has a bottom and a top, and ticks are counted from 0")
    else:
        shown |= {"name": "given power", "model": "", "window_k": None, "settled_from": 0}
    return shown | {"series": series | masks}


def _walk(root: Path) -> Iterator[Path]:
    seen = set()
    for place, folders, files in os.walk(root, followlinks=True):
        here = os.path.realpath(place)
        if here in seen or any(store in files for store in STORES):  # a link may lead back
            folders.clear()
            continue
        seen.add(here)
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        for file in sorted(files):
            if file.endswith(".json") and not file.startswith("."):
                yield Path(place, file)


def _booleans(column: Any, ticks: int) -> list[bool]:
    """One for each tick."""
    found = [value is True for value in column]
    if len(found) != ticks:
        raise ValueError("columns of a run must be equally long")
    return found


def _numbers(column: Any) -> list[float | None]:
    """As JSON has them: no NaN, no infinity."""
    numbers = [None if value is None else float(value) for value in column]
    return [value if value is not None and math.isfinite(value) else None for value in numbers]


def _word(value: Any) -> str:
    return "" if value is None else str(value)
