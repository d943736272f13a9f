from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.paths import Placement, find_path
from laserloop.process import Process

BUILT_IN = ["vertical", "horizontal", "spiral", "diagonal", "polyline:7"]
HOP = 0.304 * 1.25e-4


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A 5 mm line: 131 ticks at the default speed."""
    path = tmp_path / "line.csv"
    path.write_text("x_mm,y_mm\n0,0\n3,0\n3,0\n5,0\n")
    return path


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_path_lasts_400_ticks_in_the_scan_area(name: str) -> None:
    path = find_path(name)
    assert (len(path), path.name, path.tick) == (400, name, 1.25e-4)
    assert np.abs(path.positions).max() <= 1.5e-3 * (1 + 1e-12)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(BUILT_IN), st.integers(1, 3000), st.floats(1e-5, 2.0))
def test_a_built_in_path_lasts_as_long_as_asked(name: str, ticks: int, speed: float) -> None:
    path = find_path(name, ticks=ticks, speed=speed)
    assert len(path) == ticks
    assert np.hypot(*path.velocities.T).max() <= speed * (1 + 1e-6)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_longer_built_in_path_begins_with_the_shorter_one(name: str) -> None:
    np.testing.assert_allclose(
        find_path(name, ticks=900).truncated(300).positions, find_path(name, ticks=300).positions, atol=1e-9
    )


@pytest.mark.parametrize("name", ["vertical", "horizontal", "diagonal"])
def test_most_ticks_of_a_straight_shape_advance_one_full_hop(name: str) -> None:
    hops = np.hypot(*np.diff(find_path(name).positions, axis=0).T)
    assert np.isclose(hops, HOP, rtol=1e-9).mean() > 0.95


def test_the_spiral_is_travelled_at_constant_speed() -> None:
    growth = 1.5e-3 / (6 * np.pi)  # m/rad
    radii = np.hypot(*find_path("spiral").positions[:370].T)
    u = radii / growth
    arclength = growth / 2 * (u * np.sqrt(1 + u**2) + np.arcsinh(u))
    np.testing.assert_allclose(arclength, HOP * np.arange(370), atol=3e-7)


def test_the_diagonal_reaches_its_first_vertex_after_5_milliseconds() -> None:
    path = find_path("diagonal")
    nearest = np.hypot(*(path.positions[:100] + 1.5e-3).T).argmin()
    assert path.times[nearest] == pytest.approx(4.93e-3, abs=1.25e-4)
    np.testing.assert_allclose(path.velocities[0], [0, -0.304], atol=1e-9)


def test_a_seed_makes_a_path() -> None:
    np.testing.assert_array_equal(find_path("polyline:7").positions, find_path("polyline:7").positions)
    assert not np.array_equal(find_path("polyline:7").positions, find_path("polyline:8").positions)


def test_a_file_is_followed_to_its_end(file: Path) -> None:
    path = find_path(str(file))
    assert (len(path), path.name) == (131, str(file))
    np.testing.assert_allclose(path.positions[-1], [131 * HOP, 0], atol=1e-12)
    assert len(find_path(str(file), ticks=131)) == 131
    assert len(find_path(str(file), speed=0.152)) == 263


def test_a_capital_extension_is_a_csv_file_too(file: Path) -> None:
    assert len(find_path(str(file.rename(file.with_suffix(".CSV"))))) == 131


def test_more_ticks_than_the_file_has_are_refused(file: Path) -> None:
    with pytest.raises(
        BadInput, match=r"line\.csv is 131 ticks long, but 132 were asked for; ask for at most 131"
    ):
        find_path(str(file), ticks=132)


def test_a_fast_beam_passes_a_file_in_less_than_a_tick(file: Path) -> None:
    with pytest.raises(BadInput, match=r"at least one tick, but .*line\.csv is 5 mm"):
        find_path(str(file), Process(tick=1e-3), speed=20.0)


@pytest.mark.parametrize("text", ["zigzag", "", "Vertical", "vertical:3", "vertical:", "/tmp/nowhere", "."])
def test_an_unknown_name_gets_the_choices(text: str) -> None:
    with pytest.raises(
        BadInput, match=r"vertical, horizontal, spiral, diagonal, FAMILY:SEED .* or a file that ends in \.csv"
    ):
        find_path(text)


@pytest.mark.parametrize("text", ["part.obj", "a/b.csv.bak", "part.gcode.gz"])
def test_an_unknown_extension_gets_what_can_be_read(text: str) -> None:
    known = ".csv, .gcode, .cli, .txt or .inp"
    with pytest.raises(BadInput, match=f"must exist, and end in {known} or .*, but '{text}' is no file"):
        find_path(text)


@pytest.mark.parametrize("name", ["part.obj", "part", "diagonal.bak"])
@pytest.mark.parametrize("content", [b"solid part\nfacet normal 0 0 1\n", b"", b"\x00G1 X1", b"\x89PNG\r\n"])
def test_a_file_of_no_known_format_is_refused(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=f"{name}: a path file must be G-code, .* but is none of these"):
        find_path(str(tmp_path / name))


@pytest.mark.parametrize(
    "options", [{"layer": 1}, {"offset": (1e-3, 0.0)}, {"centre": True}, {"s_max": 255.0}]
)
def test_what_is_for_files_is_refused_for_a_built_in_path(options: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="must be for a file, but the path is 'diagonal'"):
        find_path("diagonal", placement=Placement(**options))


def test_a_file_far_off_is_moved_or_centred_onto_the_plate(tmp_path: Path) -> None:
    file = tmp_path / "far.csv"
    file.write_text("x_mm,y_mm\n100,50\n104,50\n104,52\n")
    with pytest.raises(BadInput, match=r"line 2: .* or centre or shift the path"):
        find_path(str(file))
    centred = find_path(str(file), placement=Placement(centre=True))
    np.testing.assert_allclose(centred.positions[0], [-2e-3, -1e-3], atol=1e-12)
    moved = find_path(str(file), placement=Placement(offset=(-0.1, -0.05)))
    np.testing.assert_allclose(moved.positions[0], [0, 0], atol=1e-12)
    with pytest.raises(BadInput, match="a path must be centred or moved, but both were asked for"):
        find_path(str(file), placement=Placement(centre=True, offset=(-0.1, -0.05)))


def test_a_range_of_s_is_for_gcode_alone(file: Path) -> None:
    with pytest.raises(BadInput, match="a range of S must be for G-code, but this is none"):
        find_path(str(file), Process(), placement=Placement(s_max=255.0))


def test_shares_of_the_full_power_need_that_power(tmp_path: Path) -> None:
    table, series = tmp_path / "a.txt", tmp_path / "a.inp"
    table.write_text("Mode X(mm) Y(mm) Z(mm) Pmod Param\n1 0 0 0 0 0\n0 1 0 0 0.5 0.304\n")
    series.write_text("0 0 0 0 0.5\n0.003 0.001 0 0 0\n")
    for file in (table, series):
        assert find_path(str(file)).power is None
        found = find_path(str(file), Process().change(power_w=(0, 30)))
        assert found.power is not None
        np.testing.assert_array_equal(found.power, 15.0)
        assert "a share of the laser's full power, 30 W" in found.notes[0]


def test_the_default_speed_is_for_built_in_paths_and_files_without_speeds(file: Path, tmp_path: Path) -> None:
    assert len(find_path(str(file), Process(speed=0.152))) == 263
    assert len(find_path(str(file), Process(speed=0.152), speed=0.304)) == 131
    assert np.hypot(*find_path("vertical", Process(speed=0.2)).velocities[0]) == pytest.approx(0.2)
    part = tmp_path / "part.nc"
    part.write_text("G0 X0 Y0\nG1 X1\nG1 X2 F24000\n")
    assert len(find_path(str(part), Process(speed=0.2))) == 40 + 20


def test_a_missing_file_is_named() -> None:
    with pytest.raises(BadInput, match=r"nowhere\.csv does not"):
        find_path("nowhere.csv")


@pytest.mark.parametrize(
    "seed", ["", ":", ":x", ":-1", ":1.5", ":1_0", ": 1", ":4294967296", ":" + "9" * 5000]
)
def test_a_seed_that_is_no_whole_number_is_refused(seed: str) -> None:
    with pytest.raises(BadInput, match="whole seed from 0 to 4294967295, but got 'polyline"):
        find_path("polyline" + seed)


def test_the_largest_seed_is_taken() -> None:
    assert len(find_path("polyline:4294967295")) == 400


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_small_plate_refuses_a_built_in_path(name: str) -> None:
    with pytest.raises(
        BadInput, match=rf"the path {name}, tick \d+: every point must lie on the 2 × 2 mm plate"
    ):
        find_path(name, Process(plate=(2e-3, 2e-3, 1e-3)))


def test_a_small_plate_refuses_a_file_by_its_line(file: Path) -> None:
    with pytest.raises(BadInput, match=r"line\.csv, line 5: every point must lie on the 8 × 8 mm plate"):
        find_path(str(file), Process(plate=(8e-3, 8e-3, 1e-3)))


@pytest.mark.parametrize("plate", [(0.0, 1.0), (np.nan, 1.0)])
def test_a_plate_without_area_is_refused(plate: tuple[float, float]) -> None:
    with pytest.raises(BadInput, match="plate_mm of a process must be"):
        find_path("spiral", Process(plate=(*plate, 1e-3)))


@pytest.mark.parametrize("ticks", [0, -5])
def test_a_path_of_no_ticks_is_refused(ticks: int, file: Path) -> None:
    for text in ("vertical", str(file)):
        with pytest.raises(BadInput, match=f"at least 1 tick, but {ticks} were"):
            find_path(text, ticks=ticks)


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan, np.inf])
def test_a_beam_without_speed_is_refused(speed: float, file: Path) -> None:
    for text in ("vertical", str(file)):
        with pytest.raises(BadInput, match="speed must be positive and finite"):
            find_path(text, speed=speed)


@pytest.mark.parametrize(("speed", "ticks"), [(19.0, 10**7), (0.304, 10**9), (1e-5, 10**9)])
def test_an_absurd_speed_or_length_is_refused(speed: float, ticks: int) -> None:
    with pytest.raises(BadInput, match=r"length is off|ticks is off"):
        find_path("spiral", speed=speed, ticks=ticks)


def test_a_jump_off_the_plate_stays_but_the_ends_of_lit_ticks_are_on_it(tmp_path: Path) -> None:
    file = tmp_path / "edge.nc"
    file.write_text("M3 S9\nG0 X5 Y0\nG1 X7.5 F18240\nG0 X20 Y0\nG0 X7.5 Y0.1\nG1 X5\n")
    path = find_path(str(file))
    x = path.positions[:, 0]
    assert x.max() > 19e-3
    assert np.maximum(x[:-1], x[1:])[path.lit].max() == 7.5e-3
