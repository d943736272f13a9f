"""Does the plant melt as it should, and without a failed tick?

    python benchmarks/melting.py       # minutes: tracks of all alloys, Neumann's fronts, random materials

Writes docs/results/melting.{md,json}.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from laserloop.bad_input import BadInput
from laserloop.paths import find_path
from laserloop.plant import Plant, graded_settings, paper_settings
from laserloop.plant.conduction import BACKWARD_EULER, SDIRK2, Conduction, Source
from laserloop.plant.grid import Grid
from laserloop.plant.stefan import Stefan
from laserloop.process import Material, Process, find_process, shipped_materials
from laserloop.process.heat_table import tabulate
from laserloop.process.melting import Melting

RESULTS = Path(__file__).parent.parent / "docs" / "results"
SETTINGS = {"paper": paper_settings, "graded": graded_settings}
TICKS, DARK = 60, 17  # every 17th tick is dark, so that the melt freezes and melts anew
POWERS = {"paper": 70.0, "graded": 60.0}  # W; at 90 W `paper` passes the boiling points at the turn
TOLERANCES = (1e-4, 1e-5, 1e-6)  # K


def melt_track(alloy: str, plant: str, tolerance: float) -> dict[str, Any]:
    """Drive a plant along the diagonal at a power that melts."""
    path = find_path("diagonal", ticks=TICKS)
    made = Plant(SETTINGS[plant](find_process(alloy), tolerance=tolerance))
    made.step(1.0, path.spot(0))  # compiles
    made.reset()
    most, spent, pools, hottest, failed, boiled = 0, 0.0, [], 0.0, 0, 0
    for k in range(TICKS):
        began = time.perf_counter()
        try:
            surface = made.step(POWERS[plant] if (k + 1) % DARK else 0.0, path.spot(k))
        except BadInput as failure:
            boiled, failed = int("boiling" in str(failure)), int("boiling" not in str(failure))
            break
        spent += time.perf_counter() - began
        most = max(most, made._conduction.corrections)
        hottest = max(hottest, surface.peak.temperature)
        pool = made.melt_pool(surface)
        if pool is not None:
            pools.append((pool.length, pool.width, pool.depth))
    books = made.books
    length, width, depth = 1e6 * np.median(pools, axis=0) if pools else (0.0, 0.0, 0.0)
    return {
        "alloy": alloy,
        "plant": plant,
        "tolerance_k": tolerance,
        "power_w": POWERS[plant],
        "failed_ticks": failed,
        "boiled": boiled,
        "t_max_k": hottest,
        "molten_ticks": len(pools),
        "length_um": float(length),
        "width_um": float(width),
        "depth_um": float(depth),
        "most_corrections": most,
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


def follow_front(superheat: float, levels: int, scheme: Any) -> dict[str, Any]:
    """Freeze a column from its cold face at 1200 K and compare the front with Neumann's."""
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
    column = Conduction(grid, tabulate(metal, 1200.0), scheme=scheme, tolerance=1e-4, edge=1e-4)
    start = np.full(grid.shape, 1700.0 + max(superheat, narrow))
    start[-1] = 1200.0
    column.start(start)
    for _ in range(steps):
        column.advance(step, (Source(np.zeros(3), np.zeros(3)),) * len(scheme.stages))
    assert metal.melting is not None
    liquid = metal.melting.fraction(column.table.temperature_of(column.field())[:, 1, 1]) @ grid.widths[0]
    front = float(exact.front(step * steps))
    return {
        "phases": 1 if superheat == 0 else 2,
        "scheme": scheme.name,
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
    plant = Plant(
        SETTINGS["graded" if rng.integers(2) else "paper"](
            Process(material=metal), tolerance=10 ** rng.uniform(-6, -3)
        )
    )
    hop = rng.uniform(6e-6, 1.25e-4) * np.exp(1j * rng.uniform(0, 2 * np.pi))
    power, most = rng.uniform(10, 80), 0.0
    for k in range(12):
        spot = np.array([[(hop * k).real, (hop * k).imag], [(hop * (k + 1)).real, (hop * (k + 1)).imag]])
        try:
            plant.step(power if rng.random() > 0.15 else 0.0, np.clip(spot, -1.4e-3, 1.4e-3))
        except BadInput as failure:
            if "boiling" not in str(failure):
                return {"seed": seed, "failed": 1, "corrections": 60.0}
            break
        stages = len(plant.settings.scheme.stages) * plant._pace
        most = max(most, plant._conduction.corrections / stages)
    return {"seed": seed, "failed": 0, "corrections": most}


def write_page(found: dict[str, Any]) -> str:
    """The page."""
    text = [
        "# Does the plant melt as it should?",
        "",
        "Made by `python benchmarks/melting.py`. Latent heat is in the heat balance; evaporation, flow and powder are",
        "not. Numbers of the alloys and where they come from: `process/alloys/*.yaml`.",
        "",
        f"**Tracks.** {TICKS} ticks of 125 µs along `diagonal` at 304 mm/s on the built-in process of each alloy, every",
        f"{DARK}th tick dark ({POWERS['graded']:g} W on `graded`, {POWERS['paper']:g} W on `paper`). Sizes are medians over the",
        "ticks with a melt pool, whose edge is the liquidus. Corrections: Newton's, the most in one tick (one to six stages).",
        f"Runs that ended at the boiling point: {sum(r['boiled'] for r in found['tracks'])}.",
        "",
        "| alloy | plant | tolerance, K | failed ticks | T_max, K | length, µm | width, µm | depth, µm "
        "| corrections | ms a tick | energy error |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    text += [
        f"| {r['alloy']} | {r['plant']} | {r['tolerance_k']:.0e} | {r['failed_ticks']} | {r['t_max_k']:.0f} "
        f"| {r['length_um']:.0f} | {r['width_um']:.0f} | {r['depth_um']:.1f} | {r['most_corrections']} "
        f"| {r['ms_per_tick']:.1f} | {r['energy_error']:.0e} |"
        for r in found["tracks"]
    ]
    text += [
        "",
        "**Fronts.** A column of 1 mm freezes from a face held 500 K below melting, for 15 ms in 150 steps; one phase: all",
        "at the melting point; two: 150 K above it. The metal melts within 4 K, Neumann's at one temperature.",
        "",
        "| phases | scheme | levels | front, µm | error |",
        "|---|---|---|---|---|",
    ]
    text += [
        f"| {r['phases']} | {r['scheme']} | {r['levels']} | {r['front_um']:.1f} | {r['error']:+.2%} |"
        for r in found["fronts"]
    ]
    trials = found["random"]
    text += [
        "",
        f"**Random metals.** {len(trials)} of them, latent heats of 30 to 1000 kJ/kg within 0.01 to 100 K or bumps of heat",
        "capacity up to 300 kJ/kgK, on either plant, at tolerances of 1e-6 to 1e-3 K: "
        f"{sum(r['failed'] for r in trials)} failed ticks, at most",
        f"{max(r['corrections'] for r in trials):.0f} corrections a stage (mean of a tick's stages; the limit is 60).",
    ]
    return "\n".join(text) + "\n"


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
                melt_track(alloy, plant, tolerance)
                for alloy in shipped_materials()
                for plant in SETTINGS
                for tolerance in TOLERANCES
            ],
            "fronts": [
                follow_front(superheat, levels, scheme)
                for superheat in (0.0, 150.0)
                for scheme in (BACKWARD_EULER, SDIRK2)
                for levels in (51, 101, 201)
            ],
            "random": [try_random(seed) for seed in range(options.random)],
        }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "melting.json").write_text(json.dumps(found, indent=1))
    page = write_page(found)
    (options.out / "melting.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
