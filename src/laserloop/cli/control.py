"""The verb that closes the loop."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from laserloop.bad_input import BadInput
from laserloop.cli.options import (
    LoopOptions,
    PathName,
    PathOptions,
    PlantName,
    ProcessOptions,
    take_file,
    take_number,
    tell_notes,
)
from laserloop.cli.output import Json, Table, check_output, keep_apart, publish, save_table, writing
from laserloop.loop.controllers import CONTROLLERS

if TYPE_CHECKING:
    from laserloop.control.margins import Margins
    from laserloop.loop.scenario import Scenario
    from laserloop.process import Process

Delta = Annotated[
    float | None,
    take_number(
        0.0,
        1e3,
        "K",
        "Margin in K below the window's top that plans keep; 0 switches it off.",
        default="as calibrated for the process or the model",
    ),
]
Tracking = Annotated[
    float | None,
    take_number(
        0.0,
        1e6,
        "",
        "Price of leaving the window's middle; 0 as in the paper.",
        default="100 of the twin, 0 of the others",
    ),
]
Mismatch = Annotated[
    list[str] | None,
    Parameter(
        name="--mismatch",
        negative="",
        consume_multiple=False,
        help="What the plant has and the controller does not know, as NAME=FACTOR, where NAME is "
        "absorptivity, conductivity, heat-capacity, emissivity or laser-lag; absorptivity=0.9 is 10 % less "
        "than the process says. laser-lag-us=125 is a lag in µs. May be given several times.",
    ),
]
if TYPE_CHECKING:
    ControllerName = str
else:
    ControllerName = Literal[tuple(CONTROLLERS)]  # for shells
LISTED = ", ".join(f"{name} ({kind.help})" if kind.help else name for name, kind in CONTROLLERS.items())


def control(
    path: PathName,
    /,
    way: PathOptions | None = None,
    target: ProcessOptions | None = None,
    wish: LoopOptions | None = None,
    *,
    plant: PlantName = "graded",
    controller: Annotated[
        ControllerName | str | None,
        Parameter(
            metavar="NAME",
            show_choices=False,
            help=f"The controller: {LISTED} or an own class as FILE.py:NAME.",
            show_default=lambda _: "the best that ships: twin on graded, realtime on paper",
        ),
    ] = None,
    model: Annotated[
        str | None,
        Parameter(
            help="The model that realtime, ipopt or sqp plan with: a shipped name, a folder, or an own "
            "predictor as FILE.py:NAME.",
            show_default=lambda _: "paper-corner",
        ),
    ] = None,
    delta_k: Delta = None,
    margins: Annotated[
        str | None,
        Parameter(
            metavar="FILE",
            help="Margins of both bounds that calibrate wrote for this process, or adaptive: margins that "
            "follow what the camera sees.",
            show_default=lambda _: "those that ship with the process",
        ),
    ] = None,
    tracking: Tracking = None,
    mismatch: Mismatch = None,
    sampling: Annotated[
        Literal["nearest", "bilinear"] | None,
        Parameter(
            help="Read temperatures ahead of the beam at the nearest pixel, or bilinearly.",
            show_default=lambda _: "as the model learned; nearest in the paper",
        ),
    ] = None,
    graph: Annotated[
        Literal["folded", "plain"],
        Parameter(help="The network inside ipopt: contracted once a tick, or as in the paper."),
    ] = "folded",
    force: Annotated[
        bool, Parameter(help="Also use a model on what it was not made for.", negative="")
    ] = False,
    json_file: Json = None,
    table: Table = None,
    plot: Annotated[
        Path | None, take_file("Draw prediction, truth, power and window over time; .png, .svg or .pdf.")
    ] = None,
    map_file: Annotated[
        Path | None,
        take_file("Draw where along the path the prediction was wrong; .png, .svg or .pdf."),
        Parameter(name="--map"),
    ] = None,
) -> None:
    """Keep the peak temperature in its window along a path, and score how well that went.

    Scores are taken on the plant's own T_max. Above the window every tick counts from the first lit one on,
    also after every laser-off move; below it a tick counts once full power could have reached the window. On
    the plant paper both count from the tenth tick after the laser came on, as in the publication.

    For example:

        laserloop control diagonal --json run.json --plot run.png
        laserloop control spiral --controller ipopt --model paper-base --delta-k 0
        laserloop control part.gcode --plant graded --process ti64 --controller pi
    """
    from laserloop.loop.scenario import TICKS, Scenario
    from laserloop.report.tables import tabulate_run

    for option, file in (("--table", table), ("--plot", plot), ("--map", map_file)):
        check_output(option, file)
    way, target, wish = way or PathOptions(), target or ProcessOptions(), wish or LoopOptions()
    keep_apart(
        {"--json": json_file, "--table": table, "--plot": plot, "--map": map_file},
        {"PATH": path, "--process": target.process, "--material": target.material, "--margins": margins},
    )
    process = wish.change(target.find(speed_mm_s=way.speed_mm_s))
    scan = way.find(path, process, ticks=TICKS)
    case = Scenario(
        path=scan,
        controller=controller,
        model=model,
        plant=plant,
        process=process,
        ticks=len(scan),
        delta_k=delta_k,
        margins=read_margins_option(margins, delta_k, process),
        adaptive=margins == "adaptive",
        tracking=tracking,
        mismatch=read_factors("--mismatch", mismatch),
        sampling=sampling,
        graph=graph,
        force=force,
    )
    record = close_loop(case)
    save_table(table, record)
    _draw(record, plot, map_file)
    publish(record, json_file, tabulate_run(record))


def read_factors(option: str, given: list[str] | None) -> tuple[tuple[str, float], ...]:
    """NAME=FACTOR, one by one; the last of a name counts."""
    found: dict[str, float] = {}
    for text in given or ():
        name, _, factor = text.partition("=")
        try:
            found[name.strip()] = float(factor)
        except ValueError:
            raise BadInput(
                f"{option} must read NAME=NUMBER, such as absorptivity=0.9, got {text[:40]!r}: correct it"
            ) from None
    return tuple(sorted(found.items()))


def read_margins_option(given: str | None, delta_k: float | None, process: "Process") -> "Margins | None":
    """The margins of a file, if it is one."""
    from laserloop.control.margins import read_margins

    if given is not None and delta_k is not None:
        raise BadInput("--margins and --delta-k exclude each other, but both were given; drop one")
    return None if given in (None, "adaptive") else read_margins(Path(given), process)


def tell_delta(delta_k: float | None, process: "Process") -> tuple[str, ...]:
    """A note if a margin takes the window's middle, which the twin aims at; one that takes all is refused."""
    low, high = process.window
    if delta_k is None or delta_k <= 0.5 * (high - low) or delta_k >= high - low:
        return ()
    return (
        f"--delta-k {delta_k:g} leaves {high - low - delta_k:g} of the window's {high - low:g} K: plans keep "
        f"to {low:g} – {high - delta_k:g} K, below the window's middle; {0.25 * (high - low):g} K or less "
        "leave room",
    )


