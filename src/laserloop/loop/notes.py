"""What a reader of a run should know; sentences without their full stop."""

from laserloop.control.action import Controller
from laserloop.control.margins import Margins
from laserloop.loop.run import Run
from laserloop.paths import ScanPath
from laserloop.plant import Plant
from laserloop.predict.networks import Model
from laserloop.predict.twin.reach import judge_reach
from laserloop.process import CameraSettings, Process
from laserloop.process.camera import Sampling
from laserloop.process.mismatch import LAG

Notes = tuple[str, ...]


def tell_margin(model: Model | None, camera: CameraSettings, delta_k: float | None) -> Notes:
    """A note if a margin is taken from a calibration that saw a better camera."""
    perfect = (camera.noise, camera.delay, camera.every, camera.exposure) == (0.0, 0, 1, 1)
    if model is None or not model.margin or delta_k is not None or perfect:
        return ()
    return (
        f"the margin of {model.margin:.1f} K was calibrated on exact images of every tick, so it does not "
        "cover this camera's noise, delay, rate and exposure",
    )


def tell_sampling(model: Model | None, sampling: Sampling | None) -> Notes:
    """A note if temperatures ahead are read in another way than the model learned."""
    if model is None or sampling in (None, model.sampling):
        return ()
    return (f"temperatures ahead are read by {sampling} sampling; the model learned from {model.sampling}",)


def tell_uncalibrated(process: Process) -> Notes:
    """A note that nothing is promised for this process."""
    return (
        f"no margins were calibrated for the process {process.name} as it is here, so none are kept; "
        "laserloop calibrate --process finds them",
    )


def tell_narrow(margins: Margins, room: float) -> Notes:
    """A note if a window has no room for its margins."""
    if max(margins.above, margins.below) <= room:
        return ()
    return (
        f"the margins of {margins.above:.1f} K above and {margins.below:.1f} K below do not fit into the "
        f"window, so at most {room:.1f} K are kept and the promise is not",
    )


def tell_mismatch(factors: tuple[tuple[str, float], ...]) -> Notes:
    """A note that the plant is not what the process says."""
    if not factors:
        return ()
    told = ", ".join(f"{name} {'=' if name == LAG else '×'} {factor:g}" for name, factor in factors)
    return (f"the plant differs from the process, and the controller does not know: {told}",)


def tell_reach(process: Process, path: ScanPath) -> Notes:
    """A note if the laser cannot reach the window."""
    told = judge_reach(process, path.median_speed) if path.median_speed else None
    return () if told is None else (told,)


def tell_solver(controller: Controller) -> Notes:
    """A note if the solver is not the one that was meant."""
    return tuple(getattr(controller, "notes", ()))


def tell_range(plant: Plant, run: Run) -> Notes:
    """A note if the material's range of validity was left."""
    if not len(run):
        return ()
    complaint = plant.settings.material.outside(plant.settings.ambient, float(run.t_max.max()))
    return () if complaint is None else (complaint,)
