"""One of two plants in a race: says how long blocks of ticks take, when asked. Started by plant_speed.py.

Only what both versions of the package have in common is imported: the older one makes a plant for a path.
"""

import inspect
import json
import sys
import time
import warnings
from typing import Any

import numpy as np

from laserloop.paths import ScanPath
from laserloop.plant import make_plant
from laserloop.process import Beam, Laser, Process, find_material


def prepare(case: dict[str, Any]) -> tuple[Any, ScanPath, list[float]]:
    """A plant, its path and the power of every tick."""
    process = Process(
        material=find_material(case["material"]),
        beam=Beam(sigma=case["sigma"]),
        tick=case["tick"],
        laser=Laser(power=(0.0, 500.0)),
        speed=case["speed"],
    )
    path = ScanPath(name=case["name"], positions=np.array(case["positions"]), tick=case["tick"])
    make: Any = make_plant
    asks_path = "path" in inspect.signature(make).parameters
    plant = make("graded", path, process) if asks_path else make("graded", process)
    return plant, path, [case["power"]] * len(path)


def start(case: dict[str, Any] | None = None) -> tuple[Any, ScanPath, list[float]]:
    """Read a case, unless given, and drive its first ticks once, which loads the kernels."""
    plant, path, powers = prepare(json.loads(sys.stdin.readline()) if case is None else case)
    for k in range(3):
        plant.t_max(plant.step(powers[k], path.spot(k)))
    plant.reset()
    print(json.dumps(0.0), flush=True)
    return plant, path, powers


def main() -> None:
    """Read a case or a block of ticks per line, and answer with the CPU seconds of the block."""
    warnings.simplefilter("ignore")
    plant, path, powers = start()
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, dict):
            plant, path, powers = start(asked)
            continue
        began = time.process_time()
        for k in range(*asked):
            plant.t_max(plant.step(powers[k], path.spot(k)))
        print(json.dumps(time.process_time() - began), flush=True)


if __name__ == "__main__":
    main()
