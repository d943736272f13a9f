"""What do laser-off moves change? A hatch with dark jumps, and the same path with the laser left on.

    python benchmarks/dark_jumps.py                       # a minute; examples/hatch.gcode
    python benchmarks/dark_jumps.py part.gcode --process ti64

Both are driven on `graded` along the same positions in the same time, at the file's own powers; where the
second is lit in a jump it keeps the power of the line before. Writes docs/results/dark_jumps.{md,json,png}.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from laserloop.data.episode import Episode, simulate
from laserloop.paths import ScanPath, find_path
from laserloop.plant import make_plant
from laserloop.process import Process, find_process
from laserloop.report.figures import COLD, FAINT, HOT, INK, STYLE, save_figure
from laserloop.store import dump, save
from laserloop.versions import find_versions

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
FloatArray = NDArray[np.float64]


def main() -> None:
    """Drive both, and write numbers and figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", nargs="?", default="examples/hatch.gcode")
    parser.add_argument("--process", default="304")
    options = parser.parse_args()
    process = find_process(options.process)
    path = find_path(options.path, process)
    if path.power is None:
        parser.error(f"{options.path} must command its own powers, but does not")
    dark = drive(path, path.power, process)
    lit = drive(
        replace(path, lit=np.ones_like(path.lit), shares=None, power=None),
        hold(path.power, path.lit),
        process,
    )
    numbers = compare(path, process, dark, lit)
    save(RESULTS / "dark_jumps.json", dump(numbers | {"series": tell_series(dark, lit)}))
    save_figure(RESULTS / "dark_jumps.png", draw(dark, lit, path.lit), dpi=120)
    print(dump(numbers))


def drive(path: ScanPath, power: FloatArray, process: Process) -> Episode:
    """An episode on the graded plant."""
    return simulate(make_plant("graded", process), path, power)


def hold(power: FloatArray, lit: NDArray[np.bool_]) -> FloatArray:
    """The powers, and in dark ticks that of the last lit one."""
    return power[np.maximum.accumulate(np.where(lit, np.arange(len(power)), 0))]


def compare(path: ScanPath, process: Process, dark: Episode, lit: Episode) -> dict[str, Any]:
    """What the laser does to T_max between the nodes, in all ticks in which the file has it on."""
    on = path.lit
    return {
        "path": path.name,
        "plant": dark.plant,
        "process": process.to_json(),
        "versions": find_versions(),
        "ticks": len(path),
        "dark_ticks": int(np.count_nonzero(~on)),
        "absorbed_mj": {name: 1e3 * run.books["absorbed"] for name, run in (("dark", dark), ("lit", lit))},
        "t_max_k": {"dark": float(dark.t_peak[on].max()), "lit": float(lit.t_peak[on].max())},
        "hotter_k": {
            "mean": float((lit.t_peak - dark.t_peak)[on].mean()),
            "max": float((lit.t_peak - dark.t_peak)[on].max()),
        },
        "lowest_in_a_jump_k": {"dark": float(dark.t_peak[~on].min()), "lit": float(lit.t_peak[~on].min())},
        "notes": list(path.notes),
    }


def tell_series(dark: Episode, lit: Episode) -> dict[str, list[Any]]:
    """Per tick, rounded to what a figure shows."""
    return {
        "t_s": np.round(dark.t, 9).tolist(),
        "lit": dark.lit.tolist(),
        "dark_t_max_k": np.round(dark.t_peak, 3).tolist(),
        "lit_t_max_k": np.round(lit.t_peak, 3).tolist(),
    }


@mpl.rc_context(STYLE)
def draw(dark: Episode, lit: Episode, on: NDArray[np.bool_]) -> Figure:
    """T_max over time for both, and the power that the file commands; jumps are shaded."""
    figure = Figure(figsize=(8.0, 4.2))
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    t = 1e3 * np.append(0.0, dark.t)
    for panel in (axes, below):
        whole = {"transform": panel.get_xaxis_transform(), "linewidth": 0}
        panel.stairs((~on).astype(float), t, fill=True, color=FAINT, alpha=0.25, label="jump", **whole)
    axes.plot(t[1:], lit.t_peak, color=HOT, linewidth=1.1, label="laser left on in jumps")
    axes.plot(t[1:], dark.t_peak, color=COLD, linewidth=1.3, label="laser off in jumps, as the file says")
    axes.set_ylabel("Tₘₐₓ, K")
    axes.set_title(f"{Path(dark.path).name} on the graded plant")
    axes.legend(loc="lower right", ncols=3)
    below.stairs(dark.power, t, color=INK, linewidth=0.8)
    below.set_ylabel("power, W")
    below.set_xlabel("time, ms")
    below.set_xlim(0, t[-1])
    return figure


if __name__ == "__main__":
    main()
