"""The laser of a G-code program: the ways in which programs say that it is on."""

from collections.abc import Iterable
from enum import Enum, auto

from laserloop.paths.gcode_block import Block
from laserloop.paths.gcode_codes import LASER, MODES, MOTIONS


class Light(Enum):
    """What a program switches the laser with."""

    SWITCH = auto()  # M3, M4, M5, and S
    POWER = auto()  # S alone
    MATERIAL = auto()  # an E axis that advances, as of 3D printers
    MOTION = auto()  # nothing: on in G1, G2 and G3, off in G0


def find_light(blocks: Iterable[Block]) -> Light:
    """How a whole program does it: by laser words if it has any, else by material, else by motion."""
    found = Light.MOTION
    for block in blocks:
        if not LASER.isdisjoint(block.m):
            return Light.SWITCH
        if "S" in block.values and not block.m and all(code in MOTIONS or code in MODES for code in block.g):
            found = Light.POWER
        elif "E" in block.values and found is Light.MOTION:
            found = Light.MATERIAL
    return found


class Laser:
    """On or off, and with which power, as the words before said."""

    def __init__(self, light: Light) -> None:
        self._light = light
        self._on = light is Light.POWER
        self._dynamic = False  # M4: off at rest
        self._power = 0.0 if light is Light.POWER else 1.0  # M3 without any S is on

    def obey(self, block: Block) -> None:
        """Takes M3, M4, M5 and S out of a block."""
        for code in block.m:
            if code in LASER:
                self._on, self._dynamic = code != 50, code == 40
        if "S" in block.values and all(code in LASER for code in block.m):
            self._power = block.values["S"]

    def marks(self, motion: int, advance: float) -> bool:
        """Whether it heats during a motion that feeds so much material."""
        if self._light is Light.MATERIAL:
            return advance > 0
        if motion == 0:
            return False
        return self._light is Light.MOTION or (self._on and self._power > 0)

    def marks_at_rest(self) -> bool:
        """Whether it heats during a dwell."""
        switched = self._light in (Light.SWITCH, Light.POWER)
        return switched and self._on and not self._dynamic and self._power > 0
