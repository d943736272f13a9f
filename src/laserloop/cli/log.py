"""The verbs that take a log: what a controller would have commanded, and which process it was."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from laserloop.cli.options import (
    ControllerName,
    LoopOptions,
    ProcessName,
    flag,
    number,
    print_notes,
    take_file,
)
from laserloop.cli.output import Json, check_outputs, draw, publish, write
from laserloop.logs import Recording, read_log
from laserloop.paths.path import note_tiny
from laserloop.process import Process, find_process
from laserloop.report.terminal import show_progress

LogName = Annotated[
    str,
    Parameter(
        help="The log: .csv with columns named as in NIST's build data or as laserloop's tables, .json of "
        "control or simulate, a folder of frames with poses.csv, or .h5."
    ),
]
LogProcess = Annotated[
    ProcessName | None,
    Parameter(
        name="--process",
        help="The process: a .yaml file, or a built-in one.",
        show_default=lambda _: "that inside the log, else 304",
    ),
]
Centre = Annotated[bool, flag("Move the lit part of the log to the plate's centre.")]


def replay(
    log: LogName,
    /,
    loop: LoopOptions | None = None,
    *,
    process: LogProcess = None,
    controller: Annotated[
        ControllerName | str | None,
        Parameter(
            metavar="NAME",
            show_choices=False,
            help="The controller: twin, pi, constant, feedforward, realtime or ipopt (these need frames), "
            "or an own class as FILE.py:NAME.",
            show_default=lambda _: "twin",
        ),
    ] = None,
    model: Annotated[
        str | None,
        Parameter(help="The model that realtime or ipopt plan with.", show_default=lambda _: "paper-corner"),
    ] = None,
    centre: Centre = False,
    json_file: Json = None,
) -> None:
    """Show recorded measurements to a controller, and write down what it would have commanded.

    Nothing is acted upon: in every tick the past is that of the log. Frames that are lost, late, saturated,
    frozen or NaN are counted, and shown as they came.

    For example:

        laserloop replay build.csv --process mine.yaml --controller twin --json replay.json
        laserloop replay run.json --controller pi
    """
    from laserloop.loop.replay import replay as show_to
    from laserloop.loop.scenario import Scenario
    from laserloop.report.tables import tabulate_replay

    check_outputs({"--json": json_file}, {"LOG": log, "--process": process})
    recording, own = _open_log(log, process, centre=centre)
    case = Scenario(
        path=log,
        controller=controller or ("twin" if model is None else None),
        model=model,
        plant="graded",
        process=(loop or LoopOptions()).change(own),
        ticks=None,
        delta_k=None,
    )
    print_notes(recording.notes)
    with show_progress(f"{recording.name} to {case.controller or 'realtime'}") as progress:
        answers = show_to(case, recording, progress)
    print_notes(note for note in answers["notes"] if note not in recording.notes)
    publish(answers, json_file, tabulate_replay(answers))


def _open_log(log: str, process: str | None, *, centre: bool) -> tuple[Recording, Process]:
    """A recording, and the process that is meant with it."""
    recording = read_log(Path(log))
    known = find_process(process) if process is not None else recording.process or Process()
    tiny = note_tiny(recording.name, recording.positions, recording.lit, known.beam.sigma)
    recording = replace(recording, notes=(*recording.notes, *tiny))
    return recording.centred() if centre else recording, known


def _split(_: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(name.strip() for name in tokens[0].value.split(","))


def identify(
    log: LogName,
    /,
    *,
    process: LogProcess = None,
    out: Annotated[Path | None, take_file("Write the process as it was found here, as YAML.")] = None,
    fit: Annotated[
        tuple[str, ...] | None,
        Parameter(
            converter=_split,
            n_tokens=1,
            negative="",
            metavar="NAMES",
            help="What to fit, with commas between: absorptivity, diffusivity (a factor on the alloy's), "
            "sigma (the beam's radius), gain (of the readings), delay (of the camera), laser_lag_us and "
            "scanner_late_ticks.",
            show_default=lambda _: (
                "absorptivity,diffusivity,sigma,delay; where the log says where peaks were seen, also "
                "laser_lag_us,scanner_late_ticks"
            ),
        ),
    ] = None,
    ticks: Annotated[
        int, number(30, 100_000, "ticks", "Most ticks of the log that are simulated; from its start.")
    ] = 2000,
    centre: Centre = False,
    json_file: Json = None,
    plot: Annotated[
        Path | None, take_file("Draw readings, fit and residuals over time; .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Fit a process to a recorded run, with 95 % intervals, and say what the data cannot tell apart.

    Begins with the physics twin and is made exact by simulating the recorded powers on the graded plant,
    a few times. Frames, or the places of the peaks, also tell how far the camera's images lie off.

    For example:

        laserloop identify build.csv --process mine.yaml --out fitted.yaml --plot fit.png
        laserloop identify run.json --process 304 --fit absorptivity,delay --json fit.json
    """
    from laserloop.identification import FitSettings
    from laserloop.identification import identify as fit_process
    from laserloop.process import write_process
    from laserloop.report.plans import draw_fit
    from laserloop.report.tables import tabulate_fit

    check_outputs({"--out": out, "--json": json_file, "--plot": plot}, {"LOG": log, "--process": process})
    recording, start = _open_log(log, process, centre=centre)
    with show_progress(f"simulating {recording.name}") as progress:
        result = fit_process(recording, start, FitSettings(names=fit, ticks=ticks, progress=progress))
    record = {"log": recording.name} | result.to_json()
    print_notes(record["notes"])
    write("--out", out, lambda _: write_process(result.process))
    draw("--plot", plot, lambda: draw_fit(record))
    sentences = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in record.get("sentences", ())]
    sentences += [f"Not told apart: {sentence}." for sentence in record["not_separable"]]
    publish(record, json_file, tabulate_fit(record), *sentences)
