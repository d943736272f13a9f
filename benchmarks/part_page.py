"""The page and the pictures of benchmarks/part.py."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection

from laserloop.plant import Plant, moving_settings
from laserloop.process import Process

GRIDS = "grids: "


def write_page(found: dict[str, Any], folder: Path) -> str:
    """docs/results/part.md and its pictures, from the JSON beside it."""
    draw_grid(folder / "part_grid.png")
    draw_layers(found["layers"], folder / "part_layers.png")
    parts = (tell_bench, tell_lines, tell_grids, tell_order, tell_pause, tell_layers, tell_resume)
    head = [
        "# The plant at the size of a part",
        "",
        "Made by `python benchmarks/part.py`. The `graded` plant on a grid that follows the beam",
        "([how](../decisions/0007-the-grid-follows-the-beam.md)), 304 steel, 14 W, σ = 100 µm, 0.304 m/s, ticks of",
        "125 µs, unless said otherwise. CPU time of one thread on a shared machine: trust ratios.",
        "",
        "![the grid around the beam](part_grid.png)",
        "",
        "*The grid around a beam that goes to the right, after 60 ticks (black: the finest cells; the colour is the",
        "surface's temperature), and, below, 0.4 mm further.*",
    ]
    page = "\n".join([*head, *(line for tell in parts for line in ("", *tell(found)))]) + "\n"
    (folder / "part.md").write_text(page)
    return page


def tell_bench(found: dict[str, Any]) -> list[str]:
    bench, layer = found["bench"], found["bench"]["layer"]
    rows = [f"| {name} | {cost:.2f} |" for name, cost in bench["cpu_ms_per_tick"].items()]
    return [
        "## Speed and memory",
        "",
        "`laserloop bench plant --part`: blocks of 25 ticks in turn, 15 × 15 × 2 mm plate, 0.1 mm hatch; `paper` on",
        "its diagonal after 400 ticks.",
        "",
        "| where and when | CPU ms a tick |",
        "|---|---|",
        *rows,
        "",
        f"Dearest over cheapest **{bench['largest_over_least']:.2f}**, dearest over `paper` "
        f"**{bench['largest_over_paper']:.1f}**. {bench['nodes']} nodes,",
        f"{bench['node_updates_per_s'] / 1e6:.0f} million node updates (of a stage) a second: at 148 bytes each "
        f"{bench['share_of_bandwidth']:.0%} of a triad's {bench['triad_gb_s']:.0f} GB/s.",
        "",
        f"A whole 10 × 10 mm layer: {layer['ticks']} ticks ({layer['lit_ticks']} lit), {layer['simulated_s']:.2f} s "
        f"simulated in **{layer['wall_s']:.0f} s** ({layer['cpu_s']:.0f} s of CPU,",
        f"{layer['cpu_ms_per_tick']:.1f} ms a tick), {layer['wall_over_simulated']:.0f} times slower than the "
        f"process; {layer['grid_moves']} moves of the grid; peak memory **{layer['peak_memory_mb']:.0f} MB**;",
        f"energy imbalance **{layer['energy_imbalance']:.1e}**; snapshot {layer['snapshot_ms']:.2f} ms, restore "
        f"{layer['restore_ms']:.2f} ms. At constant power T_max of settled ticks is "
        f"{layer['t_min_k']:.0f} to {layer['t_max_k']:.0f} K.",
    ]


def tell_lines(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| {angle}° | {row['limit_k']:.2f} | {row['bias_k']:+.2f} | {row['ripple_k']:.2f} |"
        for angle, row in found["lines"].items()
    ]
    return [
        "## Straight lines, against Richardson's limit",
        "",
        "0.3 m/s; the limit is that of the fixed grid divided by 1, 2 and 4 (docs/reproduction/report/plant.md).",
        "",
        "| angle to the grid | limit, K | bias, K | ripple, K |",
        "|---|---|---|---|",
        *rows,
    ]


def tell_grids(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| {name.removeprefix(GRIDS)} | {row['ticks']} | {row['t_max_difference_k']:.2f} "
        f"| {row['t_max_bias_k']:+.2f} | {row['surface_difference_k']:.2f} | {row['energy_imbalance']:.0e} "
        f"| {row['fixed_cpu_ms']:.1f} → {row['moving_cpu_ms']:.1f} |"
        for name, row in found.items()
        if name.startswith(GRIDS)
    ]
    return [
        "## Against the grid that is fine everywhere",
        "",
        "Largest difference of T_max over all ticks, dark ones included, its mean, and the largest difference of the",
        "surface within 1 mm of the beam (every fifth tick).",
        "",
        "| path | ticks | T_max, K | mean, K | surface, K | energy | CPU ms a tick |",
        "|---|---|---|---|---|---|---|",
        *rows,
    ]


def tell_order(found: dict[str, Any]) -> list[str]:
    order = found["order"]
    errors = ", ".join(f"{error:.3g}" for error in order["errors_k"])
    return [
        "## Order of convergence with a fine part that wanders",
        "",
        "On the manufactured nonlinear solution, cells of one and two sizes along x that change in every third step, all",
        f"cells in {', '.join(map(str, order['parts']))} parts along every axis: largest errors {errors} K, order "
        f"**{order['order']:.2f}** from the finer two.",
    ]


def tell_pause(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| {name} | {row['t_max_k']:.2f} | {row.get('difference_k', float('nan')):.3f} "
        f"| {row.get('ticks_cpu_s', float('nan')):.1f} | {row['rest_cpu_s']:.1f} |".replace("nan", "–")
        for name, row in found["pause"].items()
    ]
    return [
        "## Pauses",
        "",
        "`Plant.rest` after 50 lit ticks, against the same time in dark ticks: largest difference on the surface.",
        "",
        "| pause | T_max after it, K | difference, K | ticks, CPU s | rest, CPU s |",
        "|---|---|---|---|---|",
        *rows,
    ]


def tell_layers(found: dict[str, Any]) -> list[str]:
    layers = found["layers"]
    rows = []
    for name, row in layers.items():
        if isinstance(row, dict):
            for n, (low, mean, high) in enumerate(
                zip(row["t_min_k"], row["t_mean_k"], row["t_max_k"], strict=True)
            ):
                rows.append(f"| {name} | {n + 1} | {low:.1f} | {mean:.1f} | {high:.1f} |")
    return [
        "## Three layers",
        "",
        f"A 2 × 2 mm square, 0.1 mm hatch, {layers['layer_ticks']} ticks a layer, {layers['pause_s']:g} s and "
        f"{layers['thickness_um']:g} µm of fresh metal between them",
        "(`loop.layers.run_layers`; solid metal, no powder; the window is 760–800 K). T_max of settled ticks:",
        "",
        "| power | layer | lowest, K | mean, K | highest, K |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "![three layers](part_layers.png)",
    ]


def tell_resume(found: dict[str, Any]) -> list[str]:
    resume = found["resume"]
    verdict = "equal in every number" if resume["equal"] else "DIFFERENT"
    return [
        "## Killed and resumed",
        "",
        f"`laserloop simulate --out DIR` over {resume['ticks']} ticks, killed (SIGKILL) with its checkpoint at tick "
        f"{resume['killed_after']} ({resume['checkpoint_mb']:.0f} MB)",
        f"and started again: the JSON is {verdict} to that of an unbroken run.",
    ]


def draw_grid(file: Path) -> None:
    """The cells of the surface around the beam, twice, 0.4 mm apart."""
    hop = Process().speed * Process().tick
    plant = Plant(moving_settings())
    figure, axes = plt.subplots(2, 1, figsize=(8.0, 8.4), constrained_layout=True)
    done = 0
    for axis, ticks in zip(axes, (60, 71), strict=True):
        for k in range(done, ticks):
            surface = plant.step(14.0, np.array([[k * hop - 2.3e-3, 0.0], [(k + 1) * hop - 2.3e-3, 0.0]]))
        done = ticks
        grid = plant.grid
        x, y = 1e3 * grid.x_faces, 1e3 * grid.y_faces
        shown = axis.pcolormesh(
            1e3 * surface.x, 1e3 * surface.y, surface.temperature, cmap="YlOrRd", vmin=300, vmax=900
        )
        fine = 1.1 * min(np.diff(x).min(), np.diff(y).min())
        for faces, other, turn in ((x, y, False), (y, x, True)):
            lines = [[(at, other[0]), (at, other[-1])] for at in faces]
            lines = [[p[::-1] for p in line] for line in lines] if turn else lines
            dense = np.concatenate(([False], np.diff(faces) < fine))
            axis.add_collection(
                LineCollection(lines, colors=["black" if d else "0.45" for d in dense], linewidths=0.3)
            )
        axis.plot(1e3 * (done * hop - 2.3e-3), 0.0, "o", color="blue", markersize=4)
        axis.set(xlim=(-5, 5), ylim=(-2.5, 2.5), xlabel="x, mm", ylabel="y, mm", aspect="equal")
        figure.colorbar(shown, ax=axis, label="K", shrink=0.8)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def draw_layers(layers: dict[str, Any], file: Path) -> None:
    """T_max over time in each layer."""
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.2), sharey=True, constrained_layout=True)
    for name, row in layers.items():
        if isinstance(row, dict):
            for n, peaks in enumerate(row["t_peak_k"]):
                axes[n].plot(0.125 * np.arange(len(peaks)), np.array(peaks, float), linewidth=0.8, label=name)
    for n, axis in enumerate(axes):
        axis.axhspan(760.0, 800.0, color="0.9", zorder=0)
        axis.set(title=f"layer {n + 1}", xlabel="ms")
    axes[0].set(ylabel="T_max, K", ylim=(600, None))
    axes[2].legend(loc="lower right", fontsize=8)
    figure.savefig(file, dpi=130)
    plt.close(figure)
