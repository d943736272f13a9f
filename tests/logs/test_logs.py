"""Logs of every format lead to one noun, with its faults counted and its mistakes named by line."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.logs import Readings, count_faults, read_log
from laserloop.logs.export import render_table
from laserloop.process import Process

NIST = "build_time_us,cmd_laser_pos_x_mm,cmd_laser_pos_y_mm,cmd_laser_power_W"


RUN = """{
 "series": {
  "t_s": [1e-4, 2e-4],
  "x_mm": [ 7 ,
8
], "y_mm": [3, 4],
  "power_w": [5, 6], "t_measured_k": [700, null]
 },
 "process": {"name": "mine",
  "tick_us": 125
 }
}"""


def write(folder: Path, text: str, name: str = "log.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def rows(n: int = 6, step_us: float = 10.0) -> str:
    return "\n".join(
        f"{1000 + step_us * i:g},{0.1 * i:g},{-0.05 * i:g},{10 if i < 4 else 0}" for i in range(n)
    )


def readings(
    peak: list[float], arrived: list[float] | None = None, taken: list[float] | None = None
) -> Readings:
    n = len(peak)
    return Readings(
        arrived=np.arange(n, dtype=float) if arrived is None else np.array(arrived),
        taken=np.full(n, np.nan) if taken is None else np.array(taken),
        peak=np.array(peak),
        saturated=np.zeros(n, np.bool_),
    )


def test_a_machine_log_is_read_in_si_units_from_its_first_row_on(tmp_path: Path) -> None:
    recording = read_log(write(tmp_path, f"{NIST}\n{rows()}\n"))
    assert recording.times == pytest.approx(1e-5 * np.arange(6))
    assert recording.positions[2] == pytest.approx([2e-4, -1e-4])
    assert recording.power.tolist() == [10, 10, 10, 10, 0]


def test_what_the_machine_measured_of_itself_counts_before_what_it_was_told(tmp_path: Path) -> None:
    body = "\n".join(f"{line},{i},7" for i, line in enumerate(rows().split("\n")))
    text = f"{NIST},real_laser_pos_x_mm,real_laser_power_W\n{body}\n"
    recording = read_log(write(tmp_path, text))
    assert recording.positions[:, 0] == pytest.approx(1e-3 * np.arange(6))
    assert recording.positions[3, 1] == pytest.approx(-1.5e-4)
    assert set(recording.power) == {7.0}


def test_ticks_keep_the_energy_and_the_way(tmp_path: Path) -> None:
    path = read_log(write(tmp_path, f"{NIST}\n{rows(9)}\n")).path(2e-5)
    assert len(path) == 4
    assert path.power is not None
    assert path.power == pytest.approx([10, 10, 0, 0])
    assert path.lit.tolist() == [True, True, False, False]
    assert path.positions[3] == pytest.approx([6e-4, -3e-4])
    half = read_log(write(tmp_path, f"{NIST}\n{rows(9)}\n")).path(8e-5)
    assert half.power is not None
    assert half.power == pytest.approx([5.0])


MAPPED = "Time (ms);Lage X [µm];Lage Y [µm];P (kW);T (°C)\n"
COLUMNS = {"time": "Time (ms)", "x": "Lage X [µm]", "y": "Lage Y [µm]", "power": "P (kW)", "peak": "T (°C)"}


@pytest.mark.parametrize(("separator", "point"), [(";", ","), (";", "."), ("\t", ","), (",", ".")])
def test_a_log_is_read_as_its_machine_writes_it(tmp_path: Path, separator: str, point: str) -> None:
    lines = [f"{0.01 * i:.3f};{20 * i}.5;-5.0;0.010;{500 + i}.25" for i in range(6)]
    body = "\n".join(line.replace(".", point).replace(";", separator) for line in lines)
    recording = read_log(write(tmp_path, MAPPED.replace(";", separator) + body), COLUMNS)
    assert recording.times == pytest.approx(1e-5 * np.arange(6))
    assert recording.positions[2] == pytest.approx([40.5e-6, -5e-6])
    assert recording.power == pytest.approx(np.full(5, 10.0))
    assert recording.readings.peak == pytest.approx(773.4 + np.arange(6))


@pytest.mark.parametrize("fourth", ["2", "771.5"])
def test_four_columns_without_names_are_a_scanner_at_100_khz(tmp_path: Path, fourth: str) -> None:
    body = "\n".join(f"{0.01 * i:.2f},-0.5,{10 if i < 4 else 0},{fourth}" for i in range(6))
    recording = read_log(write(tmp_path, body))
    assert recording.times == pytest.approx(1e-5 * np.arange(6))
    assert recording.power.tolist() == [10, 10, 10, 10, 0]
    assert len(recording.readings) == (0 if fourth == "2" else 6)
    assert "has no names" in recording.notes[0]


@pytest.mark.parametrize(
    ("text", "columns", "complaint"),
    [
        ("a|b|c\n1|2|3\n", {}, "between commas, semicolons, tabs"),
        (MAPPED, COLUMNS | {"peak": "T (K)"}, "must name a column of the log"),
        (MAPPED, {"speed": "P (kW)"}, "by one of time, x, y, power"),
        (
            MAPPED.replace("P (kW)", "P (hp)"),
            COLUMNS | {"power": "P (hp)"},
            "must end in its unit, one of w, kw",
        ),
    ],
)
def test_columns_that_are_not_understood_are_a_sentence(
    tmp_path: Path, text: str, columns: dict[str, str], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        read_log(write(tmp_path, text), columns)


def test_a_table_in_parquet_is_read_with_its_process(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    series = {
        "t_s": [1e-4, 2e-4, 3e-4],
        "x_mm": [0.1, 0.2, 0.3],
        "y_mm": [0.0] * 3,
        "power_w": [5.0, 6.0, 7.0],
    }
    page = {
        "process": Process(name="mine").to_json(),
        "series": series | {"t_measured_k": [400.0, None, 500.0]},
    }
    file = tmp_path / "run.parquet"
    file.write_bytes(render_table(page, ".parquet"))
    recording, same = read_log(file), read_log(write(tmp_path, json.dumps(page), "run.json"))
    assert recording.process == same.process
    assert recording.power.tolist() == same.power.tolist()
    assert recording.readings.arrived == pytest.approx(same.readings.arrived)
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(BadInput, match="readable Parquet"):
        read_log(file)


@pytest.mark.parametrize("duty", [0.1, 0.25, 0.4, 0.5, 0.9])
def test_a_log_finer_than_a_tick_keeps_its_energy(tmp_path: Path, duty: float) -> None:
    on = np.random.default_rng(3).random(400) < duty
    body = "\n".join(f"{10 * i},{1e-3 * i:g},0,{(7 + i % 5) * on[i]}" for i in range(400))
    recording = read_log(write(tmp_path, f"{NIST}\n{body}\n"))
    path = recording.path(1.25e-4)
    assert path.power is not None
    whole = len(path) * path.tick
    wanted = (recording.power * np.clip(whole - recording.times[:-1], 0.0, 1e-5)).sum()
    assert path.power.sum() * path.tick == pytest.approx(wanted, rel=1e-9)


def test_light_beside_a_jump_heats_where_it_was_and_not_the_way_of_the_jump(tmp_path: Path) -> None:
    places = [0.01 * min(i, 14) + 1.0 * max(i - 14, 0) for i in range(40)]  # mm; from row 14 on a jump
    body = "\n".join(f"{10 * i},{x:g},0,{10 * (i < 14)}" for i, x in enumerate(places))
    path = read_log(write(tmp_path, f"{NIST}\n{body}\n")).path(1.25e-4)
    assert path.lit.tolist() == [True, True, False]
    assert path.positions[1:3, 0] == pytest.approx([1.25e-4, 1.4e-4])
    assert path.lit_speeds.max() < 1.01  # m/s; the jump has 100


def test_an_empty_cell_is_no_reading_and_nan_is_a_broken_one(tmp_path: Path) -> None:
    cells = ["700.5", "", "nan", "702", "9999", "703"]
    body = "\n".join(f"{line},{cell}" for line, cell in zip(rows().split("\n"), cells, strict=True))
    recording = read_log(write(tmp_path, f"{NIST},measured_peak_k\n{body}\n"))
    assert recording.readings.arrived == pytest.approx([0, 2e-5, 3e-5, 4e-5, 5e-5])
    tally = count_faults(recording.readings)
    assert (tally.readings, tally.lost, tally.nan, tally.saturated) == (5, 1, 1, 1)
    assert tally.usable.tolist() == [True, False, True, False, True]


def test_readings_that_repeat_themselves_are_frozen_but_for_the_first() -> None:
    tally = count_faults(readings([1e3, 780, 780, 780, 780, 780, 781]))
    assert tally.frozen == 4
    assert tally.usable.tolist() == [True, True, False, False, False, False, True]
    assert count_faults(readings([1e3, 780, 780, 780, 780, 781])).frozen == 0
    broken = count_faults(readings([780, 780, float("nan"), 780, 780, 780, 781]))
    assert (broken.frozen, broken.nan) == (4, 1)


@pytest.mark.parametrize("coarse", [1.0, 5.0, 20.0])
def test_a_coarse_sensor_that_repeats_itself_by_chance_is_not_frozen(coarse: float) -> None:
    peak = coarse * np.round((780.0 + np.random.default_rng(0).normal(0.0, 5.0, 1000)) / coarse)
    assert count_faults(readings(peak.tolist())).frozen == 0
    peak[200:900] = peak[200]
    assert count_faults(readings(peak.tolist())).frozen >= 699


def test_a_reading_older_than_one_that_came_before_is_late() -> None:
    tally = count_faults(readings([700, 701, 702, 703, 704], taken=[-1, 0, 2, 1, 3]))
    assert tally.late == 1
    assert not tally.usable[3]
    slow = count_faults(
        readings([700, 701, 702, 703, 704], arrived=[0, 1, 2, 3, 4], taken=[-1, 0, 1, 1.1, -1])
    )
    assert slow.late == 1


def test_a_run_of_ours_has_its_process_inside(tmp_path: Path) -> None:
    series = {"t_s": [1e-4, 2e-4, 3e-4], "x_mm": [0.1, 0.2, 0.3], "y_mm": [0, 0, 0], "power_w": [5, 6, 0]}
    series["t_measured_k"] = [400, None, 500]
    page = {"process": Process(name="mine").to_json(), "series": series}
    recording = read_log(write(tmp_path, json.dumps(page), "run.json"))
    assert recording.process is not None
    assert recording.process.name == "mine"
    assert recording.positions[0] == pytest.approx([0, 0], abs=1e-12)
    assert recording.power.tolist() == [5, 6, 0]
    assert recording.readings.arrived == pytest.approx([1e-4, 3e-4])


def test_a_run_without_measurements_says_what_is_taken_for_them(tmp_path: Path) -> None:
    page = {"t_s": [1e-4, 2e-4], "x_mm": [0, 1], "y_mm": [0, 0], "power_w": [5, 6], "t_peak_k": [400, 500]}
    recording = read_log(write(tmp_path, json.dumps(page), "run.json"))
    assert "t_peak_k" in recording.notes[0]
    assert recording.readings.peak.tolist() == [400, 500]


def test_a_machine_log_tells_where_each_peak_was_seen_and_moves_it_along(tmp_path: Path) -> None:
    header = f"{NIST},measured_peak_k,measured_peak_x_mm,measured_peak_y_mm"
    cells = ("700,0.5,-0.1", ",,", "nan,,", "710,0.7,", "720,0.8,0.2", ",9,9")
    body = "\n".join(f"{line},{cell}" for line, cell in zip(rows().split("\n"), cells, strict=True))
    recording = read_log(write(tmp_path, f"{header}\n{body}\n"))
    nan = float("nan")
    expected = 1e-3 * np.array([[0.5, -0.1], [nan, nan], [0.7, nan], [0.8, 0.2]])
    assert recording.readings.place == pytest.approx(expected, nan_ok=True)
    moved = recording.moved(np.array([1e-3, 2e-3])).readings
    assert moved.place == pytest.approx(expected + np.array([1e-3, 2e-3]), nan_ok=True)


def test_a_log_is_centred_by_its_lit_part(tmp_path: Path) -> None:
    body = "\n".join(f"{10 * i},{100 + i},{50},{10 if 0 < i < 3 else 0}" for i in range(6))
    recording = read_log(write(tmp_path, f"{NIST}\n{body}\n")).centred()
    assert recording.positions[1:4, 0] == pytest.approx([-1e-3, 0, 1e-3])
    assert recording.positions[0, 1] == pytest.approx(0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "line 1.*build_time_us"),
        (f"{NIST.replace('cmd_laser_power_W', 'watts')}\n1,2,3,4\n", "line 1.*laser_power_W"),
        (f"{NIST}\n", "at least two rows"),
        (f"{NIST}\n1,2,3,4\n2,2,3\n", "line 3.*4 cells"),
        (f"{NIST}\n1,2,3,4\n2,x,3,4\n", "line 3: cmd_laser_pos_x_mm.*'x'"),
        (f"{NIST}\n1,2,3,4\n2,nan,3,4\n", "line 3: cmd_laser_pos_x_mm"),
        (f"{NIST}\n1,2,3,4\n1,2,3,4\n", "line 3: build_time_us must rise"),
        (f"{NIST}\n1,2,3,4\n2,2,3,-50\n", "line 3: cmd_laser_power_W"),
        (f"{NIST}\n1,2,3,4\n2,2,3,4\0\n", "line 3.*zero byte"),
        (f'{NIST}\n1,2,3,4\n2,2,3,"4\n', "line 3.*CSV"),
        (f"{NIST}\n" + "1" * 200_000, "line 2.*too long"),
        ("t_s,x_mm,y_mm,power_w\n0,0,0,0\n1,0,zero,1\n", "line 3: y_mm"),
    ],
)
def test_a_table_that_cannot_be_read_says_in_which_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        read_log(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("\n{", "line 2, column 2"),
        ("\n[]", "a run must be a JSON object"),
        ("\n" + "[" * 100_000, "brackets of JSON may be"),
        ('["' + "[" * 200 + '",\n' + "[" * 100_000, "brackets of JSON may be"),
        ("{}", "t_s must be a list"),
        (RUN.replace("t_measured_k", "t_k"), "t_measured_k must be a list"),
        (RUN.replace('"series": {', '"series": [1], "was": {'), "series must be lists"),
        (RUN.replace('"y_mm": [3,', '"y_mm": [3, 3,'), "y_mm must have 2 entries as t_s, but has 3"),
        (RUN.replace("1e-4", '"a"'), "entry 0: t_s must be a number, but is 'a'"),
        (RUN.replace("2e-4", "1e-4"), "entry 1: t_s must rise"),
        (RUN.replace("8\n", "null\n"), "entry 1: x_mm must be a finite number"),
        (RUN.replace("8\n", "true\n"), "entry 1: x_mm must be a number, but is True"),
        (RUN.replace("8\n", "9" * 5000 + "\n"), "entry 1: x_mm must be a number, but is inf"),
        (RUN.replace("[5, 6]", "[5,\n-6]"), "entry 1: power_w must lie between 0 and 10000 W"),
        (RUN.replace('"tick_us": 125', '"tick_us": -1'), "tick_us"),
        (RUN.replace('"tick_us"', '"tock_us"'), "the process of this run may have the keys"),
        ('{"t_s": 1,\n"t_s": "b"}', "t_s must be a list"),
    ],
)
def test_a_run_that_cannot_be_read_says_why(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        read_log(write(tmp_path, text, "run.json"))


def test_an_unknown_ending_and_a_missing_file_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="must end in"):
        read_log("log.xyz")
    for name in ("none.csv", "none.json"):
        with pytest.raises(BadInput, match="readable"):
            read_log(tmp_path / name)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    text=st.text(alphabet='0123456789.,-e+nax"\n\r\t #\0é', max_size=200),
    name=st.sampled_from(["csv", "json"]),
)
def test_whatever_is_in_a_file_the_answer_is_a_recording_or_a_sentence(
    tmp_path: Path, text: str, name: str
) -> None:
    for content in (text, f"{NIST},measured_peak_k\n{text}", f"t_s,x_mm,y_mm,power_w,t_measured_k\n{text}"):
        with suppress(BadInput):
            read_log(write(tmp_path, content, f"fuzz.{name}"))
