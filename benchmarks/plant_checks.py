"""The figures behind the validation tests: exact solutions, order of convergence, heat, the paper's line.

    python benchmarks/plant_checks.py     # a quarter of an hour, most of it at refine 4

Writes docs/results/plant_checks.{md,json}. The functions are those of tests/validation, so the page and the
tests cannot drift apart.
"""

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bench.plant import CP, RHO, SCALES, K, Scale, drive_peaks, make_serpentine, solve_peaks
from laserloop.paths import find_path
from laserloop.plant import PLANTS, make_plant
from laserloop.versions import find_versions

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
FloatArray = NDArray[np.float64]
Rows = list[dict[str, Any]]

JUMPS = 6  # ticks between them


def load_test(name: str) -> Any:
    """A module of the validation tests."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return import_module(f"tests.validation.{name}")


def summarise(errors: FloatArray) -> dict[str, float]:
    """Shares of the mean rise."""
    return {
        "mean": float(errors.mean()),
        "rms": float(np.sqrt((errors**2).mean())),
        "worst": float(np.abs(errors).max()),
    }


def measure_exact() -> Rows:
    """The peak along serpentines, at constant power and with jumps, against the exact integral."""
    rows = []
    for name, scale in SCALES.items():
        positions = make_serpentine(scale.speed * scale.tick)
        ticks = len(positions) - 1
        powers = {
            "constant": np.full(ticks, scale.power),
            "jumps": scale.power * np.where(np.arange(ticks) // JUMPS % 2 == 0, 1.4, 0.14),
        }
        for power, values in powers.items():
            exact = solve_peaks(scale, positions, values, range(1, ticks + 1, 3))
            for refine in (1.0, 2.0):
                found, ms = drive_peaks(scale, positions, values, refine=refine)
                errors = (found[::3] - exact) / exact.mean()
                row = {
                    "scale": name,
                    "power": power,
                    "refine": refine,
                    "rise_k": float(exact.mean()),
                    "ms": ms,
                }
                rows.append(row | summarise(errors))
    return rows


def measure_ripple() -> Rows:
    """The peak over the exact one along straight lines, once it has settled."""
    rows = []
    for name, scale in SCALES.items():
        for angle in (0.0, 30.0, 45.0):
            found, exact = drive_line(scale, 90, angle, range(41, 91))
            rows.append(
                {"scale": name, "angle": angle, "ripple": float(np.ptp(found[40:] / exact))}
                | {"bias": float((found[40:] / exact).mean() - 1.0)}
            )
    return rows


def drive_line(scale: Scale, ticks: int, angle: float, after: range, refine: float = 1.0) -> Any:
    """Peaks on a straight line through the origin, and the exact ones after some ticks."""
    heading = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    positions = scale.speed * scale.tick * (np.arange(ticks + 1)[:, np.newaxis] - ticks / 2) * heading
    powers = np.full(ticks, scale.power)
    found, _ = drive_peaks(scale, positions, powers, refine=refine)
    return found, solve_peaks(scale, positions, powers, after)


def measure_speeds() -> Rows:
    """The settled peak of slow and fast beams."""
    rows = []
    for speed in (0.001, 0.01, 0.1, 0.3, 1.0, 3.0):
        scale = replace(SCALES["heat_treatment"], speed=speed, tick=1.25e-4)
        ticks = int(np.clip(6 * scale.sigma / (speed * scale.tick), 12, 400))
        errors = []
        for refine in (1.0, 2.0):
            found, exact = drive_line(scale, ticks, 0.0, range(ticks, ticks + 1), refine)
            errors.append(float(found[-1] / exact[0] - 1.0))
        peclet = speed * scale.sigma * RHO * CP / K
        rows.append(
            {"speed": speed, "peclet": peclet, "ticks": ticks, "error": errors[0], "refined": errors[1]}
        )
    return rows


def measure_refined() -> Rows:
    """With properties that depend on temperature, against a plant four times as fine."""
    test, rows = load_test("test_nested"), []
    for name, (process, positions, power) in test.WAYS.items():
        never = len(positions)
        truth = test.drive(process, positions, power, 4.0, pools_from=never)[0]
        for refine in (1.0, 2.0):
            found = test.drive(process, positions, power, refine, pools_from=never)[0]
            rise = float((truth - process.ambient).mean())
            rows.append({"case": name, "refine": refine, "rise_k": rise} | summarise((found - truth) / rise))
    return rows


def measure_melting() -> dict[str, Any]:
    """A melting track against a plant four times as fine, from the tick on at which the melt is there."""
    test = load_test("test_nested")
    process, hop = test.IN625, test.IN625.speed * test.IN625.tick
    positions, first = make_serpentine(hop, lines=1, length=6e-4), 8
    truth, pool = test.drive(process, positions, test.TRACK, 4.0, pools_from=first)
    rise, rows = float((truth - process.ambient)[first:].mean()), []
    for refine in (1.0, 2.0):
        found, measured = test.drive(process, positions, test.TRACK, refine, pools_from=first)
        error = ((found - truth) / rise)[first:]
        sizes = (measured / pool - 1.0)[-12:]
        rows.append(
            {
                "refine": refine,
                "sizes": sizes.mean(axis=0).tolist(),
                "worst_sizes": np.abs(sizes).max(axis=0).tolist(),
            }
            | summarise(error)
        )
    return {"rise_k": rise, "pool_um": (1e6 * pool[-12:].mean(axis=0)).tolist(), "rows": rows}


def measure_pool() -> dict[str, Any]:
    """The melt pool with constant properties."""
    pools, exact = load_test("test_nested").pool_and_exact()
    error = pools / exact - 1.0
    return {
        "exact_um": (1e6 * exact).tolist(),
        "mean": error.mean(axis=0).tolist(),
        "worst": np.abs(error).max(axis=0).tolist(),
    }


def measure_stefan() -> Rows:
    """How deep a front of freezing or melting goes, against Neumann's solution."""
    test, rows = load_test("test_stefan"), []
    cases = [(test.freeze, "freezing", 0.0, 150.0), (test.melt, "melting", test.MELTS - test.RANGE, 1450.0)]
    for solve, what, *starts in cases:
        for phases, start in zip(("one phase", "two phases"), starts, strict=True):
            row = {"what": f"{what}, {phases}"}
            for plant in PLANTS:
                depth, exact = solve(plant, start)
                row |= {"exact_um": 1e6 * exact, plant: depth / exact - 1.0}
            rows.append(row)
    return rows


