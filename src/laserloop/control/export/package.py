"""The exported folder: source, header, vectors with their runner, a CMake file and a page for integrators."""

from pathlib import Path

from laserloop.control.export.source import fill, find_dtype, read_template, render_source
from laserloop.control.export.vectors import draw_vectors, write_vectors
from laserloop.control.problem import MpcProblem
from laserloop.control.realtime_network import MATRICES, PackedNetwork, pack_network
from laserloop.surrogates.model import Model


def export_c(model: Model, problem: MpcProblem, out: Path, *, dtype: str = "float32") -> list[Path]:
    """Write a folder that compiles anywhere with a C99 compiler; returns the files."""
    net = pack_network(model, problem, find_dtype(dtype))
    values = _describe(net, problem, dtype)
    texts = {
        "laserloop.c": render_source(net, problem=problem),
        "laserloop.h": fill(read_template("laserloop.h.in"), values),
        "runner.c": read_template("runner.c"),
        "CMakeLists.txt": read_template("CMakeLists.txt"),
        "README.md": fill(read_template("README.md.in"), values),
        "vectors.txt": write_vectors(draw_vectors(model, problem, dtype=dtype)),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in texts]


def _describe(net: PackedNetwork, problem: MpcProblem, dtype: str) -> dict[str, str]:
    """What the header and the page say of this export."""
    low, high = problem.window
    weights = sum(getattr(net, name).nbytes for name in MATRICES)
    margins = f"margins of {problem.margin_below:g} K below and {problem.margin_above:g} K above"
    return {
        "TITLE": f"MS-DeepONet over {net.horizon} ticks, window {low:g} to {high:g} K, {margins}",
        "N": str(net.horizon),
        "LOW": repr(float(problem.power[0])),
        "HIGH": repr(float(problem.power[1])),
        "WINDOW_LOW": f"{low:g}",
        "WINDOW_HIGH": f"{high:g}",
        "DTYPE": dtype,
        "KILOBYTES": f"{weights / 1024:.0f}",
    }
