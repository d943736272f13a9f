"""The shelf: what is a run and what is not, and what the page is told."""

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.live import index as room
from laserloop.live.index import RunIndex, Shown, read_run, show_run
from laserloop.live.telemetry import FrameBuffer, pack
from laserloop.store import write_json


def make_record(**changes: Any) -> dict[str, Any]:
    """A closed loop of three ticks, as `laserloop control --json` writes it."""
    series = {
        "t_s": [1e-4, 2e-4, 3e-4],
        "x_mm": [0.0, 0.1, 0.2],
        "y_mm": [0.0, 0.0, 0.0],
        "power_w": [10.0, 11.0, 12.0],
        "t_true_k": [700.0, 780.0, 805.0],
        "t_predicted_k": [None, 779.0, 798.0],
        "tick_ms": [0.1, 0.1, 0.1],
    }
    record = {
        **{
            "path": "diagonal",
            "controller": "realtime",
            "plant": "paper",
            "model": "paper-corner",
            "ticks": 3,
        },
        **{"delta_k": 13.0, "window_k": [760.0, 800.0], "settled_from": 1, "n_over": 1, "overshoot_k": 5.0},
        **{"below_fraction": 0.0, "power_mean_w": 11.5, "ending": "path completed"},
        **{"statuses": {"solved": 2, "no image": 1}, "series": series},
    }
    return record | changes