def close_loop(case: "Scenario", *, tell: Callable[[Iterable[str]], None] = tell_notes) -> dict[str, Any]:
    """The record of one run, with progress bars; its notes go to `tell`, by default to standard error."""
    from laserloop.loop.scenario import prepare
    from laserloop.planning.window import tell_melting
    from laserloop.report.terminal import show_progress

    told = list[str](() if isinstance(case.path, str) else case.path.notes)

    def say(note: str) -> None:
        told.append(note)
        tell([note])

    with (
        warnings.catch_warnings(),
        show_progress(f"{case.choose().controller} on {case.path_name}") as progress,
    ):
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        setup = prepare(case)
        known = (*tell_melting(case.process), *tell_delta(case.delta_k, case.process))
        setup = replace(setup, notes=(*setup.notes, *known))
        for note in setup.notes:
            say(note)
        found = setup.run(progress, wait=say).to_json()
    tell(note for note in found["notes"] if note not in told)
    return found


def _draw(record: dict[str, Any], plot: Path | None, map_file: Path | None) -> None:
    if plot is None and map_file is None:
        return
    from laserloop.report.run_figures import draw_residual_map, draw_run
    from laserloop.report.save import save_figure

    for option, file, draw in (("--plot", plot, draw_run), ("--map", map_file, draw_residual_map)):
        if file is not None:
            with writing(option):
                save_figure(file, draw(record))
