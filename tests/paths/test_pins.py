"""What files say and what is written into them stays as it was, to a picometre and to the byte.

`python tests/paths/test_pins.py` writes the pins anew, after a change that is meant.
"""

import json
import re
import runpy
import warnings
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.paths import Placement, find_path
from laserloop.paths.files import ScanFile
from laserloop.paths.shapes import FAMILIES
from laserloop.paths.track import Move
from laserloop.planning.job import Job, plan_job
from laserloop.process import Process, find_material, find_process, shipped_materials, shipped_processes
from laserloop.process.heat_table import tabulate

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
PINS = HERE / "pins.json"
WRITTEN: dict[str, Any] = runpy.run_path(str(HERE / "written.py"))
MAKERS: dict[str, Callable[[Random], str]] = WRITTEN["MAKERS"]
SEEDS, BATCH = 200, 25  # of each format, and of those that one pin holds
FULL = 20.0  # W
SCANS = (
    *("slicer.gcode", "cutter.nc", "segments.txt", "path_mm.txt", "events.inp"),
    *("pyslm_layer.cli", "bracket.gcode", "hatch.gcode", "layer.cli"),
)
S_MAX = {"cutter.nc": 1000.0}
SHAPES = ("vertical", "horizontal", "spiral", "diagonal")
STRAY = 'XYGMSF$,.;(0-9 e\n\r"nanM3/\t%*'


def digest(parts: Iterable[object]) -> str:
    """The first 12 hex digits of the hash of all parts."""
    found = sha256()
    for part in parts:
        found.update(part if isinstance(part, bytes) else f"{part}\n".encode())
    return found.hexdigest()[:12]


def show_array(values: Any, digits: int = 12) -> bytes:
    """Numbers to so many decimals; -0 is 0."""
    return np.ascontiguousarray(np.round(np.asarray(values, np.float64), digits) + 0.0).tobytes()


def show_moves(moves: Iterable[Move]) -> Iterable[object]:
    for move in moves:
        points = np.array(move.points)
        yield f"{move.line} {bool(move.lit)}"
        yield show_array([points.real, points.imag])
        level, power = (move.level, move.power) if move.lit else (0.0, 0.0)
        yield show_array([level, move.speed, power, move.rest], 9)


def outcome(act: Callable[..., Iterable[object]], *given: object, **options: object) -> str:
    """The hash of what came out, or where a refusal points to."""
    try:
        return digest(act(*given, **options))
    except BadInput as refusal:
        line = re.search(r"line (\d+)", str(refusal))
        return f"refused {line[1] if line else '-'}"


def damage(text: str, rng: Random) -> str:
    """A file that a disk, a person or a program has spoilt in one to three places."""
    for _ in range(rng.randint(1, 3)):
        at, lines = rng.randrange(len(text) + 1), text.splitlines(keepends=True)
        match rng.choice(["cut", "add", "drop", "swap", "end"]):
            case "cut":
                text = text[:at] + text[at + rng.randint(1, 4) :]
            case "add":
                text = text[:at] + "".join(rng.choices(STRAY, k=rng.randint(1, 3))) + text[at:]
            case "drop":
                k = rng.randrange(len(lines))
                text = "".join(lines[:k] + lines[k + 1 :])
            case "swap":
                rng.shuffle(lines)
                text = "".join(lines)
            case "end":
                text = text[:at]
        text = text or "x"
    return text


def read(name: str, content: bytes, s_max: float | None = None) -> Iterable[object]:
    """Moves and notes."""
    file = ScanFile(name, content, s_max, FULL)
    yield from show_moves(WRITTEN["read_moves"](file))
    for track in file.read_layers():
        yield from track.notes


def read_seeds(ending: str, seeds: Iterable[int]) -> list[str]:
    drawn = (MAKERS[ending](Random(seed)).encode() for seed in seeds)
    return [outcome(read, f"a{ending}", content) for content in drawn]


def read_spoilt(ending: str, seeds: Iterable[int]) -> list[str]:
    drawn = (damage(MAKERS[ending](Random(seed)), Random(-seed)).encode() for seed in seeds)
    return [outcome(read, f"a{ending}", content) for content in drawn]


def write_seeds(ending: str, seeds: Iterable[int]) -> list[str]:
    def write(seed: int) -> Iterable[object]:
        rng = Random(seed)
        file = ScanFile(f"a{ending}", MAKERS[ending](rng).encode(), None, FULL)
        moves = WRITTEN["read_moves"](file)
        yield file.write(WRITTEN["draw_orders"](moves, rng, most=rng.choice([1, 4])))

    return [outcome(write, seed) for seed in seeds]


def pin_seeds(what: Callable[[str, Iterable[int]], list[str]]) -> dict[str, dict[str, str]]:
    return {
        ending: {
            f"{first}-{first + BATCH - 1}": digest(what(ending, range(first, first + BATCH)))
            for first in range(0, SEEDS, BATCH)
        }
        for ending in MAKERS
    }


