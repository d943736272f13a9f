"""G-code files: the moves of one layer."""

import re
from collections.abc import Iterator
from os import PathLike

from laserloop.bad_input import BadInput
from laserloop.paths.gcode_block import parse_lines
from laserloop.paths.gcode_laser import Laser, find_dialect
from laserloop.paths.gcode_machine import Machine
from laserloop.paths.move import Scan
from laserloop.paths.text_file import decode_text, read_bytes, split_lines
from laserloop.paths.track import Track, lay_track

IN_WATTS = re.compile(r"\bS (?:is )?in (?:W|watts?)\b", re.IGNORECASE)


def read_gcode(
    file: str | PathLike[str],
    *,
    layer: int | None = None,
    s_max: float | None = None,
    power_max: float | None = None,
) -> Track:
    """The track of a program: G0 to G4, G20, G21, G90 to G92, F, and M3 to M5, S, E, M106 for the laser.

    The laser is on by M3 or M4 and S; without these by a growing E, without that by M106, and without all of
    them on G1, G2 and G3. G0 is dark. S is the power in W, or in parts of `s_max`, which is `power_max` W.
    """
    scan = scan_gcode(file, s_max=s_max, power_max=power_max)
    track = lay_track(scan.moves, file=file, layer=layer)
    return track.add_notes(scan.tell())


def scan_gcode(
    file: str | PathLike[str], *, s_max: float | None = None, power_max: float | None = None
) -> Scan:
    """All moves of a program."""
    text = decode_text(read_bytes(file), file)
    if not text.strip():
        raise BadInput(
            f"{file}, line 1: a G-code file must hold moves, but is empty; check how it was exported."
        )
    lines = split_lines(text)
    dialect = find_dialect(lines, file)
    laser = Laser(dialect.light, s_max=s_max, power_max=power_max)
    machine = Machine(file, laser, printer=dialect.printer)

    def tell() -> Iterator[str]:
        yield from machine.tell()
        if s_max is None and laser.has_power and not IN_WATTS.search(text):
            yield f"{file}: S is taken as W, since nothing says its range; if 1000 is all power: --s-max 1000"

    return Scan(machine.follow(parse_lines(lines, file)), tell)
