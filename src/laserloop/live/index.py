"""Which files of a folder are runs, what a page is told of each, and what tells those of one name apart."""

import hashlib
import json
import math
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

from laserloop.live.live_run import MOST_NOTES, say_on_page
from laserloop.live.telemetry import SUFFIX, find_frame
from laserloop.report.record import find_troubles, name_model, name_runs

LARGEST = 50_000_000  # bytes; a run of 100,000 ticks has some 20 million
MOST_RUNS = 20_000  # that are listed
MOST_FILES = 200_000  # that are looked at
LONGEST_NOTE = 600  # characters
HEAD = 16_384  # bytes, in which everything before the series stands
STORES = ("zarr.json", "training.safetensors")  # folders that hold one of these hold no runs
COLUMNS = ("t_s", "x_mm", "y_mm", "power_w")  # alike in `control --json` and `simulate --json`
OWN = {"paper": "t_max_k", "graded": "t_peak_k"}  # the plant's own T_max, of `simulate --json`
OPTIONAL = {
    **{"predicted_k": "t_predicted_k", "tick_ms": "tick_ms", "measured_k": "t_measured_k"},
    **{"margin_above_k": "margin_above_k", "margin_below_k": "margin_below_k"},
    **{"window_low_k": "window_low_k", "window_high_k": "window_high_k", "absorbed": "absorbed"},
}
OPENED = ("series", "notes")  # what only an opened run tells
SCORES = ("settled_from", "n_over", "overshoot_k", "below_fraction", "power_mean_w")
SIGNS = (  # all of these are in the file of a closed loop, or of an open one
    (b'"settled_from"', b'"power_mean_w"', b'"ending"', b'"series"'),
    (b'"t_s"', b'"x_mm"', b'"power_w"', b'"t_max_k"'),
)
LAST = 64  # bytes at the end of a file
SERIES = re.compile(rb'"series"\s*:\s*\{')  # inside a text the quotes would look otherwise
UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
LABELS = {
    "plant": "{} plant",
    "window_k": "window {} K",
    "delta_k": "margin {} K",
    "seed": "seed {}",
    "mismatch": "{}",
    "process.name": "process {}",
    "process.material.name": "alloy {}",
    "process.beam.sigma_um": "beam σ {} µm",
    "process.beam.absorptivity": "absorptivity {}",
    "process.speed_mm_s": "{} mm/s",
    "process.laser.power_w": "laser {} W",
    "process.laser.lag_us": "lag {} µs",
    "process.tick_us": "tick {} µs",
    "process.camera.noise_k": "noise {} K",
    "process.camera.delay_ticks": "delay {} ticks",
    "process.camera.every_ticks": "image every {} ticks",
    "process.camera.pixel_um": "pixel {} µm",
    "process.plate_mm": "plate {} mm",
    "ticks": "{} ticks",
}
PARTS = {key: tuple(key.split(".")) for key in LABELS}
MOST_PARTS = 12  # of a fact: more is none
LONGEST_FACT = 60  # characters

Shown = dict[str, Any]  # a run as the page reads it


class _Other(Enum):
    """What a file is that is no run."""

    NOBODYS = "JSON of something else"
    DAMAGED = "a run that cannot be read"


@dataclass(slots=True)
class RunIndex:
    """The runs below a folder; looked at again, it reads only what has changed, and no series before it must.

    Symbolic links are not followed: what lies elsewhere is not shown.
    """

    root: Path
    runs: dict[str, Shown] = field(default_factory=dict)  # by names that fit into an address, without series
    left_out: int = 0  # files beyond the limits
    damaged: list[str] = field(default_factory=list)  # files that were runs once, or are too large
    _places: dict[str, str] = field(default_factory=dict)
    _known: dict[str, tuple[str, Shown | _Other]] = field(default_factory=dict)

    def look(self) -> bool:
        """Find every run that is there now, in the order of their files; has anything changed?"""
        known: dict[str, tuple[str, Shown | _Other]] = {}
        damaged: list[str] = []
        runs: dict[str, Shown] = {}
        places: dict[str, str] = {}
        self.left_out, root = 0, os.path.join(os.fsencode(self.root), b"")
        for count, (file, stamp) in enumerate(_walk(self.root)):
            if count >= MOST_FILES or len(runs) >= MOST_RUNS:
                self.left_out += 1
                continue
            before = self._known.get(file)
            if before is None or before[0] != stamp:
                before = stamp, read_head(Path(file)) or _judge_other(Path(file))
            known[file] = before
            shown, place = known[file][1], os.fsencode(file)[len(root) :]
            if shown is _Other.DAMAGED:
                damaged.append(place.decode(errors="replace"))
            elif not isinstance(shown, _Other):
                name = hashlib.sha256(place).hexdigest()[:12]
                runs[name] = {"file": place.decode(errors="replace"), "stamp": stamp} | shown
                places[name] = file
        changed = {file: entry[0] for file, entry in known.items()} != {
            file: entry[0] for file, entry in self._known.items()
        }
        self._known, self.runs, self._places, self.damaged = known, runs, places, damaged
        return changed

    def list(self) -> list[Shown]:
        """All runs without their series, those of one name told apart by what differs."""
        apart = _label_runs(list(self.runs.values()))
        return [
            {"id": name, "apart": words} | {key: value for key, value in shown.items() if key != "facts"}
            for (name, shown), words in zip(self.runs.items(), apart, strict=True)
        ]

    def open(self, name: str) -> Shown | None:
        """A run with its series; None if there is none, or its file is no run after all."""
        place, listed = self._places.get(name), self.runs.get(name)
        if place is None or listed is None:
            return None
        run = read_run(Path(place))
        if run is None:
            return None
        facts, film = run.pop("facts"), Path(place).with_suffix(SUFFIX)
        sigma, process = (facts.get(f"process.{name}") for name in ("beam.sigma_um", "name"))
        known = isinstance(sigma, int | float) and film.is_file() and not film.is_symlink()
        head = {"id": name, "file": listed["file"], "stamp": listed["stamp"], "film": known}
        return head | {"sigma_mm": 1e-3 * sigma if known else None, "process": _word(process)} | run

    def find_frame(self, name: str, k: int) -> bytes | None:
        """The thermal image of a tick, or of the last one before it that is kept; None if there is none."""
        if name not in self._places:
            return None
        try:
            return find_frame(_read_file(Path(self._places[name]).with_suffix(SUFFIX), LARGEST), k)
        except UNREADABLE:
            return None


