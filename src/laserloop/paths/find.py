"""Finding a path by what a person types: a built-in name or a file."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths.csv_file import read_csv
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, ScanPath, check_ticks
from laserloop.paths.plate import DEFAULT_PLATE, check_plate, first_off_plate, off_plate
from laserloop.paths.polyline import hop_length, sample_polyline
from laserloop.paths.random_polyline import draw_polyline
from laserloop.paths.shapes import trace_diagonal, trace_horizontal, trace_spiral, trace_vertical

DEFAULT_TICKS = 400
MAX_SEED = 2**32 - 1


def find_path(
    text: str,
    *,
    ticks: int | None = None,
    speed: float = DEFAULT_SPEED,
    tick: float = DEFAULT_TICK,
    plate: tuple[float, float] = DEFAULT_PLATE,
) -> ScanPath:
    """The path that `text` names: vertical, horizontal, spiral, diagonal, polyline:SEED or a .csv file.

    Built-in paths last 400 ticks unless told otherwise; a file is followed to its end.
    """
    check_plate(plate)
    if Path(text).suffix.lower() == ".csv":
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
            f"a path file must end in .csv, the only format read today, but got {text!r}; write its "
            "waypoints as x_mm,y_mm into a .csv file."
        )
    return BadInput(
        f"a path must be one of vertical, horizontal, spiral, diagonal, polyline:SEED or a .csv file, "
        f"but got {text!r}; choose one of these."
    )
