import pytest

from laserloop.paths.gcode_block import read_blocks
from laserloop.paths.gcode_laser import Laser, Light, find_light


@pytest.mark.parametrize(
    ("text", "light"),
    [
        ("G0 X1\nG1 X2 E5\nM5", Light.SWITCH),
        ("G1 X2 E5\nM3", Light.SWITCH),
        ("G0 X1\nG1 X2 S100\nG1 X3 S0", Light.POWER),
        ("G1 X1\nS5\nG1 X2 E1", Light.POWER),
        ("M104 S200\nM106 S255\nG4 S1\nG29 S1\nG1 X2 E1", Light.MATERIAL),
        ("G0 X1\nG1 X2", Light.MOTION),
        ("G0 X1\nG1 X2\nM30\nM3", Light.MOTION),
    ],
)
def test_laser_words_come_before_material_and_material_before_motion(text: str, light: Light) -> None:
    assert find_light(read_blocks(text, "a")) is light


def follow(light: Light, text: str) -> Laser:
    laser = Laser(light)
    for block in read_blocks(text, "a"):
        laser.obey(block)
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
def test_a_switched_laser_marks_when_it_is_on_with_power(text: str, moving: bool, resting: bool) -> None:
    laser = follow(Light.SWITCH, text)
    assert (laser.marks(10, 0.0), laser.marks_at_rest()) == (moving, resting)
    assert not laser.marks(0, 1.0)  # travel


def test_power_alone_material_and_motion_mark_each_in_their_way() -> None:
    assert not follow(Light.POWER, "").marks(10, 0.0)
    assert follow(Light.POWER, "S1").marks(10, 0.0)
    assert follow(Light.MATERIAL, "").marks(0, 0.1)
    assert not follow(Light.MATERIAL, "").marks(10, -0.1)
    assert [follow(Light.MOTION, "").marks(motion, 0.0) for motion in (0, 10, 20, 30)] == [False] + 3 * [True]
    assert not any(follow(light, "").marks_at_rest() for light in Light)