def read_head(file: Path) -> Shown | None:
    """A run without its series, from the beginning of its file where that is enough.

    Where more stands behind the series, as in files with sorted keys, they are cut out.
    """
    for most, parse in ((HEAD, _parse_beginning), (LARGEST, _parse_around)):
        try:
            beginning = _read_file(file, most)
            if len(beginning) < HEAD:
                break
            if not _is_closed(file):
                return None
            return _show_head(parse(beginning))
        except UNREADABLE:
            continue
    run = read_run(file)
    return None if run is None else {key: value for key, value in run.items() if key not in OPENED}


def _judge_other(file: Path) -> _Other:
    """Was it a run? One that was cut off, or that somebody changed, is missed by its owner."""
    try:
        text = _read_file(file, LARGEST)
    except (OSError, ValueError):
        return _Other.NOBODYS
    if not any(all(sign in text for sign in signs) for signs in SIGNS):
        return _Other.NOBODYS
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return _Other.DAMAGED
    own = type(data) is dict and ("series" in data or "power_w" in data)  # a page of several runs is none
    return _Other.DAMAGED if own else _Other.NOBODYS


def _is_closed(file: Path) -> bool:
    """Does it end as an object does? One whose writing was broken off begins well."""
    with open(file, "rb") as opened:
        opened.seek(-min(LAST, os.fstat(opened.fileno()).st_size), os.SEEK_END)
        return opened.read(LAST).rstrip().endswith(b"}")


def _parse_beginning(text: bytes) -> Any:
    """What stands before the series."""
    return json.loads(text[: text.index(b'"series"')].rstrip().rstrip(b",") + b"}")


def _parse_around(text: bytes) -> Any:
    """What stands before and behind them."""
    opened = SERIES.search(text)
    if opened is None:
        raise ValueError("a closed loop has series")
    end = text.index(b"}", opened.end())
    if text.find(b"{", opened.end(), end) >= 0:
        raise ValueError("the series of a run are lists")
    return json.loads(text[: opened.end()] + text[end:])


def read_run(file: Path) -> Shown | None:
    """The run in a file, or None if there is none: other JSON is nobody's fault."""
    try:
        text = _read_file(file, LARGEST + 1)
        if len(text) > LARGEST or b'"power_w"' not in text:
            return None
        return show_run(json.loads(text))
    except UNREADABLE:
        return None


