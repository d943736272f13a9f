"""Files are written as they were read, but for what was ordered."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laserloop.bad_input import BadInput
from laserloop.paths import find_path
from laserloop.paths.files import ScanFile
from laserloop.paths.text import PowerCommand, Schedule, find_along
from laserloop.paths.waypoints import describe_path
from laserloop.process import Process

WRITTEN: dict[str, Any] = runpy.run_path(str(Path(__file__).with_name("written.py")))
FOLDER_STAYS = [HealthCheck.function_scoped_fixture]


@pytest.mark.parametrize("ending", WRITTEN["MAKERS"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None, suppress_health_check=FOLDER_STAYS)
def test_what_is_ordered_is_read_again_and_nothing_else_changes(
    ending: str, seed: int, tmp_path: Path
) -> None:
    WRITTEN["try_round_trip"](ending, seed, tmp_path)


def order(moves: list[int], *pieces: list[tuple[float, float]], speed: float = np.nan) -> Schedule:
    """Of each move the shares and powers of its pieces."""
    return {
        move: PowerCommand([share for share, _ in own], [watts for _, watts in own], speed)
        for move, own in zip(moves, pieces, strict=True)
    }


def write(folder: Path, name: str, text: str, schedule: Schedule, *, s_max: float | None = None) -> str:
    file = folder / name
    file.write_bytes(text.encode())
    return ScanFile.open(str(file), s_max, 20.0).write(schedule).decode()


def test_gcode_says_s_only_where_it_changes(tmp_path: Path) -> None:
    text = "M3 S14 ; on\nG0 X0 Y0\nG1 X1 F600 (S1)\nG1 Y1\nG1 X0\nM5\n"
    written = write(tmp_path, "a.gcode", text, order([0, 1, 2], [(1, 9.5)], [(1, 9.5)], [(1, 8)]))
    assert written == "M3 S9.5 ; on\nG0 X0 Y0\nG1 X1 F600 (S1)\nG1 Y1\nG1 X0 S8\nM5\n"


def test_no_power_stays_in_gcode_that_no_lit_move_takes(tmp_path: Path) -> None:
    text = "M3 S195\nG0 X0 Y0 S190\nG1 X1 F600 S180\nG1 Y1\nM3 S170\nG0 X0\nG1 Y0\nM5\n"
    written = write(tmp_path, "b.nc", text, order([0, 1, 3], [(1, 9.5)], [(1, 9.5)], [(1, 8)]))
    assert written == "M3 S9.5\nG0 X0 Y0 S9.5\nG1 X1 F600 S9.5\nG1 Y1\nM3 S8\nG0 X0\nG1 Y0\nM5\n"


def test_gcode_goes_back_to_its_own_s_where_nothing_is_ordered(tmp_path: Path) -> None:
    text = "M3 S14\nG0 X0 Y0\nG1 X1 F600\nG1 Y1\n"
    assert write(tmp_path, "a.nc", text, order([0], [(1, 9)])) == "M3 S9\nG0 X0 Y0\nG1 X1 F600\nG1 Y1 S14\n"


def test_an_arc_is_split_into_arcs_of_the_same_circle(tmp_path: Path) -> None:
    text = "M3 S14\nG0 X0 Y0\nG2 X2 Y0 I1 J0 F600\n"
    written = write(tmp_path, "a.nc", text, order([0], [(0.5, 9), (1, 8)])).splitlines()
    assert written == ["M3 S9", "G0 X0 Y0", "G2 X1 Y1 I1 J0 F600", "G2 X2 Y0 I0 J-1 S8"]


def test_more_than_half_a_turn_keeps_its_negative_radius(tmp_path: Path) -> None:
    text = "M3 S14\nG0 X1 Y0\nG3 X0 Y-1 R-1 F600\n"
    written = write(tmp_path, "a.nc", text, order([0], [(0.9, 9), (1, 8)])).splitlines()
    assert "R-1" in written[2]
    assert "R1" in written[3]


def test_half_turns_get_a_centre_since_a_radius_does_not_tell_it(tmp_path: Path) -> None:
    text = "M3 S14\nG0 X1 Y0\nG3 X0 Y-1 R-1 F600 (long)\n"
    written = write(tmp_path, "a.nc", text, order([0], [(0.66, 9), (1, 8)])).splitlines()
    assert "R" not in written[2].replace("(long)", "")
    assert "I-1 J0" in written[2]


def test_relative_steps_add_up_to_the_step(tmp_path: Path) -> None:
    text = "G91\nM3 S14\nG1 X1 Y0.1 F600\nG1 X0.7\n"
    written = write(tmp_path, "a.nc", text, order([0, 1], [(1 / 3, 9), (2 / 3, 8), (1, 7)], [(1, 7)]))
    steps = [float(line.split("X")[1].split()[0]) for line in written.splitlines() if "X" in line]
    assert sum(steps) == pytest.approx(1.7, abs=1e-12)


def test_a_checksum_is_right_again(tmp_path: Path) -> None:
    written = write(
        tmp_path, "a.nc", "M3 S9\nG0 X0 Y0\nG1 X1 F600\nN3 G1 X2*99\n", order([1], [(1, 8)])
    ).splitlines()[3]
    code, checksum = written.split("*")
    assert int(checksum) == int(np.bitwise_xor.reduce(np.frombuffer(code.encode(), np.uint8)))


def test_a_printer_gets_s_and_travels_with_s0(tmp_path: Path) -> None:
    text = "M82\nG0 X0 Y0\nG1 X1 E0.5 F600\nG1 X0\nG1 Y1 E0.9\n"
    written = write(tmp_path, "a.gcode", text, order([0, 2], [(0.5, 9), (1, 8)], [(1, 7)])).splitlines()
    assert written[2:] == ["G1 X0.5 E0.25 F600 S9", "G1 X1 E0.5 S8", "G1 X0 S0", "G1 Y1 E0.9 S7"]


def test_a_program_without_powers_is_planned_whole(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"line 3: a program that gives no powers must be planned as a whole"):
        write(tmp_path, "a.gcode", "G0 X0 Y0\nG1 X1 F600\nG1 Y1\n", order([0], [(1, 9)]))


def test_a_lit_rapid_move_cannot_have_a_power(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a rapid move cannot have a power"):
        write(tmp_path, "a.gcode", "G1 X0 Y0 F600\nG0 X1 E1\n", order([0], [(1, 9)]))


def test_whole_numbers_of_s_stay_whole(tmp_path: Path) -> None:
    text = "M3 S100\nG0 X0 Y0\nG1 X1 F600\n"
    assert "S129" in write(tmp_path, "a.nc", text, order([0], [(1, 10.1)]), s_max=255)
    assert ScanFile.open(str(tmp_path / "a.nc"), 255, 20.0).find_step() == pytest.approx(20 / 255)
    assert "S128.775" in write(
        tmp_path, "a.nc", text.replace("100", "99.5"), order([0], [(1, 10.1)]), s_max=255
    )


def test_a_speed_becomes_f_and_is_taken_back(tmp_path: Path) -> None:
    text = "M3 S9\nG0 X0 Y0\nG1 X1 F600\nG1 Y1\n"
    written = write(tmp_path, "a.nc", text, order([0], [(1, 9)], speed=0.1)).splitlines()
    assert written[2:] == ["G1 X1 F6000", "G1 Y1 F600"]


def test_csv_gets_a_column_and_keeps_its_comments(tmp_path: Path) -> None:
    text = '# a\nx_mm,y_mm,note\n0,0,a\n1, 0,"b,c"\n'
    written = write(tmp_path, "a.csv", text, order([1], [(0.5, 9), (1, 8)]))
    assert written == '# a\nx_mm,y_mm,note,power_w\n0,0,a,\n0.5,0,,9\n1, 0,"b,c",8\n'


def test_every_row_of_a_planned_built_in_path_has_all_columns(tmp_path: Path) -> None:
    text = describe_path(find_path("spiral", ticks=20))
    written = write(tmp_path, "spiral.csv", text, order([1], [(1, 9)])).splitlines()
    assert written[0] == "x_mm,y_mm,lit,speed_mm_s,power_w"
    assert {len(row.split(",")) for row in written} == {5}


def test_hatches_are_regrouped_by_power(tmp_path: Path) -> None:
    head = "$$HEADERSTART\n$$UNITS/1\n$$LAYER/0\n"
    text = head + "$$HATCHES/1,3,0,0,1,0, 1,1,0,1, 0,2,1,2\n$$GEOMETRYEND\n"
    written = write(tmp_path, "a.cli", text, order([0, 1, 2], [(1, 9)], [(1, 9)], [(1, 8)]))
    commands = "$$POWER/9\n$$HATCHES/1,2,0,0,1,0,1,1,0,1\n$$POWER/8\n$$HATCHES/1,1,0,2,1,2\n"
    assert written == f"{head}{commands}$$GEOMETRYEND\n"


def test_a_command_without_its_slash_is_split_too(tmp_path: Path) -> None:
    text = "$$HEADERSTART\n$$UNITS/1\n$$LAYER/0\n$$HATCHES //all\n1,1,0,0,1,0\n"
    written = write(tmp_path, "a.cli", text, order([0], [(0.5, 9), (1, 8)]))
    assert written.endswith("$$HATCHES/1,1,0,0,0.5,0\n$$POWER/8\n$$HATCHES/1,1,0.5,0,1,0//all\n")


def test_one_power_leaves_a_command_as_it_is(tmp_path: Path) -> None:
    head, hatches = "$$HEADERSTART\n$$UNITS/1\n$$LAYER/0\n", "$$HATCHES/1,2,0,0, 1,0,//x//\n1,1,0,1\n"
    written = write(tmp_path, "a.cli", head + hatches, order([0, 1], [(1, 9)], [(1, 9)]))
    assert written == f"{head}$$POWER/9\n{hatches}"


def test_a_table_keeps_its_columns_in_line(tmp_path: Path) -> None:
    text = "Mode X Y Z Power Param\n1 0 0 0 0 0\n0  0.001   0  0  15       0.304\n"
    written = write(tmp_path, "a.txt", text, order([1], [(0.5, 9.25), (1, 8)])).splitlines()
    assert written[2:] == ["0  0.0005  0  0  9.25     0.304", "0  0.001   0  0  8        0.304"]


def test_pmod_is_a_share_of_the_full_power(tmp_path: Path) -> None:
    text = "Mode X(mm) Y(mm) Z(mm) Pmod Param\n1 0 0 0 0 0\n0 1 0 0 1 0.3\n"
    written = write(tmp_path, "a.txt", text, order([1], [(1, 10)]))
    assert written.splitlines()[2].split()[4] == "0.5"


def test_places_along_a_polyline_end_exactly_at_its_end() -> None:
    assert find_along([0j, 1 + 0j, 1 + 1j], [0.25, 0.75, 1.0]) == [0.5 + 0j, 1 + 0.5j, 1 + 1j]


def test_only_files_are_written_again() -> None:
    with pytest.raises(BadInput, match="must be a file"):
        ScanFile.open("diagonal")


def test_a_speed_in_a_layer_file_does_not_make_the_writer_forget_the_power(tmp_path: Path) -> None:
    head = "$$HEADERSTART\n$$UNITS/1\n$$HEADEREND\n$$POWER/12\n$$LAYER/0\n"
    text = head + "$$HATCHES/1,1,0,0,1,0\n$$SPEED/304\n$$HATCHES/1,1,0,1,1,1\n$$GEOMETRYEND\n"
    written = write(tmp_path, "a.cli", text, order([0, 1], [(1, 9.5)], [(1, 12.0)]))
    assert written == text.replace("POWER/12", "POWER/9.5").replace(
        "$$HATCHES/1,1,0,1", "$$POWER/12\n$$HATCHES/1,1,0,1"
    )


def test_no_power_or_speed_stays_in_a_layer_file_that_nothing_is_drawn_with(tmp_path: Path) -> None:
    head = "$$HEADERSTART\n$$UNITS/1\n$$HEADEREND\n$$POWER/195 // old //\n$$SPEED/800\n"
    text = head + "$$LAYER/0\n$$HATCHES/1,1,0,0,1,0\n$$POWER/180\n$$GEOMETRYEND\n"
    written = write(tmp_path, "a.cli", text, order([0], [(0.5, 59.94), (1, 50)], speed=0.304)).splitlines()
    assert written[3:] == [
        "$$POWER/59.94 // old //",
        "$$SPEED/304",
        "$$LAYER/0",
        "$$HATCHES/1,1,0,0,0.5,0",
        "$$POWER/50",
        "$$HATCHES/1,1,0.5,0,1,0",
        "$$POWER/180",
        "$$GEOMETRYEND",
    ]


def test_a_row_with_tabs_keeps_them(tmp_path: Path) -> None:
    text = "Mode\tX(mm)\tY(mm)\tZ(mm)\tPmod\tParam\n1\t0\t0\t0\t0\t0\n0\t1\t0\t0\t1\t0.3\n"
    written = write(tmp_path, "a.txt", text, order([1], [(0.5, 10), (1, 8.25)])).splitlines()
    assert written[2:] == ["0\t0.5\t0\t0\t0.5\t0.3", "0\t1\t0\t0\t0.4125\t0.3"]


@pytest.mark.parametrize("ending", WRITTEN["MAKERS"])
def test_the_least_power_is_not_the_laser_off(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"a{ending}"
    file.write_text(LINES[ending])
    lit = [
        k for k, move in enumerate(WRITTEN["read_moves"](ScanFile.open(str(file), None, 20.0))) if move.lit
    ]
    again = tmp_path / f"b{ending}"
    again.write_bytes(ScanFile.open(str(file), None, 20.0).write(order(lit, *([(1.0, 1e-9)] for _ in lit))))
    assert find_path(str(again), Process()).lit.all()


LINES = {
    ".gcode": "M3 S14\nG0 X0 Y0\nG1 X1 F18240\n",
    ".csv": "x_mm,y_mm,power_w\n0,0,0\n1,0,14\n",
    ".cli": "$$HEADERSTART\n$$UNITS/1\n$$POWER/14\n$$LAYER/0\n$$HATCHES/1,1,0,0,1,0\n$$GEOMETRYEND\n",
    ".txt": "Mode X Y Z Power Param\n1 0 0 0 0 0\n0 0.001 0 0 14 0.304\n",
    ".inp": "0 0 0 0 0.7\n0.003 0.001 0 0 0\n",
}
