"""The figures behind the validation tests: energy, order of convergence, exact solution, the paper's line.

    python benchmarks/plant_checks.py     # a minute or two

Writes docs/results/plant_checks.md. The functions are those of tests/validation, so the page and the tests
cannot drift apart.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from laserloop.plant import graded_settings, paper_settings
from laserloop.plant.conduction import BACKWARD_EULER, SDIRK2

ROOT = Path(__file__).parent.parent


def load_test(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / "validation" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def energy_rows() -> list[str]:
    imbalance = load_test("test_energy").imbalance
    rows = ["| tolerance, K | paper | graded |", "|---|---|---|"]
    for tolerance in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        errors = [imbalance(make(tolerance=tolerance)) for make in (paper_settings, graded_settings)]
        mark = " (default)" if tolerance == 1e-4 else ""
        rows.append(f"| {tolerance:g}{mark} | {errors[0]:.1e} | {errors[1]:.1e} |")
    return rows


def order_rows() -> list[str]:
    test = load_test("test_order")
    rows = ["| refined | errors, K | order |", "|---|---|---|"]
    for name in ("uniform", "stretched"):
        errors = []
        for n in (6, 12, 24):
            grid = getattr(test, name)(n)
            exact = test.CHOSEN.temperature(*test.places(grid), 2e-3)
            errors.append(float(np.abs(test.solve(grid, SDIRK2, 40) - exact).max()))
        rows.append(f"| space, {name} grid of 6, 12, 24 cells | {_list(errors)} | {test.order(errors):.2f} |")
    grid = test.uniform(10)
    limit = test.solve(grid, SDIRK2, 320)
    for scheme in (BACKWARD_EULER, SDIRK2):
        errors = [float(np.abs(test.solve(grid, scheme, n) - limit).max()) for n in (5, 10, 20)]
        rows.append(f"| time, {scheme.name}, 5, 10, 20 steps | {_list(errors)} | {test.order(errors):.2f} |")
    return rows


def quasi_steady_rows() -> list[str]:
    test = load_test("test_quasi_steady")
    rows = ["| speed, m/s | exact rise, K | graded, K | difference |", "|---|---|---|---|"]
    for speed in (0.1, 0.304, 1.0):
        found, exact = test.graded_and_exact(speed)
        rows.append(f"| {speed} | {exact.rise:.2f} | {found:.2f} | {found / exact.rise - 1:+.2%} |")
    return rows


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def main() -> None:
    line = load_test("test_paper_line")
    low, high = line.settled_range()
    text = [
        "# The plant, checked",
        "",
        "Made by `python benchmarks/plant_checks.py`.",
        "",
        "**Energy.** |stored − (absorbed − lost)| / absorbed after the 400-tick diagonal episode at 14 W.",
        "",
        *energy_rows(),
        "",
        "**Order of convergence** on the manufactured nonlinear solution (largest error over all nodes).",
        "",
        *order_rows(),
        "",
        "**Quasi-steady moving Gaussian**, constant properties (k = 20 W/mK, ρc = 4.29 MJ/m³K), 14 W, σ = 100 µm.",
        "",
        *quasi_steady_rows(),
        "",
        f"**The paper's plant** at 14 W, 0.3 m/s along a grid line from a node: T_max cycles through {low:.1f}…{high:.1f} K;",
        f"the independent SciPy plant differs by at most {line.largest_difference():.1e} K anywhere on the surface under switching power.",
    ]
    (ROOT / "docs" / "results" / "plant_checks.md").write_text("\n".join(text) + "\n")
    print("\n".join(text))


if __name__ == "__main__":
    main()
