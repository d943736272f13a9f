"""Finding a path by what a person types: a built-in name or a file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, check_kind, guess
from laserloop.paths.families import FAMILIES, draw_family
from laserloop.paths.files import ENDINGS, ScanFile, names_file
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, ScanPath, check_ticks
from laserloop.paths.plate import DEFAULT_PLATE, check_plate, first_off_plate, off_plate
from laserloop.paths.polyline import hop_length, sample_polyline
from laserloop.paths.random_polyline import draw_polyline
from laserloop.paths.sampling import DEFAULT_JUMP_SPEED, sample_track
from laserloop.paths.shapes import trace_diagonal, trace_horizontal, trace_spiral, trace_vertical
from laserloop.paths.text import guess_file
from laserloop.paths.track import lay_track

DEFAULT_TICKS = 400
MAX_SEED = 2**32 - 1
SHAPES = ("vertical", "horizontal", "spiral", "diagonal")
NOWHERE = (0.0, 0.0)  # m; no offset
FASTEST = 1.5  # times the usual speed, of a family whose speed changes


def find_path(
    text: str,
    *,
    ticks: int | None = None,
    speed: float | None = None,
    default_speed: float = DEFAULT_SPEED,
    tick: float = DEFAULT_TICK,
    plate: tuple[float, float] = DEFAULT_PLATE,
    layer: int | None = None,
    offset: tuple[float, float] = NOWHERE,
    centre: bool = False,
    jump_speed: float = DEFAULT_JUMP_SPEED,
    s_max: float | None = None,
    power_max: float | None = None,
) -> ScanPath:
    """The path that `text` names: vertical, horizontal, spiral, diagonal, FAMILY:SEED or a file.

    Built-in paths last 400 ticks unless told otherwise; a file is followed to its end. A file is G-code
    (.gcode, .nc, .ngc, .tap, .gco, .g, .cnc), Common Layer Interface (.cli), a segment table (.txt) or
    waypoints (.csv); with any other ending it is known by its content.

    `speed` (m/s) is for lit moves; without it a file's own speeds are taken, and `default_speed` where there
    are none. Dark moves go at the file's speed or at `jump_speed` (m/s). Of a file `layer` chooses the layer,
    from 1; `offset` (m) moves it, or `centre` puts the bounding box of its lit part on the plate's centre.
    `power_max` (W) is the laser's full power, of which segment tables and event series may give shares, and
    which S of G-code at `s_max` stands for if S is not in W.
    """
    check_kind(text, str, "a path", "name a built-in one, such as 'diagonal', or a file")
    if ticks is not None:
        check_ticks(ticks)
    check_plate(plate)
    if not names_file(text):
        if (layer, offset, centre, s_max) != (None, NOWHERE, False, None):
            raise BadInput(
                "a layer, an offset, a centring or a range of S must be for a file, but the path is "
                f"{text!r}; leave them out or name a file."
            )
        speed = default_speed if speed is None else speed
        return _find_built_in(text, plate, ticks=ticks, speed=speed, tick=tick, jump_speed=jump_speed)
    if centre and offset != NOWHERE:
        raise BadInput(
            f"a path must be centred or moved, but both were asked for, by {offset} m; choose one."
        )
    file = ScanFile.open(text, s_max, power_max)
    track = file.read_layer(layer)
    track = track.centre() if centre else track.shift(offset)
    track.check(text, plate)
    if power_max is not None:
        track.check_power(text, power_max)
    if file.format.is_polyline and track.is_plain:
        speed = default_speed if speed is None else speed
        return sample_polyline(track.points, name=text, speed=speed, tick=tick, ticks=ticks)
    path = sample_track(
        track,
        name=text,
        speed=speed,
        default_speed=default_speed,
        jump_speed=jump_speed,
        tick=tick,
        ticks=ticks,
    )
    return keep_on_plate(path, plate)


def keep_on_plate(path: ScanPath, plate: tuple[float, float]) -> ScanPath:
    """The same path with the ends of ticks with light on the plate, which a jump within one may have left."""
    light = path.lit_shares > 0
    ends = np.append(light, False) | np.append(False, light)
    half = np.array(plate) / 2
    kept = np.where(ends[:, np.newaxis], np.clip(path.positions, -half, half), path.positions)
    return path if first_off_plate(path.positions[ends], plate) is None else replace(path, positions=kept)


def _find_built_in(
    text: str,
    plate: tuple[float, float],
    *,
    ticks: int | None,
    speed: float,
    tick: float,
    jump_speed: float,
) -> ScanPath:
    ticks = DEFAULT_TICKS if ticks is None else ticks
    check_ticks(ticks)
    length = (ticks + 1) * hop_length(speed, tick)
    family, colon, seed = text.partition(":")
    if colon and family in FAMILIES and family != "polyline":
        moves = draw_family(family, _parse_seed(seed, text), FASTEST * length, speed)
        track = lay_track(moves, file=text)
        path = sample_track(
            track, name=text, default_speed=speed, jump_speed=jump_speed, tick=tick, ticks=ticks
        )
    else:
        path = sample_polyline(_trace(text, length), name=text, speed=speed, tick=tick, ticks=ticks)
    off = first_off_plate(path.positions, plate)
    if off is not None:
        raise off_plate(f"the path {text}, tick {off}", path.positions[off], plate)
    return path


def _trace(text: str, length: float) -> NDArray[np.float64]:
    match text.partition(":"):
        case "vertical", "", "":
            return trace_vertical(length)
        case "horizontal", "", "":
            return trace_horizontal(length)
        case "spiral", "", "":
            return trace_spiral(length)
        case "diagonal", "", "":
            return trace_diagonal(length)
        case "polyline", _, seed:
            return draw_polyline(np.random.default_rng(_parse_seed(seed, text)), length=length)
    raise _unknown(text)


def _parse_seed(seed: str, text: str) -> int:
    if seed.isascii() and seed.isdigit() and len(seed) <= len(str(MAX_SEED)) and int(seed) <= MAX_SEED:
        return int(seed)
    raise BadInput(
        f"a family needs a whole seed from 0 to {MAX_SEED}, but got {text!r}; write for example polyline:7."
    )


def _unknown(text: str) -> BadInput:
    family = text.partition(":")[0]
    if Path(text).suffix:
        return BadInput(
            f"a path file must exist, and end in {ENDINGS} or look like one of these, but {text!r} is no "
            f"file{guess_file(text)}; check its name and folder."
        )
    return BadInput(
        "a path must be one of vertical, horizontal, spiral, diagonal, FAMILY:SEED (of the families "
        f"{', '.join(FAMILIES)}) or a file that ends in {ENDINGS}, but got {text!r}"
        f"{guess(family, (*SHAPES, *FAMILIES)) or guess_file(text)}; choose one of these."
    )
