"""Does the first tick of light hold? Starts of hatch vectors as the twin plans them, against the plant.

    python benchmarks/starts.py --label after      # two minutes

160 hatches of three vectors: four pitches, five lengths, four dark jumps and both ways of turning, on 304, for
lasers of 20 and of 60 W. The twin plans each without a camera, the `graded` plant is given these powers.
Rewrites the row of the label in docs/results/starts.json.
"""

import argparse
import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.native.twin import TwinPlayer
from laserloop.paths import ScanPath
from laserloop.plant import make_plant
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process
from laserloop.store import dump, save
from laserloop.versions import find_versions

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "starts.json"
PITCHES, LENGTHS = (5e-5, 1e-4, 1.5e-4, 3e-4), (2e-4, 4e-4, 8e-4, 1.5e-3, 2.5e-3)  # m
PAUSES, TURNS = (1, 2, 4, 16), (False, True)  # dark ticks; whether the next vector runs back
VECTORS = 3
POWERS = (20.0, 60.0)  # W
TICKS = 5  # of each start that are looked at
BANDS = (0, 5, 50)  # K above the window's top
FloatArray = NDArray[np.float64]


def lay_hatch(process: Process, pitch: float, length: float, pause: int, turn: bool) -> ScanPath:
    """Vectors side by side with dark jumps of some ticks between them."""
    hop = process.speed * process.tick
    hops = round(length / hop)
    along = np.linspace(0.0, hops * hop, hops + 1)
    points, lit = [np.empty((0, 2))], list[bool]()
    for vector in range(VECTORS):
        way = along[::-1] if turn and vector % 2 else along
        here = np.stack((way, np.full(hops + 1, vector * pitch)), axis=-1)
        if vector:
            last = points[-1][-1]
            points.append(last + np.linspace(0.0, 1.0, pause + 1)[1:-1, np.newaxis] * (here[0] - last))
            lit += pause * [False]
        points.append(here)
        lit += hops * [True]
    return ScanPath(name="hatch", positions=np.concatenate(points), lit=np.array(lit), tick=process.tick)


def plan(process: Process, path: ScanPath) -> FloatArray:
    """The twin's powers, W; each vector begins after a pause, and nobody foresaw it."""
    problem = make_twin_problem(MpcProblem(window=process.window, power=process.laser.power))
    player, powers = TwinPlayer(TwinPredictor(process), problem), np.zeros(len(path))
    light = np.concatenate(([0], path.lit.astype(int), [0]))
    ends = 0
    for first, last in zip(*(np.flatnonzero(np.diff(light) == sign) for sign in (1, -1)), strict=True):
        if first:
            player.pause((first - ends) * path.tick, path.positions[first])
        ends, n = last, int(last - first)
        vector = replace(path, positions=path.positions[first : last + 1], lit=path.lit[first:last])
        ahead = n + player.horizon
        powers[first:last] = player.plan(vector.preview(0, ahead), vector.preview_lit(0, ahead), n)[0]
    return powers


def burn(process: Process, path: ScanPath, power: FloatArray) -> FloatArray:
    """The plant's peak at the end of each tick, K."""
    plant = make_plant("graded", process)
    plant.reset()
    return np.array([plant.step(float(p), path.spot(k)).peak.temperature for k, p in enumerate(power)])


def measure(most: float) -> dict[str, Any]:
    """Starts of all hatches under a laser of so many watts, but for the first vector on the cold plate."""
    process, over = Process().change(power_w=[0.0, most]), list[float]()
    for pitch, length, pause, turn in product(PITCHES, LENGTHS, PAUSES, TURNS):
        path = lay_hatch(process, pitch, length, pause, turn)
        T = burn(process, path, plan(process, path))
        starts = 1 + np.flatnonzero(np.diff(path.lit.astype(int)) > 0)
        over.append(float(np.max(T[starts[:, np.newaxis] + np.arange(TICKS)])) - process.window[1])
    return {
        "power_max_w": most,
        "hatches": len(over),
        "worst_over_k": round(max(over), 1),
        **{f"over_by_more_than_{band}_k": sum(each > band for each in over) for band in BANDS},
    }


def main() -> None:
    """Measure and rewrite this version's row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--label", required=True, help="of the version that is measured")
    options = parser.parse_args()
    rows = [measure(most) for most in POWERS]
    for row in rows:
        print(options.label, *(f"{name} {value}" for name, value in row.items()))
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    about = {"plant": "graded", "process": Process().hash, "processor": find_versions()["processor"]}
    save(RESULTS, dump(kept | {options.label: {"rows": rows, **about}, "versions": find_versions()}))


if __name__ == "__main__":
    main()
