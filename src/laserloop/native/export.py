"""The exported folder of a network: the C of this room as it is, a model as constants, a page."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from ctypes import c_size_t
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import CREDIBLE, Status
from laserloop.control.problem import MpcProblem
from laserloop.native.build import load_library
from laserloop.native.layout import (
    define,
    fill,
    find_dtype,
    initialise,
    pack_problem,
    plain,
    quote,
    read_source,
    to_literal,
)
from laserloop.native.network import UNIT, pack_network, size_network
from laserloop.native.vectors import draw_vectors, write_vectors
from laserloop.predict.model import AREA_SLACK, Model, TrainedFor

FASTEST = 100.0  # m/s, beyond any scanner
MISSED = 64  # most calls in a row whose ticks are made good
EVERYWHERE = 1.0  # m, where nobody knows how large the plate is
MODEL, SIZES = "laserloop_model.c", "laserloop_network_config.h"
COPIED = (*UNIT, "controller.c", "handle.c", "laserloop_network.h", "runner.c", "runner_tools.h")
BUILD, VECTORS, PAGE = "CMakeLists.txt", "vectors.txt", "README.md"
GENERATED = (BUILD, VECTORS, PAGE)
HELD = "the last plan held"
INFEASIBLE = "no plan keeps the upper bound: the one that leaves it least"
REFUSED = (  # what both exports may say, by the ends of their codes
    "held for longer than a plan: least power until the next begin",
    "no input, or its tick number goes back or jumps: least power",
    "entered while another call was running: least power",
    "no part has begun: no power",
)
SENTENCES = (  # by the codes of laserloop_network.h: how the power was decided,
    *(Status.SOLVED, Status.STOPPED, INFEASIBLE),
    f"the image is not believed: {HELD}",
    f"the prediction is not finite: {HELD}",
    f"the beam cannot be there, or the model has never been: {HELD}",
    "the image is not believed, and hotter than the window or too old: least power",
    *REFUSED,
)
READINGS = (  # and what became of the image
    "the image was planned with",
    "the image cannot be of this plate",
    "the image is the last one again",
    "the image is older than any plan",
    "the image was not looked at",
)


def export_c(
    model: Model, problem: MpcProblem, out: Path, *, dtype: str = "float32", name: str = "unnamed"
) -> list[Path]:
    """Write a folder that compiles anywhere with a C99 compiler; returns the files.

    An earlier export is replaced; files that are not from one are not.
    """
    check_folder(out, (*COPIED, *GENERATED, SIZES), mark=MODEL)
    net = pack_network(model, problem, find_dtype(dtype))
    numbers = _render_model(net, problem)
    vectors = write_vectors(draw_vectors(model, problem, dtype=dtype))
    size = measure_handle(COPIED, size_network(net), "NETWORK")
    texts = {
        MODEL: numbers,
        SIZES: _render_config(net, problem, model, name, size=size),
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


def hash_model(model: Model) -> str:
    """The first 16 hex digits of the hash of all weights and scalers."""
    told = hashlib.sha256()
    for name in sorted(model.weights):
        told.update(name.encode() + np.ascontiguousarray(model.weights[name]).tobytes())
    for scaler in (model.scalers.branch, model.scalers.trunk, model.scalers.target):
        told.update(scaler.mean.tobytes() + scaler.std.tobytes())
    return told.hexdigest()[:16]


def _render_config(net: NDArray[np.void], problem: MpcProblem, model: Model, name: str, *, size: int) -> str:
    """The config header of an export: sizes, bounds of what is credible, origin and validity."""
    made_for = model.trained_for
    x_low, x_high, y_low, y_high = _find_area(made_for)
    plate = (EVERYWHERE, EVERYWHERE) if made_for is None else made_for.process.plate[:2]
    numbers = {
        **dict(zip(("POWER_LOW", "POWER_HIGH"), map(to_literal, problem.power), strict=True)),
        "TICK": to_literal(0.0 if made_for is None else made_for.process.tick),
        **dict(zip(("COLDEST", "HOTTEST"), map(to_literal, CREDIBLE), strict=True)),
        **{"X_LOW": to_literal(x_low), "X_HIGH": to_literal(x_high)},
        **{"Y_LOW": to_literal(y_low), "Y_HIGH": to_literal(y_high)},
        **dict(zip(("PLATE_X", "PLATE_Y"), map(to_literal, plate), strict=True)),
        "FASTEST": to_literal(FASTEST),
        "MODEL": quote(name),
        "MODEL_HASH": quote(hash_model(model)),
        "MISSED_MOST": MISSED,
        "RELEASE": quote(version("laserloop")),
        "SENTENCES": ", ".join(quote(str(sentence)) for sentence in SENTENCES),
        "READINGS": ", ".join(map(quote, READINGS)),
    }
    sizes = size_network(net) | {"BYTES": size}
    return render_header(describe(problem, model, name), sizes | numbers, prefix="NETWORK")


def render_header(told: Sequence[str], values: Mapping[str, object], *, prefix: str) -> str:
    """A config header that begins with what it is for; all that it defines has the prefix."""
    lines = ".\n".join(f"   {plain(line)}" for line in told)
    guard = f"#ifndef LASERLOOP_{prefix}_CONFIG_H\n#define LASERLOOP_{prefix}_CONFIG_H"
    defines = define({f"{prefix}_{name}": value for name, value in values.items()})
    return f"/* Generated by laserloop.\n\n{lines}. */\n\n{guard}\n\n{defines}\n#endif\n"


def describe(problem: MpcProblem, model: Model, name: str) -> list[str]:
    """Origin and validity of an export, a sentence each, without their full stops."""
    low, high = problem.window
    lines = [
        f"Model {name}, hash {hash_model(model)}, exported by laserloop {version('laserloop')}",
        f"Window {low:g} to {high:g} K with margins of {problem.margin_below:g} K below and "
        f"{problem.margin_above:g} K above; power {problem.power[0]:g} to {problem.power[1]:g} W",
    ]
    made_for = model.trained_for
    if made_for is None:
        return [*lines, "Nobody knows what the model was trained for, nor its tick"]
    process, (x_low, x_high, y_low, y_high) = made_for.process, (1e3 * side for side in made_for.area)
    coldest, hottest = made_for.temperatures
    return [
        *lines,
        f"Tick {1e6 * process.tick:g} us: laserloop_network_step must be called once in each",
        f"Trained on the {made_for.plant} plant for {process.material.name} (process {process.name}, hash "
        f"{process.hash}), T_max read as {made_for.reading}",
        f"Valid at {1e3 * process.speed:.0f} mm/s, for peaks of {coldest:.0f} to {hottest:.0f} K and powers "
        f"up to {process.laser.power[1]:g} W",
        f"Valid for a beam within {x_low:.3g} to {x_high:.3g} mm in x and {y_low:.3g} to {y_high:.3g} mm "
        "in y from the centre of the plate",
    ]


def render_numbers(what: str, numbers: Mapping[str, str]) -> str:
    """Constants of the C source, by their types; `what` they are of."""
    lines = [f"/* Generated by laserloop: the numbers of {what} and of the problem. */"]
    for kind, value in numbers.items():
        lines += ["", f"static const {kind} = {value};"]
    return "\n".join(lines) + "\n"


def _render_model(net: NDArray[np.void], problem: MpcProblem) -> str:
    """The network and the problem as two constants of the C source."""
    if not all(np.isfinite(net[name]).all() for name in net.dtype.names or ()):
        raise BadInput("the model has weights or scalers that are not finite: train it again")
    numbers = {"network exported_network ALIGNED": initialise(net), **render_problem(problem)}
    return render_numbers("the model", numbers)


def render_problem(problem: MpcProblem) -> dict[str, str]:
    """The problem as a constant of the C source."""
    return {"problem exported_problem": initialise(pack_problem(problem))}


def _find_area(made_for: TrainedFor | None) -> tuple[float, float, float, float]:
    """Where the beam may be, m."""
    if made_for is None:
        return -EVERYWHERE, EVERYWHERE, -EVERYWHERE, EVERYWHERE
    x_low, x_high, y_low, y_high = made_for.area
    return x_low - AREA_SLACK, x_high + AREA_SLACK, y_low - AREA_SLACK, y_high + AREA_SLACK


def _write_page(
    net: NDArray[np.void], problem: MpcProblem, model: Model, *, dtype: str, name: str, size: int
) -> str:
    """The page for integrators."""
    values = {
        "ORIGIN": "\n".join(f"- {plain(line)}." for line in describe(problem, model, name)),
        "N": str(problem.horizon),
        "LOW": f"{problem.power[0]:g}",
        "HIGH": f"{problem.power[1]:g}",
        "WINDOW_LOW": f"{problem.window[0]:g}",
        "WINDOW_HIGH": f"{problem.window[1]:g}",
        "DTYPE": dtype,
        "BYTES": str(size),
        "KILOBYTES": f"{net.nbytes / 1024:.0f}",
    }
    return fill(read_source("README.md.in"), values)
