"""The verb that fits a process to a recording."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from laserloop.cli.options import take_file, take_number, tell_notes
from laserloop.cli.output import Json, check_output, keep_apart, publish, writing
from laserloop.cli.replay import Centre, LogName, LogProcess, open_log


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
        int, take_number(30, 100_000, "ticks", "Most ticks of the log that are simulated; from its start.")
    ] = 2000,
    centre: Centre = False,
    json_file: Json = None,
    plot: Annotated[
        Path | None, take_file("Draw readings, fit and residuals over time; .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Fit a process to a recorded run, with 95 % intervals, and say what the data cannot tell apart.

    Begins with the physics twin and is made exact by simulating the recorded powers on the graded plant,
    three to six times. Frames, or the places of the peaks, also tell how far the camera's images lie off.

    For example:

        laserloop identify build.csv --process mine.yaml --out fitted.yaml --plot fit.png
        laserloop identify run.json --process paper --fit absorptivity,delay --json fit.json
    """
    from laserloop.identification import FitSettings
    from laserloop.identification import identify as fit_process
    from laserloop.process.process import write_process
    from laserloop.report.plans import draw_fit
    from laserloop.report.save import save, save_figure
    from laserloop.report.tables import tabulate_fit
    from laserloop.report.terminal import show_progress

    for option, file in (("--out", out), ("--plot", plot)):
        check_output(option, file)
    keep_apart({"--out": out, "--json": json_file, "--plot": plot}, {"LOG": log, "--process": process})
    recording, found = open_log(log, process, centre=centre)
    with show_progress(f"simulating {recording.name}") as progress:
        wish = FitSettings(names=fit, ticks=ticks, progress=progress)
        result = fit_process(recording, found, wish)
    record = {"log": recording.name} | result.to_json()
    tell_notes(record["notes"])
    if out is not None:
        with writing("--out"):
            save(out, write_process(result.process))
    if plot is not None:
        with writing("--plot"):
            save_figure(plot, draw_fit(record))
    sentences = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in record.get("sentences", ())]
    sentences += [f"Not told apart: {sentence}." for sentence in record["not_separable"]]
    publish(record, json_file, tabulate_fit(record), *sentences)
