"""What a script calls: plan a file, fit a process to a log, close a loop, draw a run."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from laserloop.bad_input import BadInput, check_kind, show
from laserloop.control.controller import Controller
from laserloop.loop.controllers import choose_camera
from laserloop.loop.record import Run
from laserloop.loop.run import run_closed_loop
from laserloop.loop.scenario import Scenario, prepare
from laserloop.paths import ScanPath
from laserloop.plant import Camera, make_plant
from laserloop.process import Process

if TYPE_CHECKING:
    from laserloop.identification import Fit
    from laserloop.planning.commands import PlanSettings
    from laserloop.planning.job import FilePlan


def plan(
    file: Path | str,
    process: Process | None = None,
    *,
    settings: "PlanSettings | None" = None,
    s_max: float | None = None,
) -> "FilePlan":
    """The powers that keep the peak of a scan file in its window, without a camera; `save` writes the file.

    The process is the paper's unless given. `s_max`: the S of G-code that is full power.
    """
    from laserloop.paths.files import ScanFile
    from laserloop.planning.commands import PlanSettings
    from laserloop.planning.job import Job
    from laserloop.planning.verify import plan_refined

    known = _find(process)
    source = ScanFile.open(str(_name(file, "a file to plan")), s_max, known.laser.power[1])
    return plan_refined(Job(file=source, process=known, settings=settings or PlanSettings()))


def identify(
    log: Path | str,
    process: Process | None = None,
    *,
    fit: tuple[str, ...] | None = None,
    ticks: int = 2000,
    centre: bool = False,
) -> "Fit":
    """The process that a recorded run fits, with 95 % intervals; `fit.process` is the whole of it.

    It begins from `process`, else from the one inside the log, else from the paper's. `fit` names what is
    fitted, `ticks` is how much of the log is simulated, `centre` moves its lit part to the plate's centre.
    """
    from laserloop.identification import FitSettings
    from laserloop.identification import identify as fit_process
    from laserloop.logs import read_log

    recording = read_log(_name(log, "a log"))
    start = _find(process, recording.process)
    settings = FitSettings(names=fit, ticks=ticks)
    return fit_process(recording.centred() if centre else recording, start, settings)


def _name(file: Path | str, what: str) -> Path:
    """The name of a file, if it is one."""
    if not isinstance(file, Path | str):
        raise BadInput(f"{what} must be named, but got {show(file)}; give its path as text.")
    return Path(file)


def _find(process: Process | None, otherwise: Process | None = None) -> Process:
    """The process that is meant."""
    known = otherwise or Process() if process is None else process
    return check_kind(known, Process, "the process", "take find_process('316') or read a file with it")


def close_loop(
    controller: Controller | str,
    path: ScanPath,
    process: Process | None = None,
    *,
    plant: str = "graded",
    model: str | None = None,
    delta_k: float | None = None,
) -> Run:
    """Drive a plant along `path` under a controller of your own, or a shipped one by its name.

    Your own may do with `act(image, preview)` alone, and may answer a bare power in W. The process is the
    paper's unless given; `model` and the margin `delta_k`, K, are of shipped controllers that plan with one.
    """
    check_kind(path, ScanPath, "the path of a loop", "take find_path('diagonal') or read a file with it")
    process = _find(process)
    if isinstance(controller, str):
        case = Scenario(
            path=path,
            controller=controller,
            model=model,
            plant=plant,
            process=process,
            ticks=len(path),
            delta_k=delta_k,
        )
        return prepare(case).run(wait=lambda why: print(f"laserloop: {why}.", file=sys.stderr))
    if not callable(getattr(controller, "act", None)):
        raise BadInput(
            f"a controller must be a name or have `act(image, preview)`, but got {show(controller)}; name "
            "one, such as 'twin', or add `act`."
        )
    made = make_plant(plant, replace(process, tick=path.tick))
    return run_closed_loop(made, Camera(choose_camera(made, None)), controller, path)


def plot(run: Run, file: Path | str) -> None:
    """Draw a run over time: temperature, prediction and power; the file ends in .png, .svg or .pdf."""
    from laserloop.report.figures import save_figure
    from laserloop.report.run_figures import draw_run

    check_kind(run, Run, "what is drawn", "take what close_loop returns")
    save_figure(_name(file, "a figure"), draw_run(run.to_json()))
