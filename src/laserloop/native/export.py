"""The exported folder: the C of this room as it is, what a model adds to it, and a page for integrators."""

from collections.abc import Iterable, Mapping, Sequence
from ctypes import c_size_t
from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.native.build import load_library
from laserloop.native.network import MATRICES, PackedNetwork, pack_network
from laserloop.native.render import (
    MODEL,
    SIZES,
    UNIT,
    describe,
    fill,
    find_dtype,
    plain,
    read_source,
    render_config,
    render_header,
    render_model,
    size_network,
)
from laserloop.native.vectors import draw_vectors, write_vectors
from laserloop.predict.model import Model

COPIED = (*UNIT, "controller.c", "laserloop_network.h", "runner.c", "runner_tools.h")
BUILD, VECTORS, PAGE = "CMakeLists.txt", "vectors.txt", "README.md"
GENERATED = (BUILD, VECTORS, PAGE)


def export_c(
    model: Model, problem: MpcProblem, out: Path, *, dtype: str = "float32", name: str = "unnamed"
) -> list[Path]:
    """Write a folder that compiles anywhere with a C99 compiler; returns the files.

    An earlier export is replaced; files that are not from one are not.
    """
    check_folder(out, (*COPIED, *GENERATED, SIZES), mark=MODEL)
    net = pack_network(model, problem, find_dtype(dtype))
    numbers = render_model(net, problem)
    vectors = write_vectors(draw_vectors(model, problem, dtype=dtype))
    size = measure_handle(COPIED, size_network(net), "NETWORK")
    texts = {
        MODEL: numbers,
        SIZES: render_config(net, problem, model, name, size=size),
        **{file: read_source(file) for file in COPIED},
        BUILD: fill(read_source(BUILD), {"UNIT": UNIT[0], "RUNNER": "runner.c"}),
        PAGE: _write_page(net, problem, model, dtype=dtype, name=name, size=size),
        VECTORS: vectors,
    }
    return write_folder(out, texts)


def measure_handle(files: Sequence[str], sizes: Mapping[str, object], prefix: str) -> int:
    """Bytes that a handle must have, as this machine's compiler lays it out; `files`: the unit first."""
    config = f"laserloop_{prefix.lower()}_config.h"
    texts = {file: read_source(file) for file in files if not file.endswith((".md.in", "runner.c"))}
    texts[config] = render_header([], {**sizes, "BYTES": 64}, prefix=prefix)
    library = load_library(texts, files[0], defines=("-DLASERLOOP_MEASURE",))
    measure = library[f"laserloop_{prefix.lower()}_size"]
    measure.restype = c_size_t
    return -(-int(measure()) // 64) * 64


def check_folder(out: Path, names: Iterable[str], *, mark: str) -> None:
    """Refuse to replace files of a folder that is not an earlier export, which its file `mark` would show."""
    if (out / mark).exists():
        return
    for file in names:
        if (out / file).exists():
            raise BadInput(
                f"an export must not replace other files, but {str(out / file)!r} is there: "
                "choose another --out"
            )


def write_folder(out: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write the files of an export; returns them."""
    out.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (out / file).write_text(text, encoding="utf-8")
    return [out / file for file in texts]


def _write_page(
    net: PackedNetwork, problem: MpcProblem, model: Model, *, dtype: str, name: str, size: int
) -> str:
    """The page for integrators."""
    weights = sum(getattr(net, matrix).nbytes for matrix in MATRICES)
    values = {
        "ORIGIN": "\n".join(f"- {plain(line)}." for line in describe(problem, model, name)),
        "N": str(net.horizon),
        "LOW": f"{problem.power[0]:g}",
        "HIGH": f"{problem.power[1]:g}",
        "WINDOW_LOW": f"{problem.window[0]:g}",
        "WINDOW_HIGH": f"{problem.window[1]:g}",
        "DTYPE": dtype,
        "BYTES": str(size),
        "KILOBYTES": f"{weights / 1024:.0f}",
    }
    return fill(read_source("README.md.in"), values)
