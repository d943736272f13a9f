import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from laserloop.control.controller import Status
from laserloop.report.tables import tabulate_run, tabulate_runs

Record = dict[str, Any]
MakeRecord = Callable[..., Record]


def print_out(table: Table, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_each_run_is_a_line_of_its_numbers(width: int, mpc: Record, pi: Record, constant: Record) -> None:
    text = print_out(tabulate_runs([mpc, pi, constant]), width)
    for record in (mpc, pi, constant):
        numbers = (
            f"{record['t_max_k']:.1f}",
            f"{record['overshoot_k']:.1f}",
            f"{record['n_over']}",
            f"{record['over_ms']:.4g}",
            f"{100 * record['below_fraction']:.0f} %",
            f"{record['power_mean_w']:.2f}",
            f"{record['power_step_mean_w']:.2f}",
            f"{1e3 * record['tick_ms']['median']:.3g} µs",
        )
        line = next(line for line in text.splitlines() if numbers[0] in line)
        assert all(number in line for number in numbers)
    assert max(map(len, text.splitlines())) <= width


def test_ticks_that_were_not_solved_are_listed_below(make_record: MakeRecord, pi: Record) -> None:
    troubled = make_record(troubles={20: Status.BLIND, 21: Status.BLIND})
    text = print_out(tabulate_runs([troubled, pi]))
    assert f"real-time MPC: 2 × {Status.BLIND}" in text
    assert "PI:" not in text
    assert f"88 × solved; 2 × {Status.BLIND}" in print_out(tabulate_run(troubled))


def test_a_run_that_stopped_says_why(make_record: MakeRecord) -> None:
    for ticks in (0, 30):
        record = make_record(ticks=ticks, ending=f"the plant stopped at tick {ticks}: no heat")
        assert record["ending"] in print_out(tabulate_runs([record]))
        assert record["ending"] in print_out(tabulate_run(record))


def test_one_run_is_told_in_full(mpc: Record) -> None:
    text = print_out(tabulate_run(mpc))
    worst = mpc["worst_residual"]
    assert f"RMS {mpc['residual_rms_k']:.1f} K" in text
    assert f"worst {worst['residual_k']:+.1f} K at ({worst['x_mm']:.2f}, {worst['y_mm']:.2f}) mm" in text
    assert f"highest {mpc['peak']['t_max_k']:.1f} K, {mpc['peak']['n_over']} ticks over" in text
    assert "Counted from lit tick 11 on" in text


def test_starts_are_told_and_older_runs_have_none(make_record: MakeRecord, mpc: Record) -> None:
    new = make_record(subgrid=True)
    text = print_out(tabulate_run(new | {"starts": {"over_k": 12.25, "ticks_to_floor": 4}}))
    assert "12.2 K over; the window is reached by tick 4" in text
    assert "is not reached" in print_out(
        tabulate_run(new | {"starts": new["starts"] | {"ticks_to_floor": None}})
    )
    old = {name: value for name, value in mpc.items() if name != "starts"}
    assert "over; the window" not in print_out(tabulate_run(old))


def test_brackets_in_a_name_stay_text(mpc: Record) -> None:
    hostile = {**mpc, "label": "[red]x[/red]", "model": "[bold]m", "path": "[blink].csv"}
    assert "[red]x[/red]" in print_out(tabulate_runs([hostile]))
    assert "[blink].csv" in print_out(tabulate_run(hostile))
