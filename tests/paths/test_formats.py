"""One polyline, four file formats, one path; and the example files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from laserloop.cli.options import PathOptions
from laserloop.data.ensemble import Excitation
from laserloop.evaluation import Trajectories
from laserloop.paths import Placement, find_path, names_file
from laserloop.process import Process

EXAMPLES = Path(__file__).parents[2] / "examples"
FloatArray = NDArray[np.float64]


def write_csv(points: FloatArray, speed: float) -> str:
    return "x_mm,y_mm\n" + "".join(f"{x:.12f},{y:.12f}\n" for x, y in 1e3 * points)


def write_gcode(points: FloatArray, speed: float) -> str:
    lines = [f"X{x:.12f} Y{y:.12f}\n" for x, y in 1e3 * points]
    return f"G21 G90 F{6e4 * speed:.9f}\nM5\nG0 {lines[0]}M3 S1\nG1 " + "".join(lines[1:]) + "M5\nM2\n"


def write_cli(points: FloatArray, speed: float) -> str:
    numbers = ",".join(f"{x:.9f},{y:.9f}\n" for x, y in 1e6 * points)
    header = f"$$HEADERSTART\n$$ASCII\n$$UNITS/0.001\n$$HEADEREND\n$$LAYER/1\n$$SPEED/{1e3 * speed:.9f}\n"
    return f"{header}$$POLYLINE/1,2,{len(points)},{numbers}$$GEOMETRYEND\n"


def write_segments(points: FloatArray, speed: float) -> str:
    rows = "".join(f"0 {x:.15f} {y:.15f} 0 14 {speed:.12f}\n" for x, y in points[1:])
    return f"Mode X Y Z Power Param\n1 {points[0, 0]:.15f} {points[0, 1]:.15f} 0 0 0\n{rows}"


WRITERS: dict[str, Callable[[FloatArray, float], str]] = {
    ".csv": write_csv,
    ".gcode": write_gcode,
    ".cli": write_cli,
    ".txt": write_segments,
}


@settings(deadline=None, max_examples=25)
@given(
    arrays(np.float64, st.tuples(st.integers(2, 7), st.just(2)), elements=st.floats(-4e-3, 4e-3)),
    st.floats(0.05, 2.0),
)
def test_one_polyline_in_four_formats_is_one_path(
    tmp_path_factory: pytest.TempPathFactory, points: FloatArray, speed: float
) -> None:
    assume(np.hypot(*np.diff(points, axis=0).T).sum() > 1.5 * speed * 1.25e-4)
    found = []
    for suffix, write in WRITERS.items():
        file = tmp_path_factory.getbasetemp() / f"polyline{suffix}"
        file.write_text(write(points, speed))
        found.append(find_path(str(file), speed=speed if suffix == ".csv" else None).positions)
    ticks = min(len(positions) for positions in found)
    assert ticks >= max(len(positions) for positions in found) - 1  # rounding decides on a last full tick
    for positions in found[1:]:
        np.testing.assert_allclose(positions[:ticks], found[0][:ticks], rtol=0, atol=1e-9)


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_speed_that_a_person_gives_is_stronger_than_that_of_the_file(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"line{suffix.upper()}"
    file.write_text(WRITERS[suffix](np.array([[0.0, 0.0], [3.04e-3, 0.0]]), 0.152))
    assert len(find_path(str(file))) == (80 if suffix == ".csv" else 160)
    assert len(find_path(str(file), speed=0.608)) == 40
    assert len(find_path(str(file), ticks=7)) == 7


def test_a_file_is_known_by_its_extension() -> None:
    known = ("a.csv", "b/A.CSV", "a.gcode", "a.Cli", "a.txt", "a.nc", "a.NGC", "a.tap")
    assert all(names_file(name) for name in known)
    assert not any(names_file(name) for name in ("diagonal", "polyline:7", "csv", "a.obj", ""))


def test_a_built_in_name_is_no_file_even_if_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("diagonal", "polyline:7", "part"):
        Path(name).write_text(write_gcode(np.array([[0.0, 0.0], [3.04e-3, 0.0]]), 0.152))
    assert [names_file(name) for name in ("diagonal", "polyline:7", "part")] == [False, False, True]
    assert len(find_path("part")) == 160


@pytest.mark.parametrize("ending", ["", ".part", ".001"])
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_without_a_known_ending_is_known_by_its_content(
    suffix: str, ending: str, tmp_path: Path
) -> None:
    written = WRITERS[suffix](np.array([[0.0, 0.0], [3.04e-3, 0.0]]), 0.304)
    file = tmp_path / f"line{ending}"
    file.write_text(f"\ufeff{written}", encoding="utf-8", newline="\r")
    assert len(find_path(str(file))) == 80


@pytest.mark.parametrize("ending", [".nc", ".ngc", ".tap", ".TAP"])
def test_gcode_has_the_endings_that_people_have(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"line{ending}"
    file.write_text(write_gcode(np.array([[0.0, 0.0], [3.04e-3, 0.0]]), 0.152))
    assert len(find_path(str(file))) == 160


@pytest.mark.parametrize(
    ("name", "lit_mm", "dark_mm", "rest_s", "notes"),
    [
        ("bracket.gcode", 6 + 1.3 * np.pi, np.hypot(1.9, 1.2), 0.0, 3),
        ("hatch.gcode", 20.0, 9 * np.hypot(2, 0.1), 0.0, 2),
        ("layer.cli", 15.0, 0.8 + np.hypot(0.1, 0.1), 0.0, 4),
        ("segments.txt", 6.0, 0.6, 2e-3 + 2 / 304, 1),  # its last line takes twice the time
    ],
)
def test_an_example_file_gives_its_numbers(
    name: str, lit_mm: float, dark_mm: float, rest_s: float, notes: int
) -> None:
    path = find_path(str(EXAMPLES / name))
    assert np.count_nonzero(path.lit) * path.tick == pytest.approx(lit_mm / 304 + rest_s, abs=1e-3)
    assert np.count_nonzero(~path.lit) * path.tick == pytest.approx(dark_mm / 1000, abs=2e-4)
    assert len(path.notes) == notes
    assert all(note.startswith(str(EXAMPLES / name)) for note in path.notes)
    length = np.hypot(*np.diff(path.positions, axis=0).T).sum()
    assert 1e3 * length == pytest.approx(lit_mm + dark_mm, rel=0.02)  # samples cut corners


@pytest.mark.parametrize(
    ("name", "lit_s", "dark_s", "length_mm"),
    [
        (
            "path_mm.txt",
            (5.55 + 2 * np.hypot(0.9, 0.5)) / 304,
            0.35e-3 + 0.5e-3,
            7.959,
        ),  # a jump, then a rest
        ("events.inp", 20e-3, 0.4e-3, 6.35),  # as its times say
    ],
)
def test_an_example_of_others_takes_the_time_it_says(
    name: str, lit_s: float, dark_s: float, length_mm: float
) -> None:
    path = find_path(str(EXAMPLES / name))
    assert np.count_nonzero(path.lit) * path.tick == pytest.approx(lit_s, abs=2e-4)
    assert np.count_nonzero(~path.lit) * path.tick == pytest.approx(dark_s, abs=2e-4)
    length = np.hypot(*np.diff(path.positions, axis=0).T).sum()
    assert 1e3 * length == pytest.approx(length_mm, rel=0.02)


def test_every_path_among_the_examples_is_tried_here() -> None:
    files = {file.name for file in EXAMPLES.iterdir() if names_file(file.name)}
    own = {"bracket.gcode", "hatch.gcode", "layer.cli", "segments.txt"}
    assert files == own | {"events.inp", "path_mm.txt"} | {"cutter.nc", "slicer.gcode", "pyslm_layer.cli"}


@pytest.mark.parametrize(
    ("name", "lit_mm", "dark_mm"),
    [("cutter.nc", 2.4 * np.pi + np.pi + 2 * np.hypot(0.35, 0.2), 1.4), ("slicer.gcode", 18.52, 2.25)],
)
def test_files_in_other_tools_dialects_give_their_lengths(name: str, lit_mm: float, dark_mm: float) -> None:
    """Relative arcs, M4 and S; a printer's file, where the laser is on while E grows. Samples cut corners."""
    path = find_path(str(EXAMPLES / name), placement=Placement(centre=True))
    length = 1e3 * np.hypot(*np.diff(path.positions, axis=0).T)
    assert length[path.lit].sum() == pytest.approx(lit_mm, rel=0.02)
    assert length[~path.lit].sum() == pytest.approx(dark_mm, abs=0.1)


