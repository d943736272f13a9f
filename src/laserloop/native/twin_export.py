"""The exported folder of a twin: the C of this room, the numbers of a process, a page for integrators."""

import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control.controller import CREDIBLE, Status
from laserloop.control.problem import MpcProblem
from laserloop.native.build import NoCompiler, load_library
from laserloop.native.deployed import Deployed
from laserloop.native.export import (
    BUILD,
    FASTEST,
    GENERATED,
    HELD,
    INFEASIBLE,
    MISSED,
    PAGE,
    REFUSED,
    VECTORS,
    check_folder,
    measure_handle,
    render_header,
    render_numbers,
    render_problem,
    write_folder,
)
from laserloop.native.layout import fill, find_dtype, initialise, plain, quote, read_source, to_literal
from laserloop.native.twin import UNIT, pack_process, size_twin
from laserloop.native.vectors import record_loop, write_loop
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.predict.twin.rollout import needed_power
from laserloop.process import Process

NUMBERS, SIZES = "laserloop_process.c", "laserloop_twin_config.h"
COPIED = (
    *(*UNIT, "handle.c", "twin_reading.c", "twin_controller.c", "laserloop_twin.h"),
    *("twin_runner.c", "runner_tools.h"),
)
SIDE = 32  # most rows or columns of a frame
COLDEST = 0.8  # of ambient, K; a plate is never colder
MOST_GIVEN = 1.2  # of the most power: what a laser can have been told
METER_ZERO, METER_OFF = 0.05, 0.1  # of the most power: what a meter may read in the dark, and be off by
DARK = 0.02  # of what a straight line needs: as good as nothing
PAUSE = 7 * 86400.0  # s, the longest that is believed; after it a plate is at rest anyway
HELD_MOST = (1.2, 0.9)  # of what a straight line needs, and of the most power: what a hold may give at most
FASTER = 3.0  # times the speed of the process, that a lit beam may go
SENTENCES = (  # by the codes of laserloop_twin.h: how the power was decided,
    *(Status.SOLVED, Status.STOPPED, INFEASIBLE),
    f"the measurement is not believed: {HELD}",
    f"the prediction is not finite: {HELD}",
    f"the beam cannot be or go there: {HELD}",
    f"no such power can have been commanded: {HELD}",
    "the plate may be too hot: least power",
    *REFUSED,
)
READINGS = (  # and what became of the measurement
    "no new measurement",
    "the measurement was taken in",
    "nothing to compare: the laser was off or has hardly heated yet",
    "the measurement is far from the ones before: left out",
    "the measurement cannot be of this plate",
    "the measurement does not change where it should",
    "the measurement is too old",
    "the hottest pixel is not where the peak is",
    "the measurement is hotter than the window and not taken in",
    "the measurement is from the future",
    "the measurement was not looked at",
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
    check_folder(out, (*COPIED, *GENERATED, SIZES), mark=NUMBERS)
    try:
        texts, horizon = list_texts(process, problem, dtype=dtype, settings=settings)
        library = load_library(texts, UNIT[0])
    except NoCompiler as missing:
        raise BadInput(
            f"an export needs a C compiler here to answer its test vectors, but {missing}: install one"
        ) from None
    vectors = record_loop(Deployed(library, horizon), TwinPredictor(process, settings), problem)
    page = {
        BUILD: fill(read_source(BUILD), {"UNIT": UNIT[0], "RUNNER": "twin_runner.c"}),
        PAGE: _write_page(process, problem, horizon, dtype=dtype, sizes=_read_sizes(texts[SIZES])),
        VECTORS: write_loop(vectors),
    }
    return write_folder(out, {**texts, **page})


def list_texts(
    process: Process, problem: MpcProblem, *, dtype: str = "float32", settings: TwinSettings | None = None
) -> tuple[dict[str, str], int]:
    """All that a compiler needs, by file name, and the horizon."""
    twin = TwinPredictor(process, settings)
    own = replace(problem, horizon=twin.horizon)
    sizes = dict[str, object](
        size_twin(twin.horizon, _count_kept(twin), single=find_dtype(dtype) is np.float32)
    )
    values = sizes | {"BYTES": measure_handle(COPIED, sizes, "TWIN")} | _list_bounds(twin, own)
    texts = {
        NUMBERS: _render_numbers(twin, own),
        SIZES: render_header(describe(process, own), values, prefix="TWIN"),
        **{file: read_source(file) for file in COPIED},
    }
    return texts, twin.horizon


def _count_kept(twin: TwinPredictor) -> int:
    """Ticks of the history that an exported twin keeps one by one: those that its oldest image may need."""
    return twin.memory + _oldest(twin.process) - twin.process.camera.delay


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
        f"Tick {1e6 * process.tick:g} us: laserloop_twin_step must be called once in each",
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
    return process.camera.delay + process.camera.exposure + process.camera.every - 1


def _list_bounds(twin: TwinPredictor, problem: MpcProblem) -> dict[str, object]:
    """What is credible, by name, and what the export is of."""
    process, full = twin.process, problem.power[1]
    needed = needed_power(process, process.speed)
    held = min(HELD_MOST[0] * needed, HELD_MOST[1] * full)
    numbers = {
        **dict(zip(("POWER_LOW", "POWER_HIGH"), problem.power, strict=True)),
        "POWER_HOLD": max(held, problem.power[0]),
        **{"POWER_MOST": MOST_GIVEN * full, "POWER_DARK": DARK * min(needed, full)},
        **{"METER_ZERO": METER_ZERO * full, "METER_OFF": METER_OFF * full},
        **{"TICK": process.tick, "PAUSE_MOST": PAUSE},
        "COLDEST": max(CREDIBLE[0], COLDEST * process.ambient),
        "HOTTEST": min(CREDIBLE[1], twin.hottest),
        **dict(zip(("PLATE_X", "PLATE_Y"), process.plate[:2], strict=True)),
        "FASTEST_LIT": FASTER * process.speed,
        "FASTEST": max(FASTEST, FASTER * process.speed),
    }
    return {name: to_literal(number) for name, number in numbers.items()} | {
        **{"OLDEST": _oldest(process), "SIDE": SIDE, "MISSED_MOST": MISSED},
        **{"PROCESS": quote(process.name), "PROCESS_HASH": quote(process.hash)},
        "RELEASE": quote(version("laserloop")),
        "SENTENCES": ", ".join(quote(str(sentence)) for sentence in SENTENCES),
        "READINGS": ", ".join(map(quote, READINGS)),
    }


def _render_numbers(twin: TwinPredictor, problem: MpcProblem) -> str:
    """The process and the problem as two constants of the C source; of the rule only what is used."""
    packed = pack_process(twin)
    packed["recent"] = _count_kept(twin)
    used = {len(packed["lag"]): len(twin.rule.lag)}
    process = {"process exported_process": initialise(packed, used)}
    return render_numbers("the process", {**process, **render_problem(problem)})


def _read_sizes(header: str) -> dict[str, str]:
    """What a config header defines, by name."""
    return dict(re.findall(r"^#define LASERLOOP_TWIN_(\w+) (.*)$", header, re.MULTILINE))


def _write_page(
    process: Process, problem: MpcProblem, horizon: int, *, dtype: str, sizes: dict[str, str]
) -> str:
    """The page for integrators."""
    values = {
        **{name: sizes[name] for name in ("BYTES", "NODES", "RECENT")},
        "MISSED": str(MISSED),
        "ORIGIN": "\n".join(f"- {plain(line)}." for line in describe(process, problem)),
        "N": str(horizon),
        "LOW": f"{problem.power[0]:g}",
        "HIGH": f"{problem.power[1]:g}",
        "WINDOW_LOW": f"{problem.window[0]:g}",
        "WINDOW_HIGH": f"{problem.window[1]:g}",
        "DTYPE": dtype,
        "SIDE": str(SIDE),
        "OLDEST": str(_oldest(process)),
        **{
            name: f"{ratio:g}"
            for name, ratio in zip(("RATIO_LOW", "RATIO_HIGH"), process.camera.heat_ratio, strict=True)
        },
    }
    return fill(read_source("TWIN.md.in"), values)
