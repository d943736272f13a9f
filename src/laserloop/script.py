"""The closed loop as a script calls it: one function runs it, one draws it."""

from pathlib import Path

from laserloop.control.action import Controller
from laserloop.loop.case import Hooks, LoopCase, record, run_case
from laserloop.loop.controllers import choose_camera
from laserloop.loop.run import Run, run_closed_loop
from laserloop.paths import ScanPath
from laserloop.plant import Camera, make_plant
from laserloop.process import Process


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
    process = process or Process()
    if isinstance(controller, str):
        case = LoopCase(
            path=path.name,
            controller=controller,
            model=model,
            plant=plant,
            process=process,
            ticks=len(path),
            delta_k=delta_k,
        )
        return run_case(case, Hooks(path=path))
    made = make_plant(plant, path, process)
    return run_closed_loop(made, Camera(choose_camera(made, None)), controller, path)


def plot(run: Run, file: Path | str) -> None:
    """Draw a run over time: temperature, prediction and power; the file ends in .png, .svg or .pdf."""
    from laserloop.control.problem import MpcProblem
    from laserloop.report.run_figures import draw_run
    from laserloop.report.save import save_figure

    wanted = MpcProblem(window=run.process.window, power=run.process.laser.power)
    save_figure(Path(file), draw_run(record(run, wanted, model=None)))