def put(file: Path, content: object) -> Path:
    """A JSON file; NaN is written as Python does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_a_closed_loop_is_told_with_its_scores() -> None:
    shown = show_run(make_record())
    assert (shown["name"], shown["model"]) == ("real-time MPC", "paper-corner, margin 13 K")
    assert (shown["n_over"], shown["overshoot_k"], shown["window_k"]) == (1, 5.0, [760.0, 800.0])
    assert shown["troubles"] == {"no image": 1}
    assert shown["series"]["t_k"] == [700.0, 780.0, 805.0]
    assert shown["series"]["predicted_k"] == [None, 779.0, 798.0]


def test_an_open_loop_has_no_window() -> None:
    table = make_record()["series"]
    table["t_max_k"] = table.pop("t_true_k")
    shown = show_run(table)
    assert (shown["window_k"], shown["ticks"]) == (None, 3)
    assert shown["series"]["t_k"] == [700.0, 780.0, 805.0]


@pytest.mark.parametrize(("plant", "own"), [("paper", 700.0), ("graded", 710.0)])
def test_an_open_loop_shows_the_plants_own_temperature(plant: str, own: float) -> None:
    table = make_record()["series"]
    table["t_max_k"] = table.pop("t_true_k")
    table["t_peak_k"] = [t + 10.0 for t in table["t_max_k"]]
    assert show_run({**table, "plant": plant})["series"]["t_k"][0] == own


def test_the_ticks_that_count_are_those_that_the_run_names() -> None:
    record = make_record()
    series = show_run(record)["series"]
    assert series["above"] == series["below"] == [False, True, True]
    record["series"] |= {"settled": [False, False, True], "lit": [True, False, True]}
    shown = show_run(record)["series"]
    assert shown["above"] == shown["below"] == [False, False, True]
    record["series"] |= {"counts_above": [True, False, True], "counts_below": [False, False, True]}
    shown = show_run(record)["series"]
    assert (shown["above"], shown["below"]) == ([True, False, True], [False, False, True])
    assert shown["lit"] == [True, False, True]


def test_what_is_no_number_is_left_out(tmp_path: Path) -> None:
    record = make_record()
    record["series"]["t_true_k"][1] = math.nan
    record["series"]["power_w"][2] = math.inf
    shown = read_run(put(tmp_path / "run.json", record))
    assert shown is not None
    assert shown["series"]["t_k"] == [700.0, None, 805.0]
    assert shown["series"]["power_w"] == [10.0, 11.0, None]


def test_a_column_that_nobody_filled_is_not_shown() -> None:
    record = make_record()
    record["series"]["t_predicted_k"] = [None, None, None]
    assert "predicted_k" not in show_run(record)["series"]


def test_a_change_on_the_way_and_notes_are_told_whatever_a_stranger_wrote() -> None:
    record = make_record(notes=["steered; laserloop calibrate --process finds them", 3, "x" * 9999])
    record["series"]["absorbed"] = [1.0, 0.8, 0.8]
    shown = show_run(record)
    assert shown["series"]["absorbed"] == [1.0, 0.8, 0.8]
    assert shown["notes"] == ["steered", "x" * 600]
    assert show_run(make_record(notes={"no": "list"}))["notes"] == []


HOSTILE = {
    "no columns": make_record(series={"power_w": [1.0]}),
    "lengths": make_record(series=make_record()["series"] | {"x_mm": [0.0]}),
    "empty": make_record(series={name: [] for name in make_record()["series"]}),
    "short mask": make_record(series=make_record()["series"] | {"settled": [True]}),
    "words": make_record(series=make_record()["series"] | {"power_w": ["much", "more", "most"]}),
    "place": make_record(series=make_record()["series"] | {"x_mm": [0.0, None, 0.2]}),
    "nested": make_record(series=make_record()["series"] | {"power_w": [[1.0], [2.0], [3.0]]}),
    "window": make_record(window_k=[800.0, 760.0]),
    "boundless": make_record(window_k=[0.0, math.inf]),
    "before the start": make_record(settled_from=-1),
    "never settled": make_record(settled_from=None),
    "no window": make_record(window_k=None),
    "scores": make_record(n_over={"power_w": 1}),
    "statuses": make_record(statuses=[1]),
    "model": make_record(model=3),
    "list": [{"power_w": 1}],
    "number": 3,
    "huge": make_record(delta_k=10**400),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_other_json_is_no_run(tmp_path: Path, content: object) -> None:
    assert read_run(put(tmp_path / "run.json", content)) is None


@pytest.mark.parametrize(
    "text",
    [b"", b"\xff\xfe", b'{"power_w": ', b'{"power_w": ' + b"[" * 100_000],
    ids=["empty", "bytes", "cut", "deep"],
)
def test_other_bytes_are_no_run(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "run.json").write_bytes(text)
    assert read_run(tmp_path / "run.json") is None


def test_a_folder_is_searched_to_its_end_but_not_its_stores(tmp_path: Path) -> None:
    for place in (
        "b.json",
        "cases/runs/1/result.json",
        "store/c.json",
        ".hidden/d.json",
        "notes.txt",
        ".e.json",
    ):
        put(tmp_path / place, make_record())
    put(tmp_path / "store" / "zarr.json", {})
    put(tmp_path / "cases" / "settings.json", {"power_w": 3})
    assert find_files(RunIndex(tmp_path)) == ["b.json", "cases/runs/1/result.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of another kind")
def test_neither_links_nor_pipes_are_followed(tmp_path: Path) -> None:
    outside = put(tmp_path / "elsewhere" / "a.json", make_record())
    here = tmp_path / "here"
    put(here / "own.json", make_record())
    (here / "back").symlink_to(here)
    (here / "folder").symlink_to(outside.parent)
    (here / "file.json").symlink_to(outside)
    os.mkfifo(here / "pipe.json")
    assert find_files(RunIndex(here)) == ["own.json"]
    assert read_run(here / "file.json") is None  # nor if it was made one after the look


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are Unicode")
def test_any_name_of_a_file_fits_into_an_address(tmp_path: Path) -> None:
    for name in (b"L\xe4uf.json", "Lauf Nr. 1 | §.json".encode()):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text(json.dumps(make_record()))
    here = RunIndex(tmp_path)
    here.look()
    assert {len(name) for name in here.runs} == {12}
    assert json.dumps(here.list(), ensure_ascii=False).encode()
    assert {entry["file"] for entry in here.list()} == {"L\ufffduf.json", "Lauf Nr. 1 | §.json"}


def test_what_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(tmp_path / "a.json", make_record())
    assert read_run(file) is not None
    monkeypatch.setattr(room, "LARGEST", file.stat().st_size - 1)
    assert read_run(file) is None


def find_files(here: RunIndex) -> list[str]:
    """The files of all runs."""
    here.look()
    return [shown["file"] for shown in here.runs.values()]


def test_only_what_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def note(file: Path) -> Shown | None:
        read.append(file.name)
        return read_run(file)

    monkeypatch.setattr(room, "read_head", note)
    here = RunIndex(tmp_path)
    put(tmp_path / "a.json", make_record())
    put(tmp_path / "b.json", make_record())
    assert here.look()
    assert not here.look()
    assert read == ["a.json", "b.json"]
    put(tmp_path / "b.json", make_record(n_over=2))
    os.utime(tmp_path / "b.json", (1, 1))
    stamp = here.list()[1]["stamp"]
    assert here.look()
    assert [shown["n_over"] for shown in here.runs.values()] == [1, 2]
    assert here.list()[1]["stamp"] != stamp  # so that the page asks again
    (tmp_path / "a.json").unlink()
    assert find_files(here) == ["b.json"]
    assert read == ["a.json", "b.json", "b.json"]


def test_the_list_goes_without_series(tmp_path: Path) -> None:
    put(tmp_path / "a.json", make_record())
    here = RunIndex(tmp_path)
    here.look()
    (entry,) = here.list()
    assert here.runs[entry["id"]]["file"] == entry["file"] == "a.json"
    assert not {"series", "facts", "notes"} & set(entry)
    opened = here.open(entry["id"])
    assert opened is not None
    assert opened["series"]["t_k"] == [700.0, 780.0, 805.0]
    assert here.open("nobody") is None


def test_long_runs_are_listed_by_their_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    series = {name: 2000 * column for name, column in make_record()["series"].items()}
    put(tmp_path / "long.json", make_record(ticks=6000, series=series))
    put(tmp_path / "odd.json", {"more": {"series": 1}} | make_record(ticks=6000, series=series))

    def forbid(file: Path) -> Shown | None:
        assert file.name == "odd.json", "only what cannot be cut is read to its end"
        return read_run(file)

    monkeypatch.setattr(room, "read_run", forbid)
    here = RunIndex(tmp_path)
    assert find_files(here) == ["long.json", "odd.json"]
    assert [run["ticks"] for run in here.list()] == [6000, 6000]


def test_long_runs_with_sorted_keys_are_listed_without_their_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = {name: 2000 * column for name, column in make_record()["series"].items()}
    record = make_record(ticks=6000, series=series, task="arc-304-off-v1:30000", label="twin")
    write_json(tmp_path / "result.json", record)  # as contests and studies do
    monkeypatch.setattr(room, "read_run", lambda _: pytest.fail("the series were read"))
    here = RunIndex(tmp_path)
    here.look()
    (run,) = here.list()
    assert (run["ticks"], run["task"], run["name"], run["n_over"]) == (6000, record["task"], "twin", 1)


def test_runs_of_the_arena_are_told_apart_by_their_tasks(tmp_path: Path) -> None:
    for level in ("off", "hard"):
        for name in ("twin", "pi"):
            record = make_record(task=f"arc-304-{level}-v1:30000", label=name, seed=len(level))
            put(tmp_path / level / name / "result.json", record)
    put(tmp_path / "again" / "result.json", make_record(task="arc-304-off-v1:30000", label="pi", seed=3))
    here = RunIndex(tmp_path)
    here.look()
    told = {run["file"]: (run["task"], run["name"], run["apart"]) for run in here.list()}
    assert told["hard/pi/result.json"] == ("arc-304-hard-v1:30000", "pi", "")
    assert told["off/pi/result.json"] == ("arc-304-off-v1:30000", "pi", "off/pi/result")
    assert told["again/result.json"] == ("arc-304-off-v1:30000", "pi", "again/result")


def test_a_long_file_that_is_no_run_after_all_does_not_open(tmp_path: Path) -> None:
    series = make_record()["series"] | {"x_mm": 9000 * ["far away"]}
    put(tmp_path / "a.json", make_record(ticks=3, series=series))
    here = RunIndex(tmp_path)
    here.look()
    assert [here.open(name) for name in here.runs] == [None]


def test_a_film_beside_a_run_is_shown_and_nothing_else_is(tmp_path: Path) -> None:
    process = {"beam": {"sigma_um": 100.0}}
    put(tmp_path / "a.json", make_record(process=process))
    put(tmp_path / "b.json", make_record(process=process))
    film = FrameBuffer()
    words = {"kind": "frame", "run": "x", "k": 1, "low_k": 300.0, "high_k": 900.0, "reach": 16.0}
    film.add(1, pack(words, {"image": np.zeros((2, 2), np.uint8), "fan": np.zeros(1, np.float32)}))
    (tmp_path / "a.film").write_bytes(film.write())
    (tmp_path / "b.film").symlink_to(tmp_path / "a.film")
    here = RunIndex(tmp_path)
    here.look()
    a, b = here.runs
    opened = here.open(a)
    assert opened is not None
    assert (opened["film"], opened["sigma_mm"]) == (True, 0.1)
    assert here.find_frame(a, 2) == film.frames[0]
    assert (here.open(b) or {})["film"] is False
    assert here.find_frame(b, 2) is None
    assert here.find_frame("nobody", 2) is None
    (tmp_path / "a.film").write_bytes(b"hostile")
    assert here.find_frame(a, 2) is None


def test_runs_of_one_name_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    process = {"name": "paper", "camera": {"noise_k": 0.0, "delay_ticks": 0}}
    noisy = process | {"camera": {"noise_k": 5.0, "delay_ticks": 0}}
    put(tmp_path / "a.json", make_record(process=process))
    put(tmp_path / "b.json", make_record(process=noisy))
    put(tmp_path / "c.json", make_record(process=noisy))
    put(tmp_path / "d.json", make_record(controller="pi", model=None, delta_k=None, process=noisy))
    here = RunIndex(tmp_path)
    here.look()
    assert [run["apart"] for run in here.list()] == ["noise 0 K", "noise 5 K, b", "noise 5 K, c", ""]


def test_more_files_than_are_looked_at_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        put(tmp_path / f"{name}.json", make_record())
    monkeypatch.setattr(room, "MOST_RUNS", 2)
    here = RunIndex(tmp_path)
    assert (find_files(here), here.left_out) == (["a.json", "b.json"], 1)


def test_two_runs_with_nested_facts_are_listed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        nested: Any = [name]
        for _ in range(700):
            nested = [nested]
        put(tmp_path / f"{name}.json", make_record(mismatch={"absorptivity": nested}, seed=nested))
    here = RunIndex(tmp_path)
    here.look()
    assert [run["apart"] for run in here.list()] == ["a", "b"]


def test_damaged_runs_are_named_and_other_json_is_not(tmp_path: Path) -> None:
    whole = json.dumps(make_record())
    long = json.dumps(
        make_record(series={name: [0.5] * 4000 for name in make_record()["series"]}, ticks=4000)
    )
    put(tmp_path / "good.json", make_record())
    (tmp_path / "cut.json").write_text(whole[:-40])
    (tmp_path / "cut-late.json").write_text(long[:-5000])
    put(tmp_path / "changed.json", make_record(series={"t_s": [1.0]}))
    put(tmp_path / "demo.json", {"runs": [make_record(), make_record()]})
    put(tmp_path / "process.json", {"laser": {"power_w": [0, 20]}})
    (tmp_path / "text.json").write_text("{ no json")
    here = RunIndex(tmp_path)
    here.look()
    assert find_files(here) == ["good.json"]
    assert here.damaged == ["changed.json", "cut-late.json", "cut.json"]
    put(tmp_path / "cut.json", make_record())
    here.look()
    assert here.damaged == ["changed.json", "cut-late.json"]
