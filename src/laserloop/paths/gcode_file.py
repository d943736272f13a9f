"""G-code files: the laser-on moves of their first layer."""

from os import PathLike

from laserloop.bad_input import BadInput
from laserloop.paths.gcode_block import read_blocks
from laserloop.paths.gcode_laser import Laser, find_light
from laserloop.paths.gcode_machine import Machine
from laserloop.paths.plate import DEFAULT_PLATE, check_plate
from laserloop.paths.text_file import decode_text, read_bytes
from laserloop.paths.track import Track, lay_track


def read_gcode(file: str | PathLike[str], *, plate: tuple[float, float] = DEFAULT_PLATE) -> Track:
    """The track of a program: G0 to G4, G20, G21, G90 to G92, F, and M3 to M5, S or E for the laser.

    The laser is on by M3 or M4 and S, without these by a growing E, without that on G1, G2 and G3. Its
    power is not read: the controller gives it.
    """
    check_plate(plate)
    text = decode_text(read_bytes(file), file)
    if not text.strip():
        raise BadInput(f"{file}: a G-code file must hold moves, but it is empty; check how it was exported.")
    machine = Machine(file, Laser(find_light(read_blocks(text, file))))
    return lay_track(machine.follow(read_blocks(text, file)), file=file, plate=plate).add_notes(
        machine.tell()
    )
