"""The verb that writes the controller as C."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.control import Delta, Tracking, tell_delta
from laserloop.cli.options import (
    OF_PROCESS,
    LoopOptions,
    ProcessOptions,
    take_entry,
    take_file,
    take_number,
    tell_notes,
)
from laserloop.cli.output import Json, check_output, publish, writing

if TYPE_CHECKING:
    from laserloop.control.problem import MpcProblem
    from laserloop.process import Process

    Written = tuple[list[Path], MpcProblem, tuple[str, ...]]  # files, and what they are of


def export(
    model: Annotated[
        str | None,
        Parameter(help="A shipped model's name, or the folder of one; without it the twin of the process."),
    ] = None,
    /,
    target: ProcessOptions | None = None,
    *,
    window_k: Annotated[tuple[float, float] | None, take_entry("window_k", example="760,800")] = None,
    power_max_w: Annotated[
        float | None,
        take_number(1e-3, 1e4, "W", "The most in W that the laser can give.", default=OF_PROCESS),
    ] = None,
    delta_k: Delta = None,
    tracking: Tracking = None,
    out: Annotated[
        Path, take_file("Folder of the C sources, their header, test vectors and guide.", metavar="DIR")
    ],
    dtype: Annotated[
        Literal["float32", "float64"], Parameter(help="Numbers of the network; single is faster.")
    ] = "float32",
    force: Annotated[
        bool, Parameter(help="Also export a model for what it was not made for.", negative="")
    ] = False,
    json_file: Json = None,
) -> None:
    """Write the controller as dependency-free C99 that runs inside a tick: the twin, or a model.

    For example:

        laserloop export --process 316 --out firmware
        laserloop export paper-corner --out firmware
        laserloop export models/mine --window-k 860,900 --dtype float64 --out firmware
    """
    from laserloop.planning.window import tell_melting
    from laserloop.report.tables import tabulate_numbers

    check_output("--json", json_file)
    wish = LoopOptions(window_k=window_k, power_max_w=power_max_w)
    process = wish.change((target or ProcessOptions()).find())
    write = (
        partial(_export_twin, tracking=tracking)
        if model is None
        else partial(_export_model, model, tracking=tracking or 0.0, force=force)
    )
    files, problem, notes = write(process, out, dtype=dtype, delta_k=delta_k)
    tell_notes((*notes, *tell_melting(process), *tell_delta(delta_k, process)))
    numbers = {
        **({"process": process.name, "process_hash": process.hash} if model is None else {"model": model}),
        "dtype": dtype,
        "delta_k": problem.margin_above,
        "margins_k": {"above": problem.margin_above, "below": problem.margin_below},
        "window_k": list(problem.window),
    }
    sizes = {file.name: file.stat().st_size for file in files}
    shown = {name: f"{size} bytes" for name, size in sizes.items()}
    publish({**numbers, "files": sizes}, json_file, tabulate_numbers(shown))


def _export_twin(
    process: "Process", out: Path, *, dtype: str, delta_k: float | None, tracking: float | None
) -> "Written":
    """The twin of a process, with the margins that `control` keeps for it."""
    from laserloop.control.margins import find_margins
    from laserloop.control.problem import make_twin_problem
    from laserloop.loop.scenario import keep_margins, make_problem
    from laserloop.native import export_twin

    problem = make_twin_problem(make_problem(process, None, delta_k=delta_k), tracking)
    notes: tuple[str, ...] = ()
    if delta_k is None:
        problem, notes = keep_margins(problem, find_margins("graded", process), process)
    with writing("--out"):
        return export_twin(process, problem, out, dtype=dtype), problem, notes


def _export_model(
    model: str,
    process: "Process",
    out: Path,
    *,
    dtype: str,
    delta_k: float | None,
    tracking: float,
    force: bool,
) -> "Written":
    """A learned model, if it was made for the process."""
    from laserloop.loop.scenario import make_problem
    from laserloop.native import export_c
    from laserloop.predict.model import find_model

    found = find_model(model)
    problem = make_problem(process, found, delta_k=delta_k, tracking=tracking)
    misfits = [] if found.trained_for is None else found.trained_for.judge_process(process)
    if misfits and not force:
        raise BadInput(
            f"a model must be made for what it is exported for, but of {model} this is not true: "
            f"{'; '.join(misfit.why for misfit in misfits)}; train one that fits, or insist with --force"
        )
    with writing("--out"):
        return export_c(found, problem, out, dtype=dtype, name=model), problem, ()
