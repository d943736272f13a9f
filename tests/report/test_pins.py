"""The data of every named curve, and the words of the tables, stay what they were.

`python -m tests.report.test_pins` writes the pins anew.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.console import Console
from rich.table import Table
from tests.pinned import differences, plain, read_pin, write_pins
from tests.report import conftest

from laserloop.control.controller import Status
from laserloop.report.figures import draw_history, draw_overview
from laserloop.report.plans import draw_fit, draw_layers, draw_plan
from laserloop.report.run_figures import draw_comparison, draw_residual_map, draw_run, draw_tick_times
from laserloop.report.tables import (
    tabulate_episode,
    tabulate_fit,
    tabulate_layers,
    tabulate_parts,
    tabulate_plan,
    tabulate_replay,
    tabulate_run,
    tabulate_runs,
)

PINS = Path(__file__).with_name("pins.json")
MOST = 40  # numbers of a curve
make: Any = conftest.make_record.__wrapped__  # type: ignore[attr-defined]
simulate: Any = conftest.simulate_diagonal


def list_records() -> list[Any]:
    """A plan that holds, one that does not, and a run that was stopped on the way."""
    late = {3: Status.LATE, 4: Status.LATE, 5: Status.DARK}
    stopped = make()("twin", ending="stopped by hand", troubles=late, subgrid=True, dark=slice(60, 70))
    return [make()(), make()("pi", excess=50.0, predicted=False, label="mine"), stopped]


def make_plan() -> dict[str, Any]:
    """An account of a plan of two layers."""
    scores = {"t_min_k": 777.0, "t_max_k": 805.0, "n_over": 2, "below_fraction": 0.004}
    layer = {"t_min_k": 778.0, "t_max_k": 782.0, "power_mean_w": 9.0, "vectors": 3, "commands": 7}
    layers = [layer | {"time_s": 2e-3, "verified": scores}, layer | {"time_s": 3e-3}]
    told = {"path": "parts/part.gcode", "by": "segment", "commands": 14, "vectors": 6, "ticks": 40}
    told |= {"window_k": [760.0, 800.0], "holds": False, "power_w": [5.0, 11.5], "power_means": "absorbed"}
    told |= {"time_s": 5e-3, "time_saved_s": 1e-3, "layers": layers, "out": "out.gcode", "refined": 1}
    return told | {"t_min_k": 778.0, "t_max_k": 782.0, "n_over": 0, "below_fraction": 0.0, "verified": scores}


def make_fit() -> dict[str, Any]:
    """An account of a fit."""
    told = {"low": 0.8, "value": 0.85, "high": 0.9}
    series = {"t_s": [1e-3, 2e-3], "t_measured_k": [700.0, 710.0], "t_fitted_k": [702.0, 709.0]}
    series["power_w"] = [9.0, 11.0]
    record = {"log": "a.csv", "process": {"name": "paper"}, "residual_rms_k": 1.5, "noise_k": 5.0}
    record |= {"absorptivity": told, "delay_ticks": told | {"told": False}, "offset_x_um": told}
    return record | {"holds": True, "readings": 2, "plant_runs": 4, "series": series}


def draw() -> dict[str, Figure]:
    """One of each kind."""
    records, t = list_records(), 125e-6 * np.arange(1, 41)
    lit = (np.arange(40) % 20 < 15).astype(np.float64)
    series = {"t_s": t, "lit": lit, "power_w": np.full(40, 11.0), "t_planned_k": np.linspace(770, 805, 40)}
    return {
        "run": draw_run(records[0]),
        "run with dark ticks": draw_run(records[2]),
        "comparison": draw_comparison(records),
        "residual map": draw_residual_map(records[0]),
        "tick times": draw_tick_times(records),
        "history": draw_history(simulate("paper")),
        "overview": draw_overview(simulate("graded")),
        "plan": draw_plan(make_plan(), series, np.linspace(760, 810, 35)),
        "layers": draw_layers(make_plan()),
        "fit": draw_fit(make_fit()),
    }


def read_curves(figure: Figure) -> Any:
    """Titles, limits, legends, and the data of whatever has a name."""
    curves: dict[str, Any] = {}
    for axes in figure.axes:
        for artist in axes.get_children():
            if (gid := artist.get_gid()) and isinstance(artist, Line2D):
                curves[gid] = np.column_stack(artist.get_data())[:MOST]
            elif gid and isinstance(artist, LineCollection):
                values = artist.get_array()
                segments = np.array(artist.get_segments())[:MOST]
                curves[gid] = [segments, [] if values is None else np.asarray(values)[:MOST]]
    panels = [
        [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel(), axes.get_xlim(), axes.get_ylim()]
        for axes in figure.axes
    ]
    legends = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
    return plain({"curves": curves, "panels": panels, "legends": legends, "size": figure.get_size_inches()})


def tabulate() -> dict[str, Table]:
    """One of each kind."""
    records, plan = list_records(), make_plan()
    tally = {"readings": 40, "lost": 2, "late": 1}
    replayed = {
        "log": "a.csv",
        "ticks": 40,
        "controller": "twin",
        "frames": tally,
        "statuses": {"solved": 40},
    }
    replayed |= {"commanded_min_w": 3.0, "commanded_max_w": 12.0, "power_limits_w": [0.0, 20.0]}
    return {
        "one run": tabulate_run(records[2]),
        "runs": tabulate_runs(records),
        "planned": tabulate_plan(plan),
        "planned layers": tabulate_layers(plan),
        "parts": tabulate_parts([plan, plan | {"holds": None}]),
        "fitted": tabulate_fit(make_fit()),
        "replayed": tabulate_replay(replayed | {"asked_outside_limits": 0}),
        "episode": tabulate_episode(simulate("graded")),
    }


def print_table(table: Table) -> list[str]:
    """As lines of a wide terminal, without what a clock said."""
    console = Console(width=160, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines() if not line.startswith("plant step")]


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    return {name: read_curves(figure) for name, figure in draw().items()}


def test_curves_stay_what_they_were(figures: dict[str, Any]) -> None:
    for name, told in figures.items():
        assert differences(json.loads(json.dumps(told)), read_pin(PINS, name)) == [], name


def test_tables_say_what_they_said() -> None:
    for name, table in tabulate().items():
        assert print_table(table) == read_pin(PINS, name), name


if __name__ == "__main__":
    drawn = {name: read_curves(figure) for name, figure in draw().items()}
    write_pins(PINS, drawn | {name: print_table(table) for name, table in tabulate().items()})
