"""What logs say stays what it was, and tables and fields are written to the same byte.

`python -m tests.logs.test_pins` writes the pins anew.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.logs.test_frames import make_folder, make_store
from tests.logs.test_logs import NIST, RUN, rows, write
from tests.logs.test_tables import RECORD
from tests.pinned import differences, plain, read_pin, write_pins

from laserloop.logs import count_faults, read_log
from laserloop.logs.export import render_field, render_rows, render_table
from laserloop.plant import make_plant

PINS = Path(__file__).with_name("pins.json")
MORE = ",measured_peak_k,measured_time_us,measured_peak_x_mm,measured_peak_y_mm,real_laser_power_W"


def write_nist(folder: Path) -> Path:
    """Lost, broken, late, saturated and frozen readings, blank lines and a comment."""
    peaks = ["", "700", "nan", "9000", "20", "710", "711.5", *["712"] * 6, "713"]
    cells = [
        f"{1000 + 10 * i},{0.1 * i:g},{-0.05 * i:g},10,{peak},{990 + 10 * i - 40 * (i == 6)},"
        f"{0.1 * i + 0.02:g},{-0.05 * i:g},{9.5 + 0.1 * i:g}"
        for i, peak in enumerate(peaks)
    ]
    return write(folder, "\n".join((f"{NIST}{MORE}", "# a comment", "", *cells)))


def write_run(folder: Path) -> Path:
    """A run of laserloop with the laser off on the way."""
    series = {name: list(column) for name, column in RECORD["series"].items()}  # type: ignore[attr-defined]
    series |= {"x_measured_mm": [None, 0.21, 0.31], "y_measured_mm": [None, 0.0, 0.09]}
    return write(folder, json.dumps({**RECORD, "series": series, "notes": ["one"]}), "run.json")


def write_table(folder: Path) -> Path:
    """The same as a table."""
    file = folder / "own.csv"
    file.write_bytes(render_table(RECORD, ".csv"))
    return file


LOGS: dict[str, Callable[[Path], Path | str]] = {
    "plain": lambda folder: write(folder, f"{NIST}\n{rows()}\n"),
    "with faults": write_nist,
    "run": write_run,
    "short run": lambda folder: write(folder, RUN, "short.json"),
    "own table": write_table,
    "frames": lambda folder: make_folder(folder, ".bmp", rows=6),
    "store": lambda folder: f"{make_store(folder / 'a.h5', hatch_mm=0.2)}#part/layer_1",
}


def tell(log: Path | str) -> Any:
    """A recording, its faults and its notes."""
    recording = read_log(log)
    readings = recording.readings
    seen = {name: getattr(readings, name) for name in ("arrived", "taken", "peak", "saturated", "place")}
    frame = None if readings.frame is None else readings.frame(2)
    process = None if recording.process is None else recording.process.to_json()
    return plain(
        {
            **{"name": recording.name, "times": recording.times, "positions": recording.positions},
            **{"power": recording.power, "on": recording.on, "process": process, "notes": recording.notes},
            **{"readings": seen, "coaxial": readings.coaxial, "pixel": readings.pixel},
            "frame": None if frame is None else [frame.x[:3], frame.y[:3], frame.temperature[::5, ::5]],
            "tally": count_faults(readings).to_json(),
        }
    )


@pytest.mark.parametrize("name", LOGS)
def test_a_log_says_what_it_said(name: str, tmp_path: Path) -> None:
    assert differences(json.loads(json.dumps(tell(LOGS[name](tmp_path)))), read_pin(PINS, name)) == []


def render() -> dict[str, Any]:
    """Tables as they are, and the hash of a cold plate's field."""
    table: list[dict[str, Any]] = [
        {"name": "a", "share": 0.25, "there": True},
        {"name": "b, c", "share": None, "there": False},
    ]
    return {
        "table": render_table(RECORD, ".csv").decode(),
        "rows": render_rows(table, ".csv").decode(),
        "field": sha256(render_field(make_plant("graded"))).hexdigest(),
    }


def test_tables_and_fields_are_the_same_to_the_byte() -> None:
    assert render() == read_pin(PINS, "written")


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    pins = {}
    for name, make in LOGS.items():
        with TemporaryDirectory() as scratch:
            pins[name] = tell(make(Path(scratch)))
    write_pins(PINS, pins | {"written": render()})
