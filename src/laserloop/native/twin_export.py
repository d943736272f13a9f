"""The exported folder of a twin: the C of this room, the numbers of a process, a page for integrators."""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Status
from laserloop.control.problem import MpcProblem
from laserloop.control.validator import CREDIBLE
from laserloop.native.build import NoCompiler, load_library
from laserloop.native.deployed import Deployed
from laserloop.native.export import BUILD, GENERATED, PAGE, VECTORS, check_folder, write_folder
from laserloop.native.render import (
    CONFIG,
    FASTEST,
    define,
    fill,
    find_dtype,
    nest,
    quote,
    read_source,
    render_header,
    render_problem,
    spell,
)
from laserloop.native.twin import PROCESS, RULE, UNIT, lay_process, render_config
from laserloop.native.twin_vectors import record_loop, write_loop
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.predict.twin.reach import needed_power
from laserloop.process import Process

NUMBERS = "laserloop_process.c"
COPIED = (*UNIT, "twin_reading.c", "twin_controller.c", "laserloop_twin.h", "twin_runner.c")
SIDE = 32  # most rows or columns of a frame
COLDEST = 0.8  # of ambient, K; a plate is never colder
RATIO = (0.5, 2.0)  # of measured to expected heat; beyond, it is not this plate
MOST_GIVEN = 1.2  # of the most power: what a laser's own reading may say
HELD_MOST = (1.2, 0.9)  # of what a straight line needs, and of the most power: what a hold may give at most
FASTER = 3.0  # times the speed of the process, that a lit beam may go
HELD = "the last plan held"
SENTENCES = (  # by the codes of laserloop_twin.h
    *(Status.SOLVED, Status.STOPPED, Status.INFEASIBLE, Status.NO_PREDICTION, Status.EXHAUSTED),
    f"the measurement cannot be of this plate: {HELD}",
    f"the measurement does not change where it should: {HELD}",
    f"the measurement is too old: {HELD}",
    f"the beam cannot be or go there: {HELD}",
    f"no such power can have been given: {HELD}",
    Status.BLIND,
    "no part has begun: no power",
)


def export_twin(
    process: Process,
    problem: MpcProblem,
    out: Path,
    *,
    dtype: str = "float32",
    settings: TwinSettings | None = None,
) -> list[Path]:
    """Write a folder that compiles anywhere with a C99 compiler; returns the files.

    An earlier export is replaced; files that are not from one are not.
    """
    check_folder(out, (*COPIED, *GENERATED), mark=NUMBERS)
    texts, horizon = list_texts(process, problem, dtype=dtype, settings=settings)
    try:
        library = load_library(texts, UNIT[0])
    except NoCompiler as missing:
        raise BadInput(
            f"an export needs a C compiler here to answer its test vectors, but {missing}: install one"
        ) from None
    vectors = record_loop(Deployed(library, horizon), TwinPredictor(process, settings), problem)
    page = {
        BUILD: fill(read_source(BUILD), {"UNIT": UNIT[0], "RUNNER": "twin_runner.c"}),
        PAGE: _write_page(process, problem, horizon, dtype=dtype),
        VECTORS: write_loop(vectors),
    }
    return write_folder(out, {**texts, **page})


def list_texts(
    process: Process, problem: MpcProblem, *, dtype: str = "float32", settings: TwinSettings | None = None
) -> tuple[dict[str, str], int]:
    """All that a compiler needs, by file name, and the horizon."""
    twin = TwinPredictor(process, settings)
    own = replace(problem, horizon=twin.horizon)
    texts = {
        NUMBERS: _render_numbers(twin, own),
        CONFIG: _render_config(twin, own, dtype),
        **{file: read_source(file) for file in COPIED},
    }
    return texts, twin.horizon


