"""Path files as people have them, through `laserloop simulate`."""

import json
import math
import re
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laserloop.cli import main
from laserloop.process import Process, find_process

Capture = pytest.CaptureFixture[str]
HATCH = "; S in W\nM3 S14\nG0 X0 Y0\nG1 X0.38 F18240\nG0 X0 Y0.1\nG1 X0.38 S12\nM5\n"  # lines of ten ticks
FIRST = 4.0 - math.hypot(0.38, 0.1) / 0.125  # lit share of the tick in which the jump, at 1 m/s, ends
FAN = "; S in W\nG0 X0 Y0\nM106 S20\nG1 X0.38 F18240\nM107\n{dwell}\nG1 X0.38 Y0.038\nM106 S10\nG1 X0\nM107\n"
TABLE = "Mode X Y Z Power Param\n1 0 0 0 0 0\n0 {x} 0 0 15 0.304\n0 {x} 0.001 0 0 0.8\n0 0 0.001 0 10 0.304\n"
LAYERS = (
    "$$HEADERSTART\n$$ASCII\n$$UNITS/1\n$$HEADEREND\n$$GEOMETRYSTART\n$$SPEED/304\n"
    "$$LAYER/0.1\n$$POWER/14\n$$HATCHES/1,2,0,0,0.38,0,0.38,1,0,1\n"
    "$$LAYER/0.2\n$$POWER/11\n$$HATCHES/1,1,50,50,50.38,50\n$$GEOMETRYEND\n"
)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: Capture, *options: str) -> tuple[dict[str, Any], str]:
    """What `simulate` writes as JSON, and its notes."""
    code = main(["simulate", *options, "--json", "-"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return dict(json.loads(out)), err


def stretches(data: dict[str, Any]) -> list[tuple[bool, float, int]]:
    """Lit or dark, W, ticks."""
    pairs = zip(data["lit"], data["power_w"], strict=True)
    return [(*pair, len(list(group))) for pair, group in groupby(pairs)]


@pytest.mark.parametrize("name", ["a.gcode", "a.nc", "a.NGC", "a.tap", "a", "a.part"])
def test_power_w_file_drives_the_powers_of_the_file_and_jumps_are_dark(name: str, capsys: Capture) -> None:
    Path(name).write_text(HATCH)
    data, err = run(capsys, name, "--power-w", "file")
    first = (True, pytest.approx(12.0 * FIRST), 1)  # the jump ends in it
    assert stretches(data) == [(True, 14.0, 10), (False, 0.0, 3), first, (True, 12.0, 9)]
    lengths = {len(data[key]) for key in ("t_s", "x_mm", "y_mm", "lit", "power_w", "t_max_k", "t_peak_k")}
    assert lengths == {23}
    assert data["ms_per_step"] > 0
    assert Process.from_json(data["process"]) == Process()
    told = [line.removeprefix("laserloop: note: ").removesuffix(".") for line in err.splitlines()]
    assert data["notes"] == told
    assert any("3 of 23 ticks are dark" in note for note in told)
    assert any("dark moves without a speed go at 1000 mm/s" in note for note in told)


def test_dark_ticks_cool_and_get_no_power_whatever_the_power_is(capsys: Capture) -> None:
    Path("a.nc").write_text(HATCH)
    data, err = run(capsys, "a.nc", "--power-w", "9")
    assert [power for _, power, _ in stretches(data)] == [9.0, 0.0, pytest.approx(9.0 * FIRST), 9.0]
    assert data["t_max_k"][12] < data["t_max_k"][9]
    assert "commands its own powers" not in err
    data, err = run(capsys, "a.nc")
    assert [power for _, power, _ in stretches(data)] == [14.0, 0.0, pytest.approx(14.0 * FIRST), 14.0]
    assert "a.nc commands its own powers, which are not used; try --power-w file" in data["notes"]
    assert "laserloop: note: a.nc commands its own powers" in err


@pytest.mark.parametrize(("dwell", "dark"), [("G4 P2", 17), ("G4 S0.002", 17), ("", 1)])
def test_a_fan_is_the_laser_of_a_printer_and_its_dwell_is_in_milliseconds(
    dwell: str, dark: int, capsys: Capture
) -> None:
    Path("a.gcode").write_text(FAN.format(dwell=dwell))
    data, _ = run(capsys, "a.gcode", "--power-w", "file")
    assert stretches(data) == [(True, 20.0, 10), (False, 0.0, dark), (True, 10.0, 10)]


def test_s_is_a_share_of_the_lasers_full_power_if_its_range_is_given(capsys: Capture) -> None:
    Path("a.gcode").write_text(FAN.format(dwell=""))
    data, err = run(capsys, "a.gcode", "--power-w", "file", "--s-max", "25")
    assert [power for _, power, _ in stretches(data)] == [16.0, 0.0, 8.0]
    assert "S is taken as W" not in err


def test_a_file_that_asks_for_more_than_the_laser_gives_gets_a_note(capsys: Capture) -> None:
    Path("a.nc").write_text(HATCH.replace("S14", "S40"))
    data, _ = run(capsys, "a.nc", "--power-w", "file")
    assert stretches(data)[0][1] == 40.0
    assert any(re.match(r"a\.nc commands up to 40 W, .* at most 20 W; .* --s-max", n) for n in data["notes"])


def test_a_detour_of_rapids_keeps_its_time_and_its_way(capsys: Capture) -> None:
    Path("a.nc").write_text(HATCH.replace("G0 X0 Y0.1\n", "G0 X0 Y6\nG0 X0 Y0.1\n"))
    data, _ = run(capsys, "a.nc", "--power-w", "file")
    ticks = (np.hypot(0.38, 6) + 5.9) / 0.125  # at 1000 mm/s
    assert stretches(data)[1] == (False, 0.0, round(ticks))
    assert max(data["y_mm"]) == pytest.approx(6, abs=0.13)  # beyond the plate's edge at 5


def test_jumps_go_as_fast_as_the_file_says_or_as_asked(capsys: Capture) -> None:
    Path("a.txt").write_text(TABLE.format(x=0.00038))
    assert stretches(run(capsys, "a.txt", "--power-w", "file")[0]) == [
        (True, 15.0, 10),
        (False, 0.0, 10),
        (True, 10.0, 10),
    ]
    Path("a.cli").write_text(LAYERS)
    for options, ticks in (((), 8), (("--jump-mm-s", "400"), 20)):
        data, err = run(capsys, "a.cli", "--power-w", "file", *options)
        assert stretches(data) == [(True, 14.0, 10), (False, 0.0, ticks), (True, 14.0, 10)]
        assert "dark moves without a speed go at" in err


def test_a_layer_is_chosen_and_moved_onto_the_plate(capsys: Capture) -> None:
    Path("a.cli").write_text(LAYERS)
    data, _ = run(capsys, "a.cli", "--layer", "2", "--centre", "--power-w", "file")
    assert stretches(data) == [(True, 11.0, 10)]
    assert data["x_mm"][-1] == pytest.approx(0.19)
    for offset in (("--offset-mm", "-50,-49.5"), ("--offset-mm=-50,-49.5",)):
        data, _ = run(capsys, "a.cli", "--layer", "2", *offset)
        assert (data["x_mm"][-1], data["y_mm"][-1]) == pytest.approx((0.38, 0.5))


def test_columns_of_a_csv_file_switch_the_laser(capsys: Capture) -> None:
    Path("a.csv").write_text("x_mm,y_mm,lit,power_w\n0,0,,\n0.38,0,1,14\n0.38,1,0,\n0,1,1,10\n")
    data, _ = run(capsys, "a.csv", "--power-w", "file")
    assert stretches(data) == [(True, 14.0, 10), (False, 0.0, 8), (True, 10.0, 10)]


def test_a_file_without_speeds_goes_at_that_of_the_process(capsys: Capture) -> None:
    Path("a.csv").write_text("x_mm,y_mm\n0,0\n0.38,0\n")
    assert len(run(capsys, "a.csv")[0]["t_s"]) == 10
    data, _ = run(capsys, "a.csv", "--process", "316")  # 200 mm/s
    assert len(data["t_s"]) == 15
    assert Process.from_json(data["process"]) == find_process("316")


def test_a_process_of_ones_own_is_in_the_record_and_options_override_it(capsys: Capture) -> None:
    Path("mine.yaml").write_text("name: ours\nspeed_mm_s: 152\nbeam: {sigma_um: 120}\nwindow_k: [600, 640]\n")
    data, _ = run(capsys, "horizontal", "--ticks", "3", "--process", "mine.yaml", "--sigma-um", "110")
    process = Process.from_json(data["process"])
    assert (process.name, process.beam.sigma, process.window) == ("ours", 110e-6, (600.0, 640.0))
    assert np.hypot(*np.diff([data["x_mm"], data["y_mm"]])) == pytest.approx(0.019)
    assert main(["simulate", "horizontal", "--ticks", "3", "--process", "mine.yaml"]) == 0
    assert "above 640 K" in capsys.readouterr().out


HUGE = "9" * 309
HOSTILE = {
    "empty.gcode": (b"", "is empty"),
    "empty.csv": (b"", "is empty"),
    "empty.cli": (b"", "is empty"),
    "empty.txt": (b"", "is empty"),
    "empty": (b"", "none of these by its content"),
    "binary.gcode": (bytes(range(256)), "line 1: a path file must be text"),
    "binary.csv": (b"\x89PNG\r\n\x1a\n", "UTF-8 text"),
    "binary.cli": (b"$$HEADERSTART\n$$BINARY\n\x00", "export it as ASCII"),
    "binary.txt": (bytes(range(256)), "must be text"),
    "binary": (bytes(range(256)), "none of these by its content"),
    "far.gcode": (f"G0 X0 Y0\nG1 X{HUGE}\n".encode(), "line 2: no machine takes X9"),
    "far.csv": (b"x_mm,y_mm\n0,0\n1e308,-1e308\n", "line 3: every point must lie on the 15 × 10 mm plate"),
    "far.txt": (TABLE.format(x=1e308).encode(), "line 3: every point must lie"),
    "far.cli": (LAYERS.replace("0,0,0.38,0", "0,0,1e308,0").encode(), "line 9: every point must lie"),
    "away.csv": (b"x_mm,y_mm,lit\n0,0,1\n1,0,1\n1e308,0,0\n1,0,0\n0,0,1\n", "at most 10000000 ticks"),
    "still.gcode": (b"G21\nM3 S5\nM5\n", "needs moves with the laser on"),
    "rapids.gcode": (b"G0 X1 Y1\nG0 X2 Y2\n", "needs moves with the laser on"),
    "dark.csv": (b"x_mm,y_mm,power_w\n0,0,1\n1,0,0\n", "needs moves with the laser on"),
    "dark.cli": (LAYERS.replace("POWER/14", "POWER/0").replace("POWER/11", "POWER/0").encode(), "laser on"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_path_is_refused_with_one_sentence(name: str, capsys: Capture) -> None:
    content, words = HOSTILE[name]
    Path(name).write_bytes(content)
    expect_sentence(main(["simulate", name]), capsys, words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("b.nc", "--power-w", "file"),
            "--power-w file needs a file that commands powers, but b.nc does not",
        ),
        (("diagonal", "--power-w", "file"), "needs a file that commands powers, but diagonal does not"),
        (("diagonal", "--layer", "1"), "must be for a file, but the path is 'diagonal'"),
        (("diagonal", "--centre"), "must be for a file"),
        (("diagonal", "--offset-mm", "1,1"), "must be for a file"),
        (("a.nc", "--layer", "2"), "the layer must be 1 to 1"),
        (("a.nc", "--layer", "0"), "--layer must be a whole number from 1"),
        (("a.nc", "--offset-mm", "1"), "--offset-mm must be 2 numbers [x, y] from -10000 to 10000 mm"),
        (("a.nc", "--offset-mm", "nan,1"), "--offset-mm must be 2 numbers [x, y] from -10000 to 10000 mm"),
        (("a.nc", "--offset-mm", "90,0"), "line 4: every point must lie on the 15 × 10 mm plate"),
        (("a.nc", "--centre", "--offset-mm", "1,1"), "centred or moved, but both"),
        (("a.nc", "--s-max", "13", "--power-w", "file"), "S must be at most 13, but is 14"),
        (("a.nc", "--jump-mm-s", "0"), "--jump-mm-s must be a number from 0.001"),
        (("a.nc", "--process", "cheese"), "a process must be 304, 316, in625, paper, ti64 or a .yaml file"),
        (("a.nc", "--process", "none.yaml"), "none.yaml' must be readable"),
        (("a.nc", "--process", "bad.yaml"), "tick_us of the process bad must be a number from 0.01"),
    ],
)
def test_an_option_that_does_not_fit_its_file_is_refused(
    options: tuple[str, ...], words: str, capsys: Capture
) -> None:
    Path("a.nc").write_text(HATCH)
    Path("b.nc").write_text("G0 X0 Y0\nG1 X1\n")
    Path("bad.yaml").write_text("tick_us: .nan\n")
    expect_sentence(main(["simulate", *options]), capsys, words)


def expect_sentence(code: int, capsys: Capture, words: str) -> None:
    out, err = capsys.readouterr()
    *notes, sentence = err.splitlines()
    assert (code, out) == (2, "")
    assert words in sentence
    assert sentence.startswith("laserloop: ")
    assert all(note.startswith("laserloop: note: ") for note in notes)


def test_check_takes_files_of_spots_and_dark_moves_off_the_plate_as_plan_does(capsys: Capture) -> None:
    Path("off.nc").write_text("M3 S9\nG0 X0 Y0\nG1 X0.1 F18240\nG0 X9 Y0\nG0 X0 Y0.1\nG1 X0.3\n")
    Path("spots.txt").write_text(
        "Mode X Y Z Power Param\n1 0 0 0 14 0.002\n1 0.00031 0 0 14 0.002\n1 0.0006 0 0 14 0.002\n"
    )
    for name in ("off.nc", "spots.txt"):
        assert main(["check", "paper", name, "--json", "-"]) == 0, capsys.readouterr().err
        found = json.loads(capsys.readouterr().out)
        assert found["step_s"] > 0
        assert found["process"]["speed_mm_s"] == 304
