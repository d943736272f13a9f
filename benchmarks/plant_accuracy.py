"""How right is each plant? Bias and ripple of T_max at constant power, against an extrapolated reference.

    python benchmarks/plant_accuracy.py          # about ten minutes on one core, 1.5 GB
    python benchmarks/plant_accuracy.py --quick  # without the finest grid

A beam of 14 W moves at 0.3 m/s along straight lines at 0°, 30° and 45° to the grid. The reference is the
graded plant with every spacing and the time step divided by 1, 2 and 4, Richardson-extrapolated. Writes
docs/results/plant_accuracy.{md,json,png}.
"""

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from laserloop.plant import Plant, PlantSettings, graded_settings, paper_settings
from laserloop.plant.conduction import BACKWARD_EULER
from laserloop.plant.grid import Grid

FloatArray = NDArray[np.float64]

POWER, SPEED, TICK = 14.0, 0.3, 1.25e-4  # W, m/s, s
TICKS, SETTLED = 64, 40  # 2.4 mm; T_max is steady to 0.01 K per tick after 1.5 mm
ANGLES = (0, 30, 45)
RESULTS = Path(__file__).parent.parent / "docs" / "results"


@dataclass(frozen=True)
class Line:
    """T_max over the settled ticks of one line."""

    node: FloatArray
    peak: FloatArray


def run_line(settings: PlantSettings, angle: int, substeps: int = 1) -> Line:
    """Drive a plant along a line; values at the end of each tick whatever the substeps."""
    plant = Plant(replace(settings, tick=TICK / substeps))
    direction = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    node, peak = [], []
    for k in range(TICKS * substeps):
        at = (np.array([k, k + 1]) * SPEED * TICK / substeps - 1.2e-3)[:, None] * direction
        surface = plant.step(POWER, at)
        if (k + 1) % substeps == 0 and k >= SETTLED * substeps:
            node.append(surface.node.temperature)
            peak.append(surface.peak.temperature)
    return Line(np.array(node), np.array(peak))


def divided(grid: Grid, parts: int) -> Grid:
    """Every interval of every axis in equal parts."""
    axes = {}
    for name in ("x", "y", "z"):
        nodes = getattr(grid, name)
        places = np.linspace(0, len(nodes) - 1, parts * (len(nodes) - 1) + 1)
        axes[name] = np.interp(places, np.arange(len(nodes)), nodes)
    return Grid(**axes)