def describe(process: Process, problem: MpcProblem) -> list[str]:
    """Origin and validity of an export, a sentence each, without their full stops."""
    low, high = problem.window
    x, y, z = (1e3 * side for side in process.plate)
    camera = process.camera
    return [
        f"Physics twin of process {process.name}, hash {process.hash}, exported by laserloop "
        f"{version('laserloop')}; nothing is trained",
        f"Window {low:g} to {high:g} K with margins of {problem.margin_below:g} K below and "
        f"{problem.margin_above:g} K above; power {problem.power[0]:g} to {problem.power[1]:g} W",
        f"Tick {1e6 * process.tick:g} us: laserloop_step must be called once in each",
        f"Valid for {process.material.name} in a plate of {x:g} x {y:g} x {z:g} mm whose bottom is kept at "
        f"{process.ambient:g} K, and a Gaussian beam of sigma {1e6 * process.beam.sigma:g} um of which "
        f"{process.beam.absorptivity:g} is absorbed",
        f"Valid up to {1e3 * process.speed:.0f} mm/s with the laser on, and believed up to "
        f"{FASTER * 1e3 * process.speed:.0f} mm/s",
        f"Measurements up to {_oldest(process)} ticks old, with {camera.noise:g} K of noise; the laser "
        f"follows its command with a lag of {1e6 * process.laser.lag:g} us",
    ]


def _oldest(process: Process) -> int:
    """Ticks after which a measurement is too old."""
    return process.camera.delay + process.camera.exposure


def _render_config(twin: TwinPredictor, problem: MpcProblem, dtype: str) -> str:
    """Sizes, bounds of what is credible, origin and validity."""
    process = twin.process
    needed = needed_power(process, process.speed)
    held = min(HELD_MOST[0] * needed, HELD_MOST[1] * problem.power[1])
    numbers = {
        **dict(zip(("POWER_LOW", "POWER_HIGH"), map(spell, problem.power), strict=True)),
        "POWER_HOLD": spell(max(held, problem.power[0])),
        "POWER_MOST": spell(MOST_GIVEN * problem.power[1]),
        "TICK": spell(process.tick),
        "COLDEST": spell(max(CREDIBLE[0], COLDEST * process.ambient)),
        "HOTTEST": spell(min(CREDIBLE[1], twin.hottest)),
        **dict(zip(("RATIO_LOW", "RATIO_HIGH"), map(spell, RATIO), strict=True)),
        **dict(zip(("PLATE_X", "PLATE_Y"), map(spell, process.plate[:2]), strict=True)),
        "FASTEST_LIT": spell(FASTER * process.speed),
        "FASTEST": spell(max(FASTEST, FASTER * process.speed)),
        "OLDEST": _oldest(process),
        "SIDE": SIDE,
        "PROCESS": quote(process.name),
        "PROCESS_HASH": quote(process.hash),
        "VERSION": quote(version("laserloop")),
        "SENTENCES": ", ".join(quote(str(sentence)) for sentence in SENTENCES),
    }
    sizes = render_config(problem.horizon, single=find_dtype(dtype) is np.float32)
    return render_header(describe(process, problem), sizes + define(numbers))


def _render_numbers(twin: TwinPredictor, problem: MpcProblem) -> str:
    """The process and the problem as two constants of the C source."""
    laid = lay_process(twin)[0]
    used = len(twin.rule.lag)
    rows = [f"    {_render_field(laid[name], used)}," for name in PROCESS.names or ()]
    head = "/* Generated by laserloop: the numbers of the process and of the problem. */"
    lines = (head, "", "static const process exported_process = {", *rows, "};", "", render_problem(problem))
    return "\n".join(lines) + "\n"


def _render_field(value: Any, used: int) -> str:
    """An initialiser; of arrays as long as the rule only what is used."""
    if isinstance(value, np.void):
        return "{" + ", ".join(_render_field(value[name], used) for name in value.dtype.names or ()) + "}"
    if isinstance(value, np.ndarray):
        kept: NDArray[Any] = value[:used] if len(value) == RULE else value
        if kept.dtype.kind == "i":
            return "{" + ", ".join(map(str, kept)) + "}"
        return nest(kept, "")
    return str(int(value)) if np.asarray(value).dtype.kind == "i" else spell(value)


def _write_page(process: Process, problem: MpcProblem, horizon: int, *, dtype: str) -> str:
    """The page for integrators."""
    values = {
        "ORIGIN": "\n".join(f"- {line}." for line in describe(process, problem)),
        "N": str(horizon),
        "LOW": f"{problem.power[0]:g}",
        "HIGH": f"{problem.power[1]:g}",
        "WINDOW_LOW": f"{problem.window[0]:g}",
        "WINDOW_HIGH": f"{problem.window[1]:g}",
        "DTYPE": dtype,
        "SIDE": str(SIDE),
        "OLDEST": str(_oldest(process)),
        "RATIO_LOW": f"{RATIO[0]:g}",
        "RATIO_HIGH": f"{RATIO[1]:g}",
    }
    return fill(read_source("TWIN.md.in"), values)