def test_a_layer_hatched_by_another_tool_is_read_whole() -> None:
    path = find_path(str(EXAMPLES / "pyslm_layer.cli"), placement=Placement(centre=True))
    assert np.count_nonzero(path.lit) * path.tick * 304 == pytest.approx(34.9, rel=0.02)


def test_the_command_line_prints_what_was_assumed_and_takes_the_speed_of_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, process = str(EXAMPLES / "layer.cli"), Process()
    assert len(PathOptions().find(file, process)) == 402
    said = capsys.readouterr().err.splitlines()
    assert [line.startswith("laserloop: note: ") and line.endswith(".") for line in said] == [True] * 4
    slow = PathOptions(speed_mm_s=152.0).find(file, process)
    assert len(slow) == 797  # twice the lit time; jumps are as before
    assert len(capsys.readouterr().err.splitlines()) == 3  # none about the speed
    assert len(PathOptions().find(file, process.change(speed_mm_s=152))) == 797
    assert len(PathOptions(jump_mm_s=100.0).find(file, process)) == 470
    assert len(PathOptions(layer=2, offset_mm=(0.5, 0.0)).find(file, process)) == 21


@pytest.mark.parametrize("suffix", WRITERS)
def test_no_trajectory_is_kept_under_the_name_of_a_file(suffix: str, tmp_path: Path) -> None:
    kept = Trajectories(folder=tmp_path)
    assert kept.find_file(f"part{suffix}", Excitation.PERSISTENT, 0) is None
    assert kept.find_file("spiral", Excitation.PERSISTENT, 0) is not None
