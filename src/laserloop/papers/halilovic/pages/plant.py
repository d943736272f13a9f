"""The page about the plants: what T_max on a grid is worth."""

import numpy as np
from matplotlib.figure import Figure

from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.report.blocks import Block, Heading, Page, Picture, Prose, Table
from laserloop.papers.halilovic.report.figures import draw_material, draw_plants
from laserloop.papers.halilovic.study.plant_accuracy import GRADED, PAPER, POWER, SETTLED, SPEED, TICKS
from laserloop.process import find_material

SOURCE = "results/plant.json"


def write_plant(results: Results) -> Page:
    """Bias and ripple of every plant, and the limit they are taken against."""
    title = "The plant, verified: what T_max on a grid is worth"
    found = results.plant
    if found is None:
        return Page("plant", title, (NOT_RUN,))
    limits = {angle: row["limit_k"] for angle, row in found["reference"].items()}
    parts = [
        key.split("_")[2] for key in next(iter(found["reference"].values())) if key.startswith("divided")
    ]
    blocks: list[Block] = [
        Prose(f"**In one sentence:** {tell_grid(found)}"),
        Prose(
            f"A beam of {POWER:g} W moves at {SPEED:g} m/s over 304 steel, in straight lines at three "
            f"angles to the grid; "
            f"ticks {SETTLED} to {TICKS}. The limit is the graded plant with all spacings and the time "
            f"step divided by "
            f"{', '.join(parts)} and Richardson-extrapolated: "
            + ", ".join(f"{limit:.1f} K at {angle}°" for angle, limit in limits.items())
            + "."
        ),
        *_draw(found, limits),
        Prose(
            "Bias is the mean of the settled ticks minus the limit; ripple is peak to peak. Node: hottest "
            "node. Peak: "
            "maximum of the interpolant between the nodes."
        ),
        _tabulate(found),
        Heading("The limit"),
        _tabulate_reference(found),
        Heading("The material"),
        Picture(
            "material",
            "Density, heat capacity and conductivity of 304 stainless steel as used here (the paper's Fig. "
            "2).",
            _draw_material(),
        ),
    ]
    return Page("plant", title, blocks)


def tell_grid(found: Record) -> str:
    """What the paper's grid does to T_max, and what the graded one does."""
    paper, graded = found["plants"][PAPER].values(), found["plants"][GRADED].values()
    bias = [-cell["node_bias_k"] for cell in paper]
    return (
        f"read at its nodes, the paper's plant is {min(bias):.0f} to {max(bias):.0f} K too cold and "
        f"ripples by up to "
        f"{max(cell['node_ripple_k'] for cell in paper):.0f} K at constant power; the graded plant is within "
        f"{max(abs(cell['peak_bias_k']) for cell in graded):.1f} K and ripples by at most "
        f"{max(cell['peak_ripple_k'] for cell in graded):.2f} K."
    )


def _draw(found: Record, limits: dict[str, float]) -> list[Block]:
    if "lines" not in found:
        return []
    lines = found["lines"]
    count = len(next(iter(lines["paper"].values()))["node"])
    distance = found.get("distance_mm") or [1e3 * SPEED * 1.25e-4 * (SETTLED + k + 1) for k in range(count)]
    caption = "T_max along straight lines at constant power: only the beam's place on the grid changes."
    return [Picture("plants", caption, draw_plants(lines, limits, distance))]


def _tabulate(found: Record) -> Table:
    rows = [
        (
            f"{angle}° to the grid",
            plant,
            f"{cells[angle]['node_min_k']:.1f}–{cells[angle]['node_max_k']:.1f}",
            f"{cells[angle]['node_bias_k']:+.1f}",
            f"{cells[angle]['node_ripple_k']:.1f}",
            f"{cells[angle]['peak_min_k']:.1f}–{cells[angle]['peak_max_k']:.1f}",
            f"{cells[angle]['peak_bias_k']:+.1f}",
            f"{cells[angle]['peak_ripple_k']:.2f}",
        )
        for angle in found["reference"]
        for plant, cells in found["plants"].items()
    ]
    heads = ("line", "plant", "node, K", "bias, K", "ripple, K", "peak, K", "bias, K", "ripple, K")
    return Table(heads, rows, grouped=True, source=SOURCE)


def _tabulate_reference(found: Record) -> Table:
    reference = found["reference"]
    keys = list(next(iter(reference.values())))
    rows = [
        (key.removesuffix("_k").replace("_", " "), *(f"{reference[angle][key]:.2f}" for angle in reference))
        for key in keys
    ]
    return Table(("mean peak, K", *(f"{angle}°" for angle in reference)), rows, source=SOURCE)


def _draw_material() -> Figure:
    steel = find_material("304")
    T = np.linspace(*steel.valid, 60)
    curves = {
        "density, kg/m³": steel.density(T).tolist(),
        "heat capacity, J/kgK": steel.heat_capacity(T).tolist(),
        "conductivity, W/mK": steel.conductivity(T).tolist(),
    }
    return draw_material(curves, T.tolist())
