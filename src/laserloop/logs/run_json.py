"""Runs of laserloop as logs: what `control --json` and `simulate --json` write."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, show
from laserloop.logs.csv_log import (
    MOST_POWER,
    OWN,
    OWN_LIT,
    OWN_PEAK,
    OWN_SEEN,
    TRUTHS,
    find_lit,
    find_places,
    record_ends,
    tell_truth,
)
from laserloop.logs.json_text import JsonText, read_json_text
from laserloop.logs.recording import MOST_ROWS, Recording, RowTimes
from laserloop.process import Process

FloatArray = NDArray[np.float64]


def read_run_json(file: Path) -> Recording:
    """The recording of a run; its process is inside."""
    page = read_json_text(file)
    series = _Series(page)
    t, x, y, power = (series.take_finite(name) for name in OWN)
    bad = np.flatnonzero((power < 0.0) | (power > MOST_POWER))
    if len(bad):
        raise BadInput(
            f"{series.where(OWN[3], bad[0])}: power_w must lie between 0 and {MOST_POWER:g} W, but is "
            f"{power[bad[0]]:g}; correct it"
        )
    time = RowTimes(lambda k: series.where(OWN[0], k), OWN[0], t)
    name = next((name for name in (OWN_PEAK, *TRUTHS) if name in series.lists), OWN_PEAK)
    peaks = series.take(name)
    came = np.array([value is not None for value in series.lists[name]], dtype=np.bool_)
    positions = 1e-3 * np.stack((x, y), axis=1)
    seen = {column: series.take(column) for column in OWN_SEEN if column in series.lists}
    places = find_places(seen, OWN_SEEN)
    recording = record_ends(file.name, time.seconds, positions, power, peaks, came, places)
    on = series.take_lit(power)
    return replace(recording, on=on, process=_find_process(page), notes=tell_truth(file.name, name))


class _Series:
    """The lists of a run by name, equally long."""

    def __init__(self, page: JsonText) -> None:
        if not isinstance(page.value, Mapping):
            raise BadInput(
                f"{page.where()}: a run must be a JSON object, but is {show(page.value)}; write it anew"
            )
        self.lists: Mapping[str, Any] = page.value.get("series", page.value)
        if not isinstance(self.lists, Mapping):
            raise BadInput(
                f"{page.where('series')}: series must be lists by name, but is {show(self.lists)}; write it "
                "anew"
            )
        self._page = page
        self._keys = ("series",) if "series" in page.value else ()

    def where(self, name: str, entry: np.intp | int) -> str:
        """The name of an entry, counted from 0, in complaints."""
        return f"{self._page.where(*self._keys, name, int(entry))}, entry {entry}"

    def take(self, name: str) -> FloatArray:
        """The numbers of a list as long as the first; NaN where there is none."""
        values = self._find(name)
        for k, value in enumerate(values):
            number = isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) > 1e300
            if not (value is None or number):
                raise BadInput(
                    f"{self.where(name, k)}: {name} must be a number, but is {show(value)}; write it anew"
                )
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    def take_lit(self, power: FloatArray) -> NDArray[np.bool_] | None:
        """Where the laser was on, if the run says."""
        if OWN_LIT not in self.lists:
            return None
        flags = np.array([float(value) if value in (0, 1) else np.nan for value in self._find(OWN_LIT)])
        return find_lit(lambda k: self.where(OWN_LIT, k), flags, power)

    def _find(self, name: str) -> list[Any]:
        """A list as long as the first."""
        values, first = self.lists.get(name), self.lists.get(OWN[0])
        if not isinstance(values, list) or not 0 < len(values) <= MOST_ROWS:
            raise BadInput(
                f"{self._page.where(*self._keys, name)}: {name} must be a list of 1 to {MOST_ROWS} numbers, "
                f"but is {show(values)}; give what control --json or simulate --json wrote"
            )
        if isinstance(first, list) and len(values) != len(first):
            raise BadInput(
                f"{self._page.where(*self._keys, name)}: {name} must have {len(first)} entries as {OWN[0]}, "
                f"but has {len(values)}; write it anew"
            )
        return values

    def take_finite(self, name: str) -> FloatArray:
        """A list in which nothing may be missing."""
        values = self.take(name)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise BadInput(f"{self.where(name, bad[0])}: {name} must be a finite number; correct it")
        return values


def _find_process(page: JsonText) -> Process | None:
    """The process inside; what is wrong with it is wrong in a line."""
    inside = page.value.get("process")
    if not isinstance(inside, Mapping):
        return None
    try:
        return Process.from_json(inside, where="the process of this run")
    except BadInput as problem:
        key = next((key for key, value in inside.items() if not _stands_alone(key, value)), None)
        place = page.where("process") if key is None else page.where("process", key)
        raise BadInput(f"{place}: {problem}") from None


def _stands_alone(key: str, value: object) -> bool:
    """Whether one key of a process means something."""
    try:
        Process.from_json({key: value})
    except BadInput:
        return False
    return True