def _read_file(file: Path, most: int) -> bytes:
    """The beginning of a plain file; neither links nor pipes are followed."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(file, flags), "rb") as opened:
        state = os.fstat(opened.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
            raise ValueError("not a plain file of a size that is read")
        return opened.read(most)


def _show_head(record: Mapping[str, Any]) -> Shown:
    """What the page is told of a closed loop besides its series."""
    shown: Shown = {"path": _word(record.get("path")), "plant": _word(record.get("plant"))}
    shown |= {"task": _word(record.get("task"))}  # of the arena
    shown |= {"ticks": int(record["ticks"]), "controller": _word(record.get("controller"))}
    shown |= dict(zip(SCORES, _numbers(record[name] for name in SCORES), strict=True))
    shown |= {"name": name_runs([record])[0], "model": name_model(record).replace("δ ", "margin ")}
    shown |= {"window_k": _numbers(record["window_k"]), "margins_k": _read_margins(record)}
    shown |= {"ending": _word(record["ending"]), "troubles": find_troubles(record)}
    shown |= {"facts": _find_facts(record)}
    low, high = shown["window_k"]
    if not low < high or not shown["settled_from"] >= 0 or not shown["ticks"] > 0:
        raise ValueError("a window has a bottom and a top, and ticks are counted from 0")
    return shown


def _read_margins(record: Mapping[str, Any]) -> list[float]:
    """Above and below, K."""
    pair = _numbers([record.get("delta_k"), record.get("delta_below_k")])
    return [value or 0.0 for value in pair]


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
        values = _numbers(table.get(column, ()))
        if len(values) == ticks and any(value is not None for value in values):
            series[name] = values
    first = int(record.get("settled_from", 0))
    former = table.get("settled", [k >= first for k in range(ticks)])  # of older runs, on both sides
    masks = {"lit": _booleans(table.get("lit", [True] * ticks), ticks)}
    masks |= {side: _booleans(table.get(f"counts_{side}", former), ticks) for side in ("above", "below")}
    if closed:
        shown = _show_head({**record, "ticks": ticks})
    else:
        shown = {"path": _word(record.get("path")), "plant": _word(record.get("plant")), "ticks": ticks}
        shown |= {
            "task": "",
            "name": "given power",
            "model": "",
            "window_k": None,
            "settled_from": 0,
            "controller": "",
        }
        shown |= {"facts": _find_facts(record)}
    return shown | {"notes": _read_notes(record), "series": series | masks}


def _read_notes(record: Mapping[str, Any]) -> list[str]:
    """What a reader of the run should know; a stranger may have written anything."""
    notes = record.get("notes")
    texts = [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []
    return [say_on_page(note[:LONGEST_NOTE]) for note in texts[:MOST_NOTES]]


def _walk(root: Path) -> Iterator[tuple[str, str]]:
    """Files that may be runs, with what changes when they do."""
    for place, folders, files in os.walk(root):  # links to folders are not followed
        if any(store in files for store in STORES):
            folders.clear()
            continue
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        for name in sorted(files):
            if name.endswith(".json") and not name.startswith("."):
                file = os.path.join(place, name)
                try:
                    state = os.lstat(file)
                except OSError:  # gone meanwhile
                    continue
                if stat.S_ISREG(state.st_mode):  # a pipe would keep us waiting, a link may lead anywhere
                    yield file, f"{state.st_mtime_ns:x}-{state.st_size:x}"


def _booleans(column: Any, ticks: int) -> list[bool]:
    """One for each tick."""
    values = [value is True for value in column]
    if len(values) != ticks:
        raise ValueError("columns of a run must be equally long")
    return values


def _numbers(column: Any) -> list[float | None]:
    """As JSON has them: no NaN, no infinity."""
    numbers = [None if value is None else float(value) for value in column]
    return [value if value is not None and math.isfinite(value) else None for value in numbers]


def _word(value: Any) -> str:
    return "" if value is None else str(value)


def _find_facts(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a run says of itself, by key; put into words only where it is needed."""
    facts = {}
    for key, parts in PARTS.items():
        value: Any = record
        for part in parts:
            value = value.get(part) if type(value) is dict else None
        if _is_plain(value):
            facts[key] = value
    return facts


def _is_plain(value: Any) -> bool:
    """A word, a number, or a few of them: a stranger may have nested anything."""
    if isinstance(value, dict | list):
        parts = list(value.values() if isinstance(value, dict) else value)
        return len(parts) <= MOST_PARTS and all(isinstance(part, str | int | float) for part in parts)
    return isinstance(value, str | int | float)


def _label_runs(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each run what differs among those of its task or path and of its name; nothing if it is alone.

    Where nothing differs, the file's name is told.
    """
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for i, run in enumerate(runs):
        groups[run["task"] or run["path"], run["name"], run["model"]].append(i)
    labels = [""] * len(runs)
    for members in groups.values():
        if len(members) > 1:
            _label_group(runs, members, labels)
    return labels


def _label_group(runs: Sequence[Mapping[str, Any]], members: list[int], labels: list[str]) -> None:
    keys = [key for key in LABELS if len({repr(runs[i]["facts"].get(key)) for i in members}) > 1]
    for i in members:
        facts = runs[i]["facts"]
        labels[i] = ", ".join(
            LABELS[key].format(_say(facts[key]))[:LONGEST_FACT] for key in keys if key in facts
        )
    counts: dict[str, int] = defaultdict(int)
    for i in members:
        counts[labels[i]] += 1
    for i in members:
        if counts[labels[i]] > 1:
            file = str(PurePosixPath(runs[i]["file"]).with_suffix(""))
            labels[i] = f"{labels[i]}, {file}" if labels[i] else file


def _say(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} × {_say(part)}" for name, part in list(value.items())[:4])
    if isinstance(value, list | tuple):
        return " to ".join(_say(part) for part in value[:4])
    return f"{value:g}" if isinstance(value, float) else str(value)