def pin_examples() -> dict[str, list[str]]:
    """Moves, and the file with drawn orders, S of G-code being parts of 1000 too."""
    found = dict[str, list[str]]()
    for name in SCANS:
        content = (EXAMPLES / name).read_bytes()
        scales = (None, 1000.0) if name.endswith((".gcode", ".nc")) else (None,)
        own = found.setdefault(name, [])
        for s_max in scales:
            own.append(outcome(read, name, content, s_max))
            file = ScanFile(name, content, s_max, FULL)
            orders = WRITTEN["draw_orders"](WRITTEN["read_moves"](file), Random(7), most=4)
            own.append(digest([file.write(orders)]))
    return found


def show_path(text: str, *process: Process, **options: Any) -> Iterable[object]:
    path = find_path(text, *process, **options)
    yield show_array(path.positions)
    yield path.lit.tobytes()
    yield show_array(path.lit_shares, 9)
    yield show_array([] if path.power is None else path.power, 5)
    yield from (note.replace(str(EXAMPLES), "") for note in path.notes)


def pin_paths() -> dict[str, str]:
    """What a tick sees of the shapes, of ten families and of the examples."""
    names = [*SHAPES, *(f"{family}:{seed}" for family in FAMILIES for seed in range(5))]
    found = {name: outcome(show_path, name, ticks=700) for name in names}
    for name in SCANS:
        placement = Placement(centre=True, s_max=S_MAX.get(name))
        found[name] = outcome(show_path, str(EXAMPLES / name), Process(), placement=placement)
    return found


def pin_plans() -> dict[str, list[float]]:
    """Commands, highest and lowest temperature, K, time, s, and mean power, W, of the examples' plans."""
    found = dict[str, list[float]]()
    for name in SCANS:
        file = ScanFile(name, (EXAMPLES / name).read_bytes(), S_MAX.get(name), FULL)
        told = plan_job(
            Job(file=file, process=find_process("paper"), placement=Placement(centre=True))
        ).tell()
        numbers = [float(told[key]) for key in ("commands", "t_max_k", "t_min_k", "time_s")]
        found[name] = [*numbers, float(np.mean(told["power_w"]))]
    return found


def pin_heat() -> dict[str, list[float]]:
    """θ, W/m, and H, J/m³, of every alloy at a few temperatures, K."""
    T = np.array([250.0, 300.0, 500.0, 900.0, 1300.0, 1650.0, 1800.0, 2600.0])
    found = dict[str, list[float]]()
    for name in shipped_materials():
        table = tabulate(find_material(name), 300.0)
        theta = table.theta_of(T)
        pieces, low, per_heat = table.by_heat()
        found[name] = [*theta.tolist(), *table.heat_of(theta).tolist(), float(pieces.sum()), low, per_heat]
    return found


def make_pins() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "examples": pin_examples(),
            "paths": pin_paths(),
            "read": pin_seeds(read_seeds),
            "spoilt": pin_seeds(read_spoilt),
            "written": pin_seeds(write_seeds),
            "plans": pin_plans(),
            "heat": pin_heat(),
            "processes": {name: find_process(name).hash for name in shipped_processes()},
        }


@pytest.fixture(scope="module")
def pins() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(PINS.read_text(encoding="utf-8"))
    return stored


def test_examples_are_read_and_written_as_they_were(pins: dict[str, Any]) -> None:
    assert pin_examples() == pins["examples"]


def test_paths_go_where_they_went(pins: dict[str, Any]) -> None:
    assert pin_paths() == pins["paths"]


def test_drawn_files_mean_the_moves_they_meant(pins: dict[str, Any]) -> None:
    assert pin_seeds(read_seeds) == pins["read"]


def test_spoilt_files_are_refused_where_they_were(pins: dict[str, Any]) -> None:
    assert pin_seeds(read_spoilt) == pins["spoilt"]


def test_drawn_orders_are_written_to_the_byte(pins: dict[str, Any]) -> None:
    assert pin_seeds(write_seeds) == pins["written"]


def test_examples_are_planned_as_they_were(pins: dict[str, Any]) -> None:
    found = pin_plans()
    assert found.keys() == pins["plans"].keys()
    for name, values in found.items():
        assert values == pytest.approx(pins["plans"][name], rel=1e-4), name


def test_heat_tables_hold_the_heat_they_held(pins: dict[str, Any]) -> None:
    found = pin_heat()
    assert found.keys() == pins["heat"].keys()
    for name, values in found.items():
        assert values == pytest.approx(pins["heat"][name], rel=1e-9, abs=1e-6)


def test_shipped_processes_keep_their_hash(pins: dict[str, Any]) -> None:
    assert {name: find_process(name).hash for name in shipped_processes()} == pins["processes"]


if __name__ == "__main__":
    PINS.write_text(json.dumps(make_pins(), indent=1) + "\n", encoding="utf-8")
