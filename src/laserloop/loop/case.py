"""One closed-loop run, from settings to the record that is kept, scored and drawn."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.control.gains import Gains, find_gains
from laserloop.control.problem import MpcProblem
from laserloop.loop.cache import solve_case
from laserloop.loop.controllers import WITH_GAINS, WITH_MODEL, make_controller
from laserloop.loop.faults import Disturb
from laserloop.loop.run import Run, run_closed_loop
from laserloop.loop.scores import score, series_of
from laserloop.loop.tuning import TRAINING_PATHS, tune
from laserloop.paths import ScanPath, find_path
from laserloop.plant import Camera, Plant, make_plant
from laserloop.predict.networks import Model, find_model
from laserloop.process import CameraSettings

Progress = Callable[[int, int], None]

TICKS = 320


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCase:
    """The settings of one run of a study."""

    path: str
    controller: str
    model: str | None = None  # a shipped name or a folder
    plant: str = "paper"
    ticks: int = TICKS
    delta_k: float = 0.0  # K, margin below the window's top
    graph: str = "folded"  # of ipopt: folded, or the paper's plain one

    def settings(self) -> dict[str, Any]:
        """What names the case: all of it, the model by what it was trained from."""
        named = asdict(self)
        if self.model is not None:
            named["model"] = find_model(self.model).provenance.get("identity", self.model)
        return {"study": "closed loop", **named}


def run_case(case: LoopCase, root: Path) -> dict[str, Any]:
    """The record of a case, from disk if it is there."""
    return solve_case(root / "runs", case.settings(), partial(_compute, case))


def _compute(case: LoopCase) -> dict[str, Any]:
    path = find_path(case.path, ticks=case.ticks)
    plant = make_plant(case.plant, path)
    model = None if case.model is None else find_model(case.model)
    problem = make_problem(model, MpcProblem(margin_above=case.delta_k))
    gains = find_gains(case.plant) if case.controller in WITH_GAINS else None
    run = control(
        plant, path, case.controller, problem, model=model, gains=gains, options={"graph": case.graph}
    )
    return record(run, problem, model=case.model)


def control(
    plant: Plant,
    path: ScanPath,
    controller: str,
    problem: MpcProblem,
    *,
    model: Model | None = None,
    gains: Gains | None = None,
    camera: CameraSettings | None = None,
    disturb: Disturb | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Run:
    """Close the loop between `plant` and the controller of that name along `path`."""
    if controller in WITH_MODEL and model is not None:
        check_model(model, path)
    decide = make_controller(controller, problem, plant=plant, model=model, gains=gains, options=options)
    return run_closed_loop(
        plant,
        Camera(camera or choose_camera(plant, model)),
        decide,
        path,
        power_bounds=problem.power,
        disturb=disturb,
        progress=progress,
    )


def make_problem(model: Model | None, problem: MpcProblem) -> MpcProblem:
    """The problem over the horizon that a model predicts."""
    return problem if model is None else replace(problem, horizon=model.architecture.horizon)


def choose_camera(plant: Plant, model: Model | None) -> CameraSettings:
    """A camera that reads images as a model learned to, or else as the plant defines T_max."""
    if model is None:
        return CameraSettings(subgrid=plant.settings.subgrid, smooth=plant.settings.subgrid)
    data = model.provenance.get("data", {})
    return CameraSettings(subgrid=data.get("reading") == "peak", smooth=bool(data.get("smooth", False)))


def check_model(model: Model, path: ScanPath) -> None:
    """Refuse a model that learned another control period."""
    tick = model.provenance.get("data", {}).get("ensemble", {}).get("tick_s")
    if tick is not None and abs(tick - path.tick) > 1e-9 * tick:
        raise BadInput(
            f"the model was trained for ticks of {1e6 * tick:g} µs, but the path has {1e6 * path.tick:g} µs: "
            "change --tick-us or train another model"
        )


def calibrated_margin(model: Model) -> float | None:
    """δ that was calibrated for a model and travels with it, K."""
    found = model.provenance.get("calibration", {}).get("delta_one_sided_k")
    return None if found is None else float(found)


def tune_for(
    name: str, path: ScanPath, problem: MpcProblem, *, progress: Progress | None = None, **plant: Any
) -> Gains:
    """Gains for a plant and window that nobody tuned yet, on its own training paths."""
    paths = [find_path(training, ticks=TICKS, tick=path.tick) for training in TRAINING_PATHS]
    return tune(partial(make_plant, name, **plant), paths, problem, progress=progress)


def record(run: Run, problem: MpcProblem, *, model: str | None) -> dict[str, Any]:
    """A run as plain numbers: scores, then the series they were taken from."""
    return {
        **score(run, problem.window),
        "model": model,
        "delta_k": problem.margin_above,
        "window_k": list(problem.window),
        "series": series_of(run),
    }