def measure_order() -> Rows:
    """On the manufactured nonlinear solution."""
    test, rows = load_test("test_order"), []
    plates: dict[str, Callable[[int], Any]] = {
        "paper, even nodes": lambda n: test.nodes(test.uniform(n)),
        "paper, stretched": lambda n: test.nodes(test.stretched(n)),
        "graded, cells": test.cubes,
    }
    for name, make in plates.items():
        errors = []
        for n in (6, 12, 24):
            heat = make(n)
            found = (
                test.solve(heat, 40)
                if name == "graded, cells"
                else 2.0 * test.solve(heat, 160) - test.solve(heat, 80)
            )
            errors.append(float(np.abs(found - test.exact_at(heat, 2e-3)).max()))
        rows.append(
            {"what": f"space, {name}: 6, 12, 24 an axis", "errors_k": errors, "order": test.order(errors)}
        )
    for name, heat, steps in (
        ("paper, backward Euler", test.nodes(test.uniform(10)), (5, 10, 20)),
        ("graded, RKL2", test.cubes(10), (20, 40, 80)),
    ):
        limit = (
            2.0 * test.solve(heat, 640) - test.solve(heat, 320) if "paper" in name else test.solve(heat, 320)
        )
        errors = [float(np.abs(test.solve(heat, n) - limit).max()) for n in steps]
        told = ", ".join(map(str, steps))
        rows.append({"what": f"time, {name}: {told} steps", "errors_k": errors, "order": test.order(errors)})
    return rows


def measure_heat() -> dict[str, float]:
    """|absorbed − lost − stored| / absorbed after the diagonal, and after moves, pauses and layers."""
    path, found = find_path("diagonal", ticks=400), {}
    for name in PLANTS:
        plant = make_plant(name)
        for k in range(len(path)):
            plant.step(14.0, path.spot(k))
        found[f"`{name}`, 400 ticks of the diagonal"] = imbalance(plant)
    for _ in range(3):
        plant.rest(0.3)
        plant.add_layer(5e-5)
        for k in range(200):
            plant.step(14.0 * (k % 17 != 0), path.spot(k))
    found["`graded`, three more layers with pauses and dark ticks"] = imbalance(plant)
    return found


def imbalance(plant: Any) -> float:
    """Of all that was absorbed."""
    books = plant.books
    return float(abs(books["absorbed"] - books["lost"] - books["stored"]) / books["absorbed"])


