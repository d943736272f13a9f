"""The verb that writes the controller as C."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.control import Delta, Tracking
from laserloop.cli.options import OF_PROCESS, LoopOptions, ProcessOptions, take_entry, take_file, take_number
from laserloop.cli.output import Json, check_output, publish, writing


def export(
    model: Annotated[str, Parameter(help="A shipped model's name, or the folder of one.")],
    /,
    target: ProcessOptions | None = None,
    *,
    window_k: Annotated[tuple[float, float] | None, take_entry("window_k", example="760,800")] = None,
    power_max_w: Annotated[
        float | None,
        take_number(1e-3, 1e4, "W", "The most in W that the laser can give.", default=OF_PROCESS),
    ] = None,
    delta_k: Delta = None,
    tracking: Tracking = 0.0,
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
    """Write the controller as dependency-free C99 that runs inside a tick.

    For example:

        laserloop export paper-corner --out firmware
        laserloop export models/mine --window-k 860,900 --dtype float64 --out firmware
    """
    from laserloop.loop.case import make_problem
    from laserloop.native import export_c
    from laserloop.predict.networks import find_model
    from laserloop.report.tables import tabulate_numbers

    check_output("--json", json_file)
    found = find_model(model)
    wish = LoopOptions(window_k=window_k, power_max_w=power_max_w)
    process = wish.change((target or ProcessOptions()).find())
    problem = make_problem(process, found, delta_k=delta_k, tracking=tracking)
    misfits = [] if found.trained_for is None else found.trained_for.judge_process(process)
    if misfits and not force:
        raise BadInput(
            f"a model must be made for what it is exported for, but of {model} this is not true: "
            f"{'; '.join(misfit.why for misfit in misfits)}. Train one that fits, or insist with --force"
        )
    with writing("--out"):
        files = export_c(found, problem, out, dtype=dtype, name=model)
    numbers = {
        "model": model,
        "dtype": dtype,
        "delta_k": problem.margin_above,
        "window_k": list(problem.window),
    }
    sizes = {file.name: file.stat().st_size for file in files}
    shown = {name: f"{size} bytes" for name, size in sizes.items()}
    publish({**numbers, "files": sizes}, json_file, tabulate_numbers(shown))
