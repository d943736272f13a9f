from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from laserloop.control.controller import Status
from laserloop.data.episode import Episode
from laserloop.loop import record as loop
from laserloop.report import record as room
from laserloop.report.record import (
    describe_lateness,
    describe_power,
    describe_run,
    introduce,
    keeps,
    name_runs,
    show_kelvin,
    show_ms,
    show_percent,
    write_headline,
)

Record = dict[str, Any]
MakeRecord = Callable[..., Record]


@pytest.fixture(scope="module")
def stopped(make_record: MakeRecord) -> Record:
    """Never too hot, but not for long."""
    return make_record(ticks=30, ending="the plant stopped at tick 30: no more power.")


@pytest.fixture(scope="module")
def empty(make_record: MakeRecord) -> Record:
    return make_record(ticks=0, ending="the plant stopped at tick 0: no heat.")


def test_the_words_of_a_good_run_are_those_of_the_loop() -> None:
    assert room.COMPLETED == loop.COMPLETED
    assert room.SOLVED == Status.SOLVED


def test_the_headline_divides_those_that_keep_the_bound_from_the_others(
    mpc: Record, pi: Record, constant: Record
) -> None:
    assert (
        write_headline([mpc, pi, constant])
        == "Real-time MPC keeps the upper bound; PI and constant power do not"
    )
    assert write_headline([constant, mpc]) == "Real-time MPC keeps the upper bound; constant power does not"
    assert write_headline([pi, constant]) == "No controller keeps the upper bound"
    assert write_headline([mpc]) == "Real-time MPC keeps the upper bound"
    assert write_headline([pi]) == "PI does not keep the upper bound"


def test_a_controller_with_a_model_that_is_too_hot_is_said_to_be(make_record: MakeRecord, pi: Record) -> None:
    hot = make_record(excess=12.0)
    assert hot["n_over"] > 0
    assert f"{hot['n_over']} ticks ({hot['over_ms']:.4g} ms) are too hot" in describe_run(hot)
    assert write_headline([hot]) == "Real-time MPC does not keep the upper bound"
    assert write_headline([hot, pi]) == "No controller keeps the upper bound"
    cool = make_record("pi", predicted=False)
    assert write_headline([hot, cool]) == "PI keeps the upper bound; real-time MPC does not"


def test_turns_are_blamed_only_for_what_follows_them(pi: Record) -> None:
    series = {**pi["series"], "t_true_k": [820.0 if k == 20 else 780.0 for k in range(90)]}
    early = {**pi, "series": series, "n_over": 1, "overshoot_k": 20.0, "over_ms": 0.125, "t_max_k": 820.0}
    assert "turn" not in describe_run(early)
    assert f"{pi['n_over']} ticks" in describe_run(pi)
    assert "all within 2 ms after a sharp turn" in describe_run(pi)


def test_a_run_that_stopped_did_not_keep_the_bound(stopped: Record, empty: Record, mpc: Record) -> None:
    for record in (stopped, empty):
        assert record["n_over"] == 0
        assert not keeps(record)
        assert " #1 keeps the upper bound; " in write_headline([mpc, record])
        assert "does not keep" in write_headline([record])
    assert "It ended early: the plant stopped at tick 30: no more power." in describe_run(stopped)
    assert "finished no tick: the plant stopped at tick 0: no heat." in describe_run(empty)


def test_numbers_of_a_run_are_told(mpc: Record, pi: Record) -> None:
    assert f"reaches {mpc['t_max_k']:.1f} K at most: no tick is too hot" in describe_run(mpc)
    assert "planning with paper-corner and 13 K of margin" in describe_run(mpc)
    assert f"({pi['over_ms']:.4g} ms)" in describe_run(pi)
    assert "planning" not in describe_run(pi)


def test_trouble_is_told_with_its_count(make_record: MakeRecord) -> None:
    record = make_record(troubles={20: Status.BLIND, 21: Status.BLIND, 30: Status.LATE})
    assert f"2 ticks: {Status.BLIND}." in describe_run(record)
    assert f"1 tick: {Status.LATE}." in describe_run(record)


def test_late_decisions_are_counted(mpc: Record, pi: Record) -> None:
    late = sum(ms > 0.125 for ms in mpc["series"]["tick_ms"])
    assert late == 13  # every seventh takes 0.2 ms
    assert f"13 of 90 by {name_runs([mpc])[0]}. " in describe_lateness([mpc, pi])
    assert describe_lateness([pi]) == "Every decision was ready before its tick was over."


def test_what_was_asked_is_told(mpc: Record, pi: Record) -> None:
    text = introduce([mpc, pi])
    assert text.startswith("Two controllers set the power of a laser every 125 µs on the path diagonal")
    assert "must not exceed 800 K and should not fall below 760 K" in text
    other = {**pi, "window_k": [700.0, 900.0]}
    assert "800 K" not in introduce([mpc, other])


def test_the_headline_names_every_run_on_its_side(
    mpc: Record, pi: Record, constant: Record, stopped: Record, empty: Record
) -> None:
    runs = {"mpc": mpc, "pi": pi, "constant": constant, "stopped": stopped, "empty": empty}
    for names in (names for n in range(1, 5) for names in permutations(runs, n)):
        records = [runs[name] for name in names]
        text = write_headline(records)
        assert text[0].isupper()
        assert "." not in text
        sides = text.lower().split("; ") if any(map(keeps, records)) else ["", text.lower()]
        for name, record in zip(name_runs(records), records, strict=True):
            if any(map(keeps, records)) or len(records) == 1:
                assert name.lower() in sides[not keeps(record)]


def test_no_two_runs_share_a_name(mpc: Record, pi: Record) -> None:
    base = {**mpc, "model": "/models/paper-base", "delta_k": 0.0}
    assert name_runs([mpc, pi]) == ["real-time MPC", "PI"]
    assert name_runs([mpc, base]) == ["real-time MPC (paper-corner, δ 13 K)", "real-time MPC (paper-base)"]
    assert name_runs([pi, pi]) == ["PI #1", "PI #2"]
    assert name_runs([{**mpc, "label": "ours"}, base]) == ["ours", "real-time MPC"]


def test_rounding_never_makes_something_of_nothing_or_nothing_of_something() -> None:
    assert [show_percent(x) for x in (0.0, 0.001, 0.226, 0.999, 1.0)] == [
        "0 %",
        "<1 %",
        "23 %",
        ">99 %",
        "100 %",
    ]
    assert [show_kelvin(x) for x in (0.0, 0.01, 51.76)] == ["0.0", "<0.1", "51.8"]
    assert [show_ms(x) for x in (0.0425, 13.0, 1397.9)] == ["42.5 µs", "13 ms", "1.4 s"]


def test_random_power_is_not_called_constant(shaken: Episode, paper: Episode) -> None:
    assert "constant" not in describe_power(shaken)
    assert describe_power(paper) == f"constant {paper.power[0]:g} W"
