"""The exported folder: source, header, vectors with their runner, a CMake file and a page for integrators."""

from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.control.export.source import fill, find_dtype, read_template, render_source
from laserloop.control.export.vectors import draw_vectors, write_vectors
from laserloop.control.problem import MpcProblem
from laserloop.control.realtime_network import MATRICES, PackedNetwork, pack_network
from laserloop.predict.networks.model import Model

SOURCE, VECTORS = "laserloop.c", "vectors.txt"
FILES = {  # and their templates
    "laserloop.h": "laserloop.h.in",
    "runner.c": "runner.c",
    "CMakeLists.txt": "CMakeLists.txt",
    "README.md": "README.md.in",
}


def export_c(model: Model, problem: MpcProblem, out: Path, *, dtype: str = "float32") -> list[Path]:
    """Write a folder that compiles anywhere with a C99 compiler; returns the files.

    An earlier export is replaced; files that are not from one are not.
    """
    if not (out / SOURCE).exists():
        for name in (*FILES, VECTORS):
            if (out / name).exists():
                raise BadInput(
                    f"an export must not replace other files, but {str(out / name)!r} is there: "
                    "choose another --out"
                )
    net = pack_network(model, problem, find_dtype(dtype))
    values = _describe(net, problem, dtype)
    texts = {
        SOURCE: render_source(net, problem=problem),
        **{name: fill(read_template(template), values) for name, template in FILES.items()},
        VECTORS: write_vectors(draw_vectors(model, problem, dtype=dtype)),
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
