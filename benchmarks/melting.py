"""Does the plant melt as it should, and without a failed tick?

    python benchmarks/melting.py       # minutes: tracks of all alloys, Neumann's fronts, random materials

Writes docs/results/melting.json.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from laserloop.bad_input import BadInput
from laserloop.paths import find_path
from laserloop.plant import PLANTS, Plant, PlantSettings
from laserloop.plant.paper import Grid, PaperHeat
from laserloop.process import Material, Process, find_process, shipped_materials
from laserloop.process.material import Melting
from laserloop.versions import find_versions

RESULTS = Path(__file__).parent.parent / "docs" / "results"
sys.path.insert(0, str(Path(__file__).parent.parent))  # the exact solutions are with the tests
TICKS, DARK = 60, 17  # every 17th tick is dark, so that the melt freezes and melts anew
POWERS = {"paper": 70.0, "graded": 60.0}  # W; at 90 W `paper` passes the boiling points at the turn
FINER = {"paper": ("tolerance", (1e-4, 1e-5, 1e-6)), "graded": ("refine", (1.0, 2.0))}


def melt_track(alloy: str, plant: str, finer: float) -> dict[str, Any]:
    """Drive a plant along the diagonal at a power that melts."""
    path = find_path("diagonal", ticks=TICKS)
    made = Plant(PlantSettings(name=plant, process=find_process(alloy), **{FINER[plant][0]: finer}))
    made.step(1.0, path.spot(0))  # compiles
    made.reset()
    spent, pools, hottest, failed, boiled = 0.0, [], 0.0, 0, 0
    for k in range(TICKS):
        began = time.process_time()
        try:
            surface = made.step(POWERS[plant] if (k + 1) % DARK else 0.0, path.spot(k))
        except BadInput as failure:
            boiled, failed = int("boiling" in str(failure)), int("boiling" not in str(failure))
            break
        spent += time.process_time() - began
        hottest = max(hottest, surface.peak.temperature)
        pool = made.melt_pool(surface)
        if pool is not None:
            pools.append((pool.length, pool.width, pool.depth))
    books = made.books
    length, width, depth = 1e6 * np.median(pools, axis=0) if pools else (0.0, 0.0, 0.0)
    return {
        "alloy": alloy,
        "plant": plant,
        FINER[plant][0]: finer,
        "power_w": POWERS[plant],
        "failed_ticks": failed,
        "boiled": boiled,
        "t_max_k": hottest,
        "molten_ticks": len(pools),
        "length_um": float(length),
        "width_um": float(width),
        "depth_um": float(depth),
        "ms_per_tick": 1e3 * spent / TICKS,
        "energy_error": (books["absorbed"] - books["lost"] - books["stored"]) / books["absorbed"],
    }


def make_metal(narrow: float) -> Material:
    """A metal that melts at 1700 K within `narrow` kelvin."""
    melting = Melting(
        source="a benchmark",
        solidus=1700.0 - narrow / 2,
        liquidus=1700.0 + narrow / 2,
        latent=270e3,
        boiling=3000.0,
        T=np.array([1700.0 + narrow / 2]),
        k=np.array([18.0]),
        rho=np.array([7500.0]),
        cp=np.array([700.0]),
    )
    k, rho, cp = (Polynomial([value]) for value in (25.0, 7500.0, 700.0))
    return Material(
        name="metal",
        source="a benchmark",
        valid=(300.0, 1700.0 - narrow),
        k=k,
        rho=rho,
        cp=cp,
        melting=melting,
    )


def follow_front(superheat: float, levels: int) -> dict[str, Any]:
    """Freeze a column of the paper's plant from its cold face at 1200 K; compare the front with Neumann's."""
    from tests.validation.column import fill, make_heat
    from tests.validation.stefan import Stefan

    narrow, depth, step, steps = 4.0, 1e-3, 1e-4, 150
    exact = Stefan(
        face=1200.0,
        melting=1700.0,
        body=1700.0 + superheat,
        conductivity=(25.0, 18.0),
        capacity=7500.0 * 700.0,
        latent=7500.0 * 270e3,
    )
    side = np.linspace(-1.0, 1.0, 3) * 1e-4
    grid = Grid(x=side, y=side, z=np.linspace(0.0, depth, levels))
    metal = make_metal(narrow)
    column: PaperHeat = make_heat(Process(material=metal, ambient=1200.0), grid=grid)
    fill(column, np.full(grid.shape, 1700.0 + max(superheat, narrow)))
    for _ in range(steps):
        column.advance(0.0, np.zeros((2, 2)), step)
    assert metal.melting is not None
    liquid = metal.melting.fraction(column.cells()[3][:, 1, 1]) @ grid.widths[0]
    front = float(exact.front(step * steps))
    return {
        "phases": 1 if superheat == 0 else 2,
        "levels": levels,
        "front_um": 1e6 * front,
        "error": float(depth - liquid) / front - 1.0,
    }


def try_random(seed: int) -> dict[str, Any]:
    """A random metal with a latent heat or a bump of heat capacity, on a random plant and way."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        solidus, narrow = rng.uniform(600, 1500), 10 ** rng.uniform(-1.9, 2)
        melting = Melting(
            source="random",
            solidus=solidus,
            liquidus=solidus + narrow,
            latent=10 ** rng.uniform(4.5, 6),
            boiling=9000.0,
            T=np.array([solidus + narrow]),
            k=np.array([rng.uniform(5, 60)]),
            rho=np.array([7000.0]),
            cp=np.array([rng.uniform(400, 1000)]),
        )
        curves: Any = {
            name: Polynomial([value])
            for name, value in (("k", rng.uniform(10, 30)), ("rho", 7500.0), ("cp", 600.0))
        }
        metal = Material(name="random", source="random", valid=(300.0, solidus), melting=melting, **curves)
    else:
        middle, narrow, bump = rng.uniform(500, 1300), 10 ** rng.uniform(0, 1.7), 10 ** rng.uniform(3.3, 5.5)
        metal = Material.from_table(
            T=[300.0, middle - narrow, middle, middle + narrow, 2500.0],
            k=[15.0, 20.0, 20.0, 22.0, 30.0],
            rho=[7900.0] * 5,
            cp=[500.0, 600.0, bump, 600.0, 700.0],
            name="random",
            source="random",
        )
    name, tolerance = PLANTS[rng.integers(2)], 10 ** rng.uniform(-6, -3)
    plant = Plant(PlantSettings(name=name, process=Process(material=metal), tolerance=tolerance))
    hop = rng.uniform(6e-6, 1.25e-4) * np.exp(1j * rng.uniform(0, 2 * np.pi))
    power = rng.uniform(10, 80)
    for k in range(12):
        spot = np.array([[(hop * k).real, (hop * k).imag], [(hop * (k + 1)).real, (hop * (k + 1)).imag]])
        try:
            plant.step(power if rng.random() > 0.15 else 0.0, np.clip(spot, -1.4e-3, 1.4e-3))
        except BadInput as failure:
            if "boiling" not in str(failure):
                return {"seed": seed, "failed": 1, "imbalance": 1.0}
            break
    books = plant.books
    imbalance = abs(books["absorbed"] - books["lost"] - books["stored"]) / max(books["absorbed"], 1e-9)
    return {"seed": seed, "failed": 0, "imbalance": imbalance}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--random", type=int, default=300, help="How many random metals.")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            "tracks": [
                melt_track(alloy, plant, finer)
                for alloy in shipped_materials()
                for plant in PLANTS
                for finer in FINER[plant][1]
            ],
            "fronts": [
                follow_front(superheat, levels) for superheat in (0.0, 150.0) for levels in (51, 101, 201)
            ],
            "random": [try_random(seed) for seed in range(options.random)],
        }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "melting.json").write_text(json.dumps(found | {"versions": find_versions()}, indent=1))
    trials = found["random"]
    print(
        f"{sum(row['failed_ticks'] for row in found['tracks'])} failed ticks of tracks, runs that boiled: {sum(row['boiled'] for row in found['tracks'])}"
    )
    print(f"fronts off by {max(abs(row['error']) for row in found['fronts']):.2%} at most")
    print(f"{sum(row['failed'] for row in trials)} failed ticks of {len(trials)} random metals")


if __name__ == "__main__":
    main()
