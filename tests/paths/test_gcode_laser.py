from math import isnan

import pytest

from laserloop.bad_input import BadInput
from laserloop.paths.gcode import find_dialect, parse_lines
from laserloop.paths.gcode_machine import Laser, LaserSignal


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("G0 X1\nG1 X2 E5\nM5", LaserSignal.SWITCH),
        ("G1 X2 E5\nM3", LaserSignal.SWITCH),
        ("G0 X1\nG1 X2 S100\nG1 X3 S0", LaserSignal.POWER),
        ("G1 X1\nS5\nG1 X2 E1", LaserSignal.POWER),
        ("M104 S200\nM106 S255\nG4 S1\nG29 S1\nG1 X2 E1", LaserSignal.MATERIAL),
        ("M106 S255\nG1 X2\nM107\nG1 X3", LaserSignal.FAN),
        ("G0 X1\nG1 X2", LaserSignal.MOTION),
        ("G0 X1\nG1 X2\nM30\nM3", LaserSignal.MOTION),
    ],
)
def test_laser_words_come_before_material_then_a_fan_then_motion(text: str, signal: LaserSignal) -> None:
    assert find_dialect(text.split("\n"), "a").signal is signal


@pytest.mark.parametrize(
    ("text", "printer"),
    [
        ("G0 X1\nG1 X2", False),
        ("M3 S9\nG1 X2\nG4 P1\nM5", False),
        ("G1 X2 E1", True),
        ("M106\nG1 X2\nM107", True),
        ("M82\nM3 S9\nG1 X2", True),
        ("M204 S500\nM3 S9\nG1 X2", True),
    ],
)
def test_words_of_3d_printers_make_the_dialect_theirs(text: str, printer: bool) -> None:
    assert find_dialect(text.split("\n"), "a").printer is printer


def follow(
    signal: LaserSignal, text: str, *, s_max: float | None = None, power_max: float | None = None
) -> Laser:
    laser = Laser(signal, s_max=s_max, power_max=power_max)
    for block in parse_lines(text.split("\n"), "a"):
        laser.execute(block)
    return laser


@pytest.mark.parametrize(
    ("text", "moving", "resting"),
    [
        ("", False, False),
        ("M3", True, True),
        ("M3 S100", True, True),
        ("M3 S0", False, False),
        ("M4 S100", True, False),
        ("M3 S100\nM5", False, False),
        ("M3 S100\nM5\nM3", True, True),
        ("M3 S100\nM106 S0", True, True),
        ("M3 S100\nG1 X1 S0", False, False),
    ],
)
def test_a_switched_laser_is_lit_when_it_is_on_with_power(text: str, moving: bool, resting: bool) -> None:
    laser = follow(LaserSignal.SWITCH, text)
    assert (laser.is_lit(10, 0.0), laser.is_lit_at_rest()) == (moving, resting)
    assert not laser.is_lit(0, 1.0)  # travel


def test_power_alone_a_fan_material_and_motion_are_lit_each_in_their_way() -> None:
    assert not follow(LaserSignal.POWER, "").is_lit(10, 0.0)
    assert follow(LaserSignal.POWER, "S1").is_lit(10, 0.0)
    assert not follow(LaserSignal.FAN, "").is_lit(10, 0.0)
    assert follow(LaserSignal.FAN, "M106").is_lit(10, 0.0)
    assert follow(LaserSignal.FAN, "M106 S9").is_lit_at_rest()
    assert not follow(LaserSignal.FAN, "M106").is_lit(0, 0.0)
    assert not follow(LaserSignal.FAN, "M106 S0").is_lit(10, 0.0)
    assert not follow(LaserSignal.FAN, "M106 S9\nM107").is_lit(10, 0.0)
    assert follow(LaserSignal.MATERIAL, "").is_lit(0, 0.1)
    assert not follow(LaserSignal.MATERIAL, "").is_lit(10, -0.1)
    assert [follow(LaserSignal.MOTION, "").is_lit(motion, 0.0) for motion in (0, 10, 20, 30)] == [
        False
    ] + 3 * [True]
    assert not any(follow(signal, "").is_lit_at_rest() for signal in LaserSignal)


@pytest.mark.parametrize(
    ("signal", "text", "watts", "scaled"),
    [
        (LaserSignal.SWITCH, "M3 S100", 100.0, 8.0),
        (LaserSignal.SWITCH, "M3 S100\nG1 X1 S50", 50.0, 4.0),
        (LaserSignal.POWER, "S25", 25.0, 2.0),
        (LaserSignal.FAN, "M106 S200", 200.0, 16.0),
    ],
)
def test_s_is_the_power_in_watts_or_a_share_of_the_range_that_is_given(
    signal: LaserSignal, text: str, watts: float, scaled: float
) -> None:
    assert follow(signal, text).find_power("a", 1) == watts
    assert follow(signal, text, s_max=250.0, power_max=20.0).find_power("a", 1) == pytest.approx(scaled)


def test_a_fan_without_a_number_is_full_power_and_a_switch_without_one_says_nothing() -> None:
    assert follow(LaserSignal.FAN, "M106", s_max=255.0, power_max=20.0).find_power("a", 1) == 20.0
    assert isnan(follow(LaserSignal.FAN, "M106").find_power("a", 1))
    assert isnan(follow(LaserSignal.SWITCH, "M3").find_power("a", 1))
    assert isnan(follow(LaserSignal.MATERIAL, "S9").find_power("a", 1))


def test_the_time_of_a_dwell_is_no_power() -> None:
    assert follow(LaserSignal.SWITCH, "M3 S100\nG4 S2").find_power("a", 1) == 100.0


def test_s_beyond_its_range_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^a, line 3: S must be at most 255, but is 256"):
        follow(LaserSignal.SWITCH, "M3 S256", s_max=255.0, power_max=20.0).find_power("a", 3)


@pytest.mark.parametrize(
    ("s_max", "power_max"),
    [(255.0, None), (None, 20.0), (0.0, 20.0), (float("nan"), 20.0), (255.0, float("inf"))],
)
def test_a_range_of_s_needs_both_its_numbers(s_max: float | None, power_max: float | None) -> None:
    with pytest.raises(BadInput, match="the range of S must be two positive numbers"):
        Laser(LaserSignal.SWITCH, s_max=s_max, power_max=power_max)
