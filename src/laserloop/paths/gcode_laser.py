"""The laser of a G-code program: the ways in which programs say that it is on, and with which power."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from math import isfinite, nan
from os import PathLike

from laserloop.bad_input import BadInput
from laserloop.paths.gcode_block import Block, parse_lines
from laserloop.paths.gcode_codes import DWELL, FAN, FAN_ON, LASER, MODES, MOTIONS, PRINTER


class Light(Enum):
    """What a program switches the laser with."""

    SWITCH = auto()  # M3, M4, M5, and S
    POWER = auto()  # S alone
    MATERIAL = auto()  # an E axis that advances, as of 3D printers
    FAN = auto()  # M106 and M107: a laser on a printer's fan pin
    MOTION = auto()  # nothing: on in G1, G2 and G3, off in G0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a program is to be understood."""

    light: Light
    printer: bool  # Marlin and RepRap: P of a dwell is in ms, and G0 goes at the feed


def find_dialect(lines: Sequence[str], file: str | PathLike[str]) -> Dialect:
    """Of a whole program: the laser by the first of its ways that occurs, in the order of `Light`."""
    found, printer = {Light.MOTION}, False
    letters = set("MSE")  # without which a line says nothing about the laser
    for block in parse_lines(lines, file, letters):
        printer = printer or not PRINTER.isdisjoint(block.m)
        if not LASER.isdisjoint(block.m):
            found.add(Light.SWITCH)
            letters.discard("S")
        elif not FAN.isdisjoint(block.m):
            found.add(Light.FAN)
        elif not block.m and all(code in MOTIONS or code in MODES for code in block.g):
            if "S" in block.values:
                found.add(Light.POWER)
            if "E" in block.values:
                found.add(Light.MATERIAL)
    return Dialect(
        light=next(light for light in Light if light in found), printer=printer or Light.MATERIAL in found
    )


class Laser:
    """On or off, and with which power, as the words before said; S at `s_max` is `power_max` W."""

    def __init__(self, light: Light, *, s_max: float | None = None, power_max: float | None = None) -> None:
        if (s_max is None) != (power_max is None) or not all(
            value is None or (isfinite(value) and value > 0) for value in (s_max, power_max)
        ):
            raise BadInput(
                f"the range of S must be two positive numbers, but S at {s_max} is to be {power_max} W; give "
                "both s_max and power_max."
            )
        self.light = light
        self._by_words = light not in (Light.MATERIAL, Light.MOTION)  # M or S
        self.took_power = False  # was S in the last block that was obeyed?
        self._on = light is Light.POWER
        self._dynamic = False  # M4: off at rest
        self.s = (
            0.0 if light is Light.POWER else nan
        )  # the last S; M3 without any S is on, with a power not known
        self._s_max, self._power_max = s_max, power_max
        self.has_power = False  # did S say with which power so far?

    def obey(self, block: Block) -> None:
        """Takes M3, M4, M5, M106, M107 and S out of a block that has M or S; S of a dwell is its time."""
        self.took_power = False
        for code in block.m:
            if code in LASER:
                self._on, self._dynamic = code != 50, code == 40
            elif code in FAN and self.light is Light.FAN:
                self._on = code == FAN_ON
                self.s = block.values.get("S", self._s_max or nan)  # without S it is on to the full
                self.took_power = True
        if "S" in block.values and DWELL not in block.g and all(code in LASER for code in block.m):
            self.s = block.values["S"]
            self.took_power = True

    @property
    def is_switched_on(self) -> bool:
        """Whether nothing but S keeps it dark."""
        return self._on

    def is_lit(self, motion: int, advance: float) -> bool:
        """Whether it is on during a motion that feeds so much material."""
        if self._by_words:
            return motion != 0 and self._is_on()
        return advance > 0 if self.light is Light.MATERIAL else motion != 0

    def is_lit_at_rest(self) -> bool:
        """Whether it is on during a dwell."""
        return self._by_words and self._is_on() and not self._dynamic

    def find_power(self, file: str | PathLike[str], line: int) -> float:
        """What S commands in that line, W; NaN if the program does not say."""
        if not self._by_words:
            return nan
        self.has_power = self.has_power or isfinite(self.s)
        if self._s_max is None or self._power_max is None:
            return self.s
        if self.s > self._s_max:
            raise BadInput(
                f"{file}, line {line}: S must be at most {self._s_max:g}, but is {self.s:g}; correct S or "
                "its range."
            )
        return self.s / self._s_max * self._power_max

    def _is_on(self) -> bool:
        return self._on and not self.s <= 0
