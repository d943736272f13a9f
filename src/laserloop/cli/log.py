"""The verbs that take a log: what a controller would have commanded, and which process it was."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite, nan
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token

from laserloop.bad_input import BadInput
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
DOES_NOT_HOLD = 3  # exit status, as of a plan
Columns = Annotated[
    tuple[str, ...],
    Parameter(
        converter=lambda _, tokens: tuple(part.strip() for part in tokens[0].value.split(",")),
        n_tokens=1,
        negative="",
        metavar="NAMES",
        help="How a CSV names its columns, with units in brackets: 'time=Time (ms), peak=T (°C)'. There are "
        "time, x, y, power, peak, taken, peak_x and peak_y.",
        show_default=lambda _: "as in NIST's build data or laserloop's tables",
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
    columns: Columns = (),
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
    recording, own = _open_log(log, process, centre=centre, columns=columns)
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


def _open_log(
    log: str, process: str | None, *, centre: bool, columns: tuple[str, ...] = ()
) -> tuple[Recording, Process]:
    """A recording, and the process that is meant with it."""
    names = dict(_take_pair("--columns", part) for part in columns)
    recording = read_log(Path(log), names)
    if process is None and recording.process is None:
        told = "it has no process inside and no --process is given: the default one is taken, 304 steel"
        recording = replace(recording, notes=(*recording.notes, f"{recording.name}: {told}"))
    known = find_process(process) if process is not None else recording.process or Process()
    tiny = note_tiny(recording.name, recording.positions, recording.lit, known.beam.sigma)
    recording = replace(recording, notes=(*recording.notes, *tiny))
    return recording.centred() if centre else recording, known


def _take_pair(option: str, text: str) -> tuple[str, str]:
    """What stands before and after the equals sign."""
    name, sign, value = text.partition("=")
    if not (sign and name.strip() and value.strip()):
        raise BadInput(f"{option} must be pairs as NAME=VALUE, but got {text[:60]!r}; correct it")
    return name.strip(), value.strip()


def _read_prior(text: str) -> tuple[str, tuple[float, float]]:
    """A parameter, its value and how well that is known."""
    from laserloop.identification.parameters import check_names

    name, text = _take_pair("--prior", text.replace(":", "=").replace("+-", "±"))
    try:
        value, error = (float(part) for part in text.split("±"))
    except ValueError:
        value, error = nan, nan
    if not (isfinite(value) and 0.0 < error < inf):
        raise BadInput(f"--prior must be as in absorptivity=0.35±0.05, but got {text[:60]!r}; correct it")
    return check_names((name,), alone=False)[0], (value, error)


def _split(_: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(name.strip() for name in tokens[0].value.split(","))


def identify(
    log: LogName,
    /,
    *logs: Annotated[str, Parameter(help="More logs of the same machine, fitted together.")],
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
            "sigma (the beam's radius), gain (of the readings), delay (of the camera), laser_lag_us, "
            "ambient_k (of the plate) and scanner_late_ticks.",
            show_default=lambda _: (
                "absorptivity,diffusivity,sigma,delay; where the log says where peaks were seen, also "
                "laser_lag_us,scanner_late_ticks"
            ),
        ),
    ] = None,
    ticks: Annotated[
        int, number(30, 100_000, "ticks", "Most ticks of the log that are simulated; from its start.")
    ] = 2000,
    prior: Annotated[
        tuple[str, ...],
        Parameter(
            converter=_split,
            n_tokens=1,
            negative="",
            metavar="VALUES",
            help="What is known before, with its standard error, and is fitted as well: "
            "'absorptivity=0.35±0.05, sigma=100±3'; sigma and "
            "offsets in µm, laser_lag_us in µs, ambient_k in K, delay in ticks.",
            show_default=lambda _: "nothing",
        ),
    ] = (),
    from_ms: Annotated[
        float,
        number(0.0, 1e9, "ms", "Compare readings from this time on; heat of before counts."),
    ] = 0.0,
    to_ms: Annotated[
        float | None, number(0.0, 1e9, "ms", "Cut the log at this time.", default="its end")
    ] = None,
    sensor: Annotated[
        Literal["camera", "pyrometer"] | None,
        Parameter(
            help="What a reading is: the maximum of a camera's pixels, to which noise adds, or a pyrometer's "
            "mean over its spot.",
            show_default=lambda _: "camera for logs with frames or places of peaks, else as readings tell",
        ),
    ] = None,
    columns: Columns = (),
    centre: Centre = False,
    force: Annotated[bool, flag("Write --out even if the fit does not hold.")] = False,
    json_file: Json = None,
    plot: Annotated[
        Path | None,
        take_file(
            "Draw readings and fit, and residuals over time, power and temperature; .png, .svg or .pdf."
        ),
    ] = None,
) -> int:
    """Fit a process to recorded runs, with 95 % intervals and a verdict, and say what the data cannot tell.

    Begins with the physics twin and is made exact by simulating the recorded powers on the graded plant,
    a few times. Frames, or the places of the peaks, also tell how far the camera's images lie off.
    Several logs of one machine are fitted together. The exit status is 0 if the fit holds. It is 3 if not:
    residuals are no noise, or values cannot be; then --out is not written without --force.

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
    recording, own = _open_log(log, process, centre=centre, columns=columns)
    recordings = [
        recording,
        *(_open_log(other, process, centre=centre, columns=columns)[0] for other in logs),
    ]
    with show_progress(f"simulating {recording.name}") as progress:
        settings = FitSettings(
            names=fit,
            ticks=ticks,
            sensor=sensor,
            priors=dict(_read_prior(text) for text in prior),
            span=(1e-3 * from_ms, inf if to_ms is None else 1e-3 * to_ms),
            progress=progress,
        )
        result = fit_process(recordings, own, settings)
    record = {"log": ", ".join(each.name for each in recordings)} | result.to_json()
    holds = result.verdict.holds
    if out is not None and not holds and not force:
        record["notes"].append("--out is not written, because the fit does not hold; see --force")
    print_notes(record["notes"])
    if holds or force:
        write("--out", out, lambda _: write_process(result.process))
    draw("--plot", plot, lambda: draw_fit(record))
    verdict = result.verdict.sentence
    sentences = [f"Verdict: {verdict}{'' if verdict.endswith('?') else '.'}"]
    sentences += [f"{sentence[0].upper()}{sentence[1:]}." for sentence in record.get("sentences", ())]
    sentences += [f"Not told apart: {sentence}." for sentence in record["not_separable"]]
    publish(record, json_file, tabulate_fit(record), *sentences)
    return 0 if holds else DOES_NOT_HOLD