def line_settings(angle: int) -> PlantSettings:
    """The graded plant for one line."""
    reach = 1.2e-3 * np.abs([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    return graded_settings(region=(-reach[0], reach[0], -reach[1], reach[1]), speed=SPEED)


def prototype_grid(in_plane: float, first: float, growth: float) -> Grid:
    """In-plane spacing over the scan area, geometric depth: the grids of the prototypes' table."""
    spacings = [first]
    while sum(spacings) < 2e-3:
        spacings.append(spacings[-1] * growth)
    z = np.concatenate(([0.0], np.cumsum(spacings) * (2e-3 / sum(spacings))))
    half = round(3e-3 / in_plane)
    side = np.linspace(-half * in_plane, half * in_plane, 2 * half + 1)
    return Grid(x=side, y=side.copy(), z=z)


def other_plants() -> list[tuple[str, PlantSettings, int]]:
    """(what, settings, substeps) of every row above the graded plant."""
    implicit = {"scheme": BACKWARD_EULER}
    return [
        ("paper: 100 µm uniform, backward Euler", paper_settings(), 1),
        (
            "50 µm in plane, depth from 15 µm × 1.25",
            paper_settings(grid=prototype_grid(50e-6, 15e-6, 1.25), **implicit),
            1,
        ),
        (
            "33 µm in plane, same depth",
            paper_settings(grid=prototype_grid(100e-6 / 3, 15e-6, 1.25), **implicit),
            1,
        ),
        (
            "25 µm in plane, depth from 10 µm × 1.2",
            paper_settings(grid=prototype_grid(25e-6, 10e-6, 1.2), **implicit),
            1,
        ),
        ("the same, Δt/4", paper_settings(grid=prototype_grid(25e-6, 10e-6, 1.2), **implicit), 4),
    ]


def make_reference(finest: int) -> dict[int, dict[str, float]]:
    """Mean peak on grids divided by 1, 2 (and 4), its limit and the order seen, for each angle."""
    reference = {}
    for angle in ANGLES:
        base = line_settings(angle)
        means = {}
        for parts in (1, 2, 4)[: finest.bit_length()]:
            line = run_line(replace(base, grid=divided(base.grid, parts)), angle, parts)
            means[parts] = float(line.peak.mean())
            print(f"reference {angle}° / {parts}: {means[parts]:.3f} K", flush=True)
        coarse, fine = means[finest // 2], means[finest]
        row = {f"divided_by_{parts}_k": mean for parts, mean in means.items()}
        row["limit_k"] = fine + (fine - coarse) / 3.0
        if finest == 4:
            row["order"] = float(np.log2(abs((means[2] - means[1]) / (means[4] - means[2]))))
        reference[angle] = row
    return reference


def summarise(line: Line, limit: float) -> dict[str, float]:
    """The figures of one cell of the table."""
    return {
        "node_min_k": float(line.node.min()),
        "node_max_k": float(line.node.max()),
        "peak_min_k": float(line.peak.min()),
        "peak_max_k": float(line.peak.max()),
        "node_ripple_k": float(np.ptp(line.node)),
        "peak_ripple_k": float(np.ptp(line.peak)),
        "node_bias_k": float(line.node.mean() - limit),
        "peak_bias_k": float(line.peak.mean() - limit),
    }


def draw(lines: dict[str, dict[int, Line]], reference: dict[int, dict[str, float]]) -> Figure:
    """T_max along the lines: the paper's nodal reading, the graded peak, and the limit."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    axes = figure.subplots(1, len(ANGLES), sharey=True)
    distance = (np.arange(SETTLED, TICKS) + 1) * SPEED * TICK * 1e3
    for axis, angle in zip(axes, ANGLES, strict=True):
        axis.axhline(reference[angle]["limit_k"], color="0.6", lw=3, label="grid-converged limit")
        axis.plot(distance, lines["graded"][angle].peak, color="#0072B2", lw=1.5, label="graded: peak")
        axis.plot(distance, lines["paper"][angle].peak, color="#E69F00", lw=1, label="paper: sub-grid peak")
        axis.plot(distance, lines["paper"][angle].node, color="#D55E00", lw=1.5, label="paper: hottest node")
        axis.set(title=f"{angle}° to the grid", xlabel="distance, mm")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("T_max at 14 W, 0.3 m/s, K")
    axes[-1].legend(frameon=False, fontsize=8, loc="center right")
    return figure


def write_markdown(
    rows: dict[str, dict[int, dict[str, float]]], reference: dict[int, dict[str, float]]
) -> str:
    """The page a reader understands at a glance."""
    limits = ", ".join(f"{reference[a]['limit_k']:.1f} K at {a}°" for a in ANGLES)
    text = [
        "# How right is each plant?",
        "",
        "Made by `python benchmarks/plant_accuracy.py`. 14 W, 0.3 m/s, 304 steel, straight lines at three",
        f"angles to the grid, ticks {SETTLED}–{TICKS}. The limit is the graded plant with all spacings and",
        f"the time step divided by 1, 2, 4 and Richardson-extrapolated: **{limits}**.",
        "",
        "![T_max along straight lines](plant_accuracy.png)",
        "",
        "Bias is the mean of the settled ticks minus the limit; ripple is peak to peak. Node: hottest node.",
        "Peak: maximum of the interpolant between the nodes.",
        "",
        "| plant | "
        + " | ".join(f"{a}° node, K | {a}° peak, K | {a}° bias of peak | ripple" for a in ANGLES)
        + " |",
        "|---|" + "---|" * 4 * len(ANGLES),
    ]
    for what, cells in rows.items():
        parts = []
        for a in ANGLES:
            c = cells[a]
            parts.append(
                f"{c['node_min_k']:.1f}–{c['node_max_k']:.1f} | {c['peak_min_k']:.1f}–{c['peak_max_k']:.1f} "
                f"| {c['peak_bias_k']:+.1f} | {c['peak_ripple_k']:.2f}"
            )
        text.append(f"| {what} | " + " | ".join(parts) + " |")
    paper, graded = rows["paper: 100 µm uniform, backward Euler"], rows["graded"]
    text += [
        "",
        "**In one sentence:** read at its nodes, the paper's plant is "
        f"{-paper[0]['node_bias_k']:.0f}–{-paper[45]['node_bias_k']:.0f} K too cold and ripples by up to "
        f"{max(paper[a]['node_ripple_k'] for a in ANGLES):.0f} K at constant power; the graded plant is "
        f"within {max(abs(graded[a]['peak_bias_k']) for a in ANGLES):.1f} K and ripples by at most "
        f"{max(graded[a]['peak_ripple_k'] for a in ANGLES):.2f} K.",
        "",
        "| reference, mean peak, K | " + " | ".join(f"{a}°" for a in ANGLES) + " |",
        "|---|" + "---|" * len(ANGLES),
    ]
    for key in reference[0]:
        text.append(
            f"| {key.removesuffix('_k').replace('_', ' ')} | "
            + " | ".join(f"{reference[a][key]:.2f}" for a in ANGLES)
            + " |"
        )
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="leave out the finest reference grid")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    reference = make_reference(2 if options.quick else 4)
    lines: dict[str, dict[int, Line]] = {}
    rows: dict[str, dict[int, dict[str, float]]] = {}
    for what, settings, substeps in other_plants():
        lines[what] = {a: run_line(settings, a, substeps) for a in ANGLES}
        rows[what] = {a: summarise(lines[what][a], reference[a]["limit_k"]) for a in ANGLES}
        print(what, {a: round(rows[what][a]["peak_bias_k"], 2) for a in ANGLES}, flush=True)
    lines["graded"] = {a: run_line(line_settings(a), a) for a in ANGLES}
    lines["paper"] = lines["paper: 100 µm uniform, backward Euler"]
    rows["graded"] = {a: summarise(lines["graded"][a], reference[a]["limit_k"]) for a in ANGLES}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "plant_accuracy.json").write_text(
        json.dumps({"reference": reference, "plants": rows}, indent=1)
    )
    (options.out / "plant_accuracy.md").write_text(write_markdown(rows, reference))
    draw(lines, reference).savefig(options.out / "plant_accuracy.png", dpi=160)
    print(f"wrote {options.out / 'plant_accuracy.md'}")


if __name__ == "__main__":
    main()
