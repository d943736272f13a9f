"""The verb that shows a recording to a controller."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from laserloop.cli.control import ControllerName
from laserloop.cli.options import LoopOptions, tell_notes
from laserloop.cli.output import Json, keep_apart, publish

if TYPE_CHECKING:
    from laserloop.logs import Recording
    from laserloop.process import Process

LogName = Annotated[
    str,
    Parameter(
        help="The log: .csv with columns named as in NIST's build data or as laserloop's tables, .json of "
        "control or simulate, a folder of frames with poses.csv, or .h5."
    ),
]
LogProcess = Annotated[
    str | None,
    Parameter(
        name="--process",
        metavar="FILE|NAME",
        help="The process: a .yaml file, or a built-in one.",
        show_default=lambda _: "that inside the log, else paper",
    ),
]
Centre = Annotated[bool, Parameter(help="Move the lit part of the log to the plate's centre.", negative="")]


def replay(
    log: LogName,
    /,
    wish: LoopOptions | None = None,
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
    from laserloop.report.terminal import show_progress

    keep_apart({"--json": json_file}, {"LOG": log, "--process": process})
    recording, found = open_log(log, process, centre=centre)
    case = Scenario(
        path=log,
        controller=controller or ("twin" if model is None else None),
        model=model,
        plant="graded",
        process=(wish or LoopOptions()).change(found),
        ticks=None,
        delta_k=None,
    )
    tell_notes(recording.notes)
    with show_progress(f"{recording.name} to {case.controller or 'realtime'}") as progress:
        record = show_to(case, recording, progress)
    tell_notes(note for note in record["notes"] if note not in recording.notes)
    publish(record, json_file, tabulate_replay(record))


def open_log(log: str, process: str | None, *, centre: bool) -> "tuple[Recording, Process]":
    """A recording, and the process that is meant with it."""
    from dataclasses import replace

    from laserloop.logs import read_log
    from laserloop.paths.path import tell_tiny
    from laserloop.process import Process, find_process

    recording = read_log(Path(log))
    found = find_process(process) if process is not None else recording.process or Process()
    tiny = tell_tiny(recording.name, recording.positions, recording.lit, found.beam.sigma)
    recording = replace(recording, notes=(*recording.notes, *tiny))
    return recording.centred() if centre else recording, found
