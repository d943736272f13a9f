"""Finding a path by what a person types: a built-in name or a file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths.cli_file import read_cli
from laserloop.paths.csv_file import read_csv
from laserloop.paths.gcode_file import read_gcode
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, ScanPath, check_ticks
from laserloop.paths.plate import DEFAULT_PLATE, check_plate, first_off_plate, off_plate
from laserloop.paths.polyline import hop_length, sample_polyline
from laserloop.paths.random_polyline import draw_polyline
from laserloop.paths.segment_file import read_segments
from laserloop.paths.shapes import trace_diagonal, trace_horizontal, trace_spiral, trace_vertical
from laserloop.paths.track import Track, sample_track

DEFAULT_TICKS = 400
MAX_SEED = 2**32 - 1
READERS: dict[str, Callable[..., Track]] = {".gcode": read_gcode, ".cli": read_cli, ".txt": read_segments}
FORMATS = ".csv, .gcode, .cli or .txt"


def names_file(text: str) -> bool:
    """Whether a person who types `text` means a file, which has an end, rather than a built-in path."""
    suffix = Path(text).suffix.lower()
    return suffix == ".csv" or suffix in READERS


def find_path(
    text: str,
    *,
    ticks: int | None = None,
    speed: float | None = None,
    tick: float = DEFAULT_TICK,
    plate: tuple[float, float] = DEFAULT_PLATE,
) -> ScanPath:
    """The path that `text` names: vertical, horizontal, spiral, diagonal, polyline:SEED or a file.

    Files end in .csv, .gcode, .cli or .txt. Built-in paths last 400 ticks unless told otherwise; a file is
    followed to its end. Without `speed` a file's own speeds are taken, and 304 mm/s where there are none.
    """
    check_plate(plate)
    suffix = Path(text).suffix.lower()
    if suffix in READERS:
        track = READERS[suffix](text, plate=plate)
        return sample_track(track, name=text, speed=speed, tick=tick, ticks=ticks)
    if speed is None:
        speed = DEFAULT_SPEED
    if suffix == ".csv":
        return sample_polyline(read_csv(text, plate=plate), name=text, speed=speed, tick=tick, ticks=ticks)
    if ticks is None:
        ticks = DEFAULT_TICKS
    check_ticks(ticks)
    waypoints = _trace(text, (ticks + 1) * hop_length(speed, tick))
    path = sample_polyline(waypoints, name=text, speed=speed, tick=tick, ticks=ticks)
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
        f"a random polyline needs a whole seed from 0 to {MAX_SEED}, but got {text!r}; "
        "write for example polyline:7."
    )


def _unknown(text: str) -> BadInput:
    if Path(text).suffix:
        return BadInput(
            f"a path file must end in {FORMATS}, but got {text!r}; rename it if it is one of these, or write "
            "its waypoints as x_mm,y_mm into a .csv file."
        )
    return BadInput(
        f"a path must be one of vertical, horizontal, spiral, diagonal, polyline:SEED or a file that ends in "
        f"{FORMATS}, but got {text!r}; choose one of these."
    )