def write_page(found: dict[str, Any]) -> str:
    """The page."""
    text = [
        "# The plant, checked",
        "",
        "Made by `python benchmarks/plant_checks.py` (measured with version 0.2.0) with the functions of `tests/validation`. `graded` is the nested plant; errors of the",
        "peak are shares of the mean rise, from the first tick on.",
        "",
        f"**Exact integral.** Serpentine of five 2 mm lines, 0.1 mm apart, constant properties (k {K:g} W/mK, ρ {RHO:g} kg/m³,",
        f"c {CP:g} J/kgK): σ 100 µm, 0.3 m/s, ticks of 100 µs and σ 42.5 µm, 0.8 m/s, 20 µs. Jumps: ten times the power and back",
        f"every {JUMPS} ticks; the worst tick is the first one after a jump.",
        "",
        "| machine | power | refine | mean rise, K | mean | RMS | worst |",
        "|---|---|---|---|---|---|---|",
    ]
    text += [
        f"| {r['scale'].replace('_', ' ')} | {r['power']} | {r['refine']:g} | {r['rise_k']:.0f} | {r['mean']:+.3%} | {r['rms']:.3%} "
        f"| {r['worst']:.3%} |"
        for r in found["exact"]
    ]
    widest = max(r["ripple"] for r in found["ripple"])
    text += [
        "",
        f"**Ripple** along straight lines at 0°, 30° and 45° to the cells: at most {widest:.4%} of the rise from peak to peak.",
        "",
        "**Slow and fast beams.** Straight lines at σ 100 µm, ticks of 125 µs. The larger the Péclet number vσ/α, the thinner the hot layer,",
        "√(ασ/v): the cells are thinner too where the process's speed asks for it.",
        "",
        "| speed, m/s | vσ/α | error | with refine 2 |",
        "|---|---|---|---|",
    ]
    text += [
        f"| {r['speed']:g} | {r['peclet']:.2g} | {r['error']:+.2%} | {r['refined']:+.2%} |"
        for r in found["speeds"]
    ]
    text += [
        "",
        "**304 steel with its own properties**, against `refine` 4.",
        "",
        "| way | refine | mean rise, K | RMS | worst |",
        "|---|---|---|---|---|",
    ]
    text += [
        f"| {r['case']} | {r['refine']:g} | {r['rise_k']:.0f} | {r['rms']:.3%} | {r['worst']:.3%} |"
        for r in found["refined"]
    ]
    melting, pool = found["melting"], found["pool"]
    length, width, depth = melting["pool_um"]
    text += [
        "",
        "**A melting track.** IN625, σ 42.5 µm, 37 W absorbed, 0.8 m/s, against `refine` 4 "
        f"(rise {melting['rise_k']:.0f} K, pool {length:.0f} × {width:.0f} × {depth:.1f} µm),",
        "from the ninth tick on, and the pool's size over the last twelve: the front takes cell after cell, and with it the peak ripples.",
        "",
        "| refine | peak: mean | RMS | worst | length: mean, worst | width | depth |",
        "|---|---|---|---|---|---|---|",
    ]
    text += [
        f"| {r['refine']:g} | {r['mean']:+.2%} | {r['rms']:.2%} | {r['worst']:.2%} | "
        + " | ".join(
            f"{mean:+.1%}, {worst:.1%}" for mean, worst in zip(r["sizes"], r["worst_sizes"], strict=True)
        )
        + " |"
        for r in melting["rows"]
    ]
    text += [
        "",
        "**Melt pool with constant properties** (AMB2018-02 B: 179.2 W, 0.8 m/s, σ 42.5 µm, absorptivity 0.4; IN625's properties at 1255 K):",
        "",
        "| | exact, µm | error, mean | worst |",
        "|---|---|---|---|",
    ]
    text += [
        f"| {name} | {pool['exact_um'][n]:.1f} | {pool['mean'][n]:+.2%} | {pool['worst'][n]:.2%} |"
        for n, name in enumerate(("length", "width", "depth"))
    ]
    text += [
        "",
        "**Stefan's problem.** A front in a column of cells or nodes 5 µm high, a liquid that conducts less than its solid: how deep it comes.",
        "Against Neumann's solution:",
        "",
        "| | exact depth, µm | `paper` | `graded` |",
        "|---|---|---|---|",
    ]
    text += [
        f"| {r['what']} | {r['exact_um']:.1f} | {r['paper']:+.2%} | {r['graded']:+.2%} |"
        for r in found["stefan"]
    ]
    text += [
        "",
        "**Order of convergence** on the manufactured nonlinear solution (largest error anywhere). The publication's backward Euler is of",
        "first order in time; in space, its time error removed by Richardson's extrapolation.",
        "",
        "| refined | errors, K | order |",
        "|---|---|---|",
    ]
    text += [
        f"| {r['what']} | {', '.join(f'{e:.3g}' for e in r['errors_k'])} | {r['order']:.2f} |"
        for r in found["order"]
    ]
    text += ["", "**Heat.** |absorbed − lost − stored| / absorbed.", "", "| | |", "|---|---|"]
    text += [f"| {name} | {share:.0e} |" for name, share in found["heat"].items()]
    low, high = found["line"]["range_k"]
    text += [
        "",
        f"**The paper's plant** at 14 W, 0.3 m/s along a grid line from a node: T_max cycles through {low:.1f}…{high:.1f} K;",
        f"the independent SciPy plant differs by at most {found['line']['scipy_k']:.1e} K anywhere on the surface under switching power.",
    ]
    return "\n".join(text) + "\n"


def main() -> None:
    """Measure all, and write page and numbers."""
    line = load_test("test_paper_line")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of temperatures outside a material's range
        found = {
            "exact": measure_exact(),
            "ripple": measure_ripple(),
            "speeds": measure_speeds(),
            "pool": measure_pool(),
            "stefan": measure_stefan(),
            "order": measure_order(),
            "heat": measure_heat(),
            "line": {"range_k": line.settled_range(), "scipy_k": line.largest_difference()},
            "refined": measure_refined(),
            "melting": measure_melting(),
        }
    (RESULTS / "plant_checks.json").write_text(
        json.dumps(found | {"versions": find_versions()}, indent=1) + "\n"
    )
    page = write_page(found)
    (RESULTS / "plant_checks.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
