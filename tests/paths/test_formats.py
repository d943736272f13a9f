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
from laserloop.data.excitation import Excitation
from laserloop.evaluation.trajectories import Trajectories
from laserloop.paths import find_path, names_file

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
    assert all(names_file(name) for name in ("a.csv", "b/A.CSV", "a.gcode", "a.Cli", "a.txt"))
    assert not any(names_file(name) for name in ("diagonal", "polyline:7", "csv", "a.nc", ""))


@pytest.mark.parametrize(
    ("name", "ticks", "length_mm", "notes"),
    [
        ("bracket.gcode", 324, 6 + 1.3 * np.pi + np.hypot(1.9, 1.2), 1),
        ("layer.cli", 419, 15 + 0.8 + np.hypot(0.1, 0.1), 3),
        ("segments.txt", 250, 6.6, 1),
    ],
)
def test_an_example_file_gives_its_numbers(name: str, ticks: int, length_mm: float, notes: int) -> None:
    path = find_path(str(EXAMPLES / name))
    assert (len(path), len(path.notes)) == (ticks, notes)
    assert all(note.startswith(str(EXAMPLES / name)) for note in path.notes)
    length = np.hypot(*np.diff(path.positions, axis=0).T).sum()
    assert 1e3 * length == pytest.approx(length_mm, abs=0.2)  # samples cut corners


def test_every_path_among_the_examples_is_tried_here() -> None:
    files = {file.name for file in EXAMPLES.iterdir() if names_file(file.name)}
    assert files == {"bracket.gcode", "layer.cli", "segments.txt"}


def test_the_command_line_prints_what_was_assumed_and_takes_the_speed_of_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plate = (15.0, 10.0, 2.0)
    assert len(PathOptions().find(str(EXAMPLES / "layer.cli"), plate)) == 419
    said = capsys.readouterr().err.splitlines()
    assert [line.startswith("laserloop: note: ") and line.endswith(".") for line in said] == [True] * 3
    slow = PathOptions(speed_mm_s=152.0).find(str(EXAMPLES / "layer.cli"), plate)
    assert len(slow) == 839
    assert len(capsys.readouterr().err.splitlines()) == 2  # none about the speed


@pytest.mark.parametrize("suffix", WRITERS)
def test_no_trajectory_is_kept_under_the_name_of_a_file(suffix: str, tmp_path: Path) -> None:
    kept = Trajectories(folder=tmp_path)
    assert kept.find_file(f"part{suffix}", Excitation.PERSISTENT, 0) is None
    assert kept.find_file("spiral", Excitation.PERSISTENT, 0) is not None
