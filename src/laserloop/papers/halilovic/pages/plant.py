"""The page about the plants: what T_max on a grid is worth."""

import numpy as np

from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.write import write_page
from laserloop.papers.halilovic.report.blocks import Page, Picture, Table, tabulate
from laserloop.papers.halilovic.report.figures import draw_material, draw_plants
from laserloop.papers.halilovic.study.plant_accuracy import GRADED, PAPER, POWER, SETTLED, SPEED, TICKS
from laserloop.papers.halilovic.words import say
from laserloop.process import find_material

SOURCE = "results/plant.json"
LINES = "T_max along straight lines at constant power: only the beam's place on the grid changes."
STEEL = "Density, heat capacity and conductivity of 304 stainless steel as used here (the paper's Fig. 2)."
COLUMNS = {
    "line": "{angle}° to the grid",
    "plant": "{plant}",
    "node, K": "{node_min_k:.1f}–{node_max_k:.1f}",
    "bias, K": "{node_bias_k:+.1f}",
    "ripple, K": "{node_ripple_k:.1f}",
    "peak, K": "{peak_min_k:.1f}–{peak_max_k:.1f}",
    "bias, K ": "{peak_bias_k:+.1f}",
    "ripple, K ": "{peak_ripple_k:.2f}",
}


def write_plant(results: Results) -> Page:
    """Bias and ripple of every plant, and the limit they are taken against."""
    found = results.plant
    if found is None:
        return write_page("plant", None)
    reference = found["reference"]
    limits = {angle: row["limit_k"] for angle, row in reference.items()}
    divided = [key.split("_")[2] for key in next(iter(reference.values())) if key.startswith("divided")]
    rows = [
        {"angle": angle, "plant": plant, **cells[angle]}
        for angle in reference
        for plant, cells in found["plants"].items()
    ]
    return write_page(
        "plant",
        {
            "lines": _draw_lines(found, limits),
            "table": tabulate(rows, COLUMNS, grouped=True, source=SOURCE),
            "limit": _tabulate_reference(reference),
            "material": _draw_material(),
        },
        grid=tell_grid(found),
        power=POWER,
        speed=SPEED,
        settled=SETTLED,
        ticks=TICKS,
        parts=", ".join(divided),
        limits=", ".join(f"{limit:.1f} K at {angle}°" for angle, limit in limits.items()),
    )


def tell_grid(found: Record) -> str:
    """What the paper's grid does to T_max, and what the graded one does."""
    paper, graded = found["plants"][PAPER].values(), found["plants"][GRADED].values()
    bias = [-cell["node_bias_k"] for cell in paper]
    return say(
        "grid",
        low=min(bias),
        high=max(bias),
        ripple=max(cell["node_ripple_k"] for cell in paper),
        bias=max(abs(cell["peak_bias_k"]) for cell in graded),
        still=max(cell["peak_ripple_k"] for cell in graded),
    )


def _draw_lines(found: Record, limits: dict[str, float]) -> Picture | None:
    if "lines" not in found:
        return None
    lines = found["lines"]
    count = len(next(iter(lines["paper"].values()))["node"])
    distance = found.get("distance_mm") or [1e3 * SPEED * 1.25e-4 * (SETTLED + k + 1) for k in range(count)]
    return Picture("plants", LINES, draw_plants(lines, limits, distance))


def _tabulate_reference(reference: Record) -> Table:
    rows = [
        (key.removesuffix("_k").replace("_", " "), *(f"{row[key]:.2f}" for row in reference.values()))
        for key in next(iter(reference.values()))
    ]
    return Table(("mean peak, K", *(f"{angle}°" for angle in reference)), rows, source=SOURCE)


def _draw_material() -> Picture:
    steel = find_material("304")
    T = np.linspace(*steel.valid, 60)
    curves = {
        "density, kg/m³": steel.density(T).tolist(),
        "heat capacity, J/kgK": steel.heat_capacity(T).tolist(),
        "conductivity, W/mK": steel.conductivity(T).tolist(),
    }
    return Picture("material", STEEL, draw_material(curves, T.tolist()))
