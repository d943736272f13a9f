"""Runs of laserloop as logs: what `control --json` and `simulate --json` write."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, show
from laserloop.logs.csv_log import OWN_PEAK, TRUTHS, record_ends, tell_truth
from laserloop.logs.recording import MOST_ROWS, Recording, RowTimes
from laserloop.process import Process

FloatArray = NDArray[np.float64]

LARGEST = 1_000_000_000  # bytes
COLUMNS = ("t_s", "x_mm", "y_mm", "power_w")


def read_run_json(file: Path) -> Recording:
    """The recording of a run; its process is inside."""
    page = load(file)
    series = page.get("series", page)
    if not isinstance(series, Mapping):
        raise BadInput(f"{file.name}: series must be lists by name, but is {show(series)}; write it anew")
    lists = {name: _take(series, name, file) for name in COLUMNS}
    lengths = {len(values) for values in lists.values()}
    if len(lengths) != 1:
        raise BadInput(f"{file.name}: {', '.join(COLUMNS)} must be equally long, but are not; write it anew")
    for name, values in lists.items():
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise BadInput(f"{file.name}: entry {bad[0]} of {name} must be a finite number; correct it")
    if (lists["power_w"] < 0.0).any():
        raise BadInput(f"{file.name}: power_w must not be negative, but is; correct it")
    time = RowTimes(lambda k: f"{file.name}, entry {k}", "t_s", lists["t_s"])
    peaks, came, notes = _find_readings(series, len(time.seconds), file)
    positions = 1e-3 * np.stack((lists["x_mm"], lists["y_mm"]), axis=1)
    recording = record_ends(file.name, time.seconds, positions, lists["power_w"], peaks, came)
    inside = page.get("process")
    process = (
        Process.from_json(inside, where=f"the process in {file.name}")
        if isinstance(inside, Mapping)
        else None
    )
    return replace(recording, process=process, notes=notes)


def load(file: Path) -> Mapping[str, Any]:
    """A JSON object, within limits."""
    try:
        if file.stat().st_size > LARGEST:
            raise BadInput(f"{file.name}: a run may have at most {LARGEST} bytes, but has more; cut it")
        page = json.loads(file.read_bytes())
    except json.JSONDecodeError as problem:
        raise BadInput(
            f"{file.name}, line {problem.lineno}, column {problem.colno}: a run must be JSON, but is not "
            f"({problem.msg}); write it anew"
        ) from None
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        raise BadInput(
            f"{file.name}, line {line}: a run must be JSON in UTF-8, but byte {problem.start} is not; write "
            "it anew"
        ) from None
    except RecursionError:
        raise BadInput(f"{file.name}: a run must be JSON, but brackets go too deep; write it anew") from None
    except OSError as problem:
        raise BadInput(
            f"the log {str(file)[:80]!r} must be readable, but is not ({problem.strerror}); check its name"
        ) from None
    if not isinstance(page, Mapping):
        raise BadInput(f"{file.name}: a run must be a JSON object, but is {show(page)}; write it anew")
    return page


def _take(series: Mapping[str, Any], name: str, file: Path) -> FloatArray:
    values = series.get(name)
    if not isinstance(values, list) or not 0 < len(values) <= MOST_ROWS:
        raise BadInput(
            f"{file.name}: {name} must be a list of 1 to {MOST_ROWS} numbers, but is {show(values)}; give "
            "what control --json or simulate --json wrote"
        )
    for k, value in enumerate(values):
        if not (value is None or (isinstance(value, int | float) and not abs(value) > 1e300)):
            raise BadInput(
                f"{file.name}: entry {k} of {name} must be a number, but is {show(value)}; write it anew"
            )
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _find_readings(
    series: Mapping[str, Any], n: int, file: Path
) -> tuple[FloatArray, NDArray[np.bool_], tuple[str, ...]]:
    """Readings, where there are some, and what was assumed; without measurements the plant's own T_max."""
    name = next((name for name in (OWN_PEAK, *TRUTHS) if name in series), OWN_PEAK)
    peaks = _take(series, name, file)
    if len(peaks) != n:
        raise BadInput(
            f"{file.name}: {name} must have {n} entries as t_s, but has {len(peaks)}; write it anew"
        )
    came = np.array([value is not None for value in series[name]], dtype=np.bool_)
    return peaks, came, tell_truth(file.name, name)
