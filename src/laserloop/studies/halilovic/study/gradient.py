"""Gradient fidelity: the surrogate's ∂T̂_{k+1}/∂P_{k+1} against central differences of the plant."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.control.ipopt import embed
from laserloop.loop.controllers import choose_camera
from laserloop.loop.run import look_ahead
from laserloop.paths import ScanPath
from laserloop.plant import Camera, Plant
from laserloop.predict.model import Model

FloatArray = NDArray[np.float64]

NUDGE = 0.5  # W to each side


def compare_gradients(
    model: Model, plant: Plant, path: ScanPath, power: Sequence[float], *, every: int = 5
) -> dict[str, Any]:
    """Both sensitivities at every so many ticks of `path`, driven by `power`, W; K/W."""
    import casadi

    horizon = model.architecture.horizon
    network = embed(model)
    slope = network.factory("slope", network.name_in(), [f"jac:{network.name_out(0)}:{network.name_in(0)}"])
    camera = Camera(choose_camera(plant, model))  # previews as the model learned to read them
    surface = plant.reset()
    ticks, ours, true = [], [], []
    for k in range(len(path)):
        image = camera.see(surface)
        if k > 0 and k % every == 0:
            preview = look_ahead(path, k, list(power[:k]), horizon)
            plan = np.full(horizon, power[k])
            temps = np.concatenate(([image.peak.temperature], image.sample(preview.ahead[1:])))
            jacobian = casadi.DM(
                slope(plan, preview.kinematics(horizon), temps, np.array([image.peak.x, image.peak.y]))
            )
            ticks.append(k)
            ours.append(float(jacobian[0, 0]))
            true.append(_differentiate(plant, float(power[k]), path.spot(k)))
        surface = plant.step(float(power[k]), path.spot(k))
    return summarise(np.array(ticks), np.array(ours), np.array(true))


def _differentiate(plant: Plant, power: float, spot: FloatArray) -> float:
    """The plant's own sensitivity by a central difference, K/W; it stays where it is."""
    now = plant.snapshot()
    low, high = max(power - NUDGE, 0.0), power + NUDGE
    ends = []
    for nudged in (low, high):
        ends.append(plant.t_max(plant.step(nudged, spot)).temperature)
        plant.restore(now)
    return (ends[1] - ends[0]) / (high - low)


def summarise(ticks: NDArray[np.intp], ours: FloatArray, true: FloatArray) -> dict[str, Any]:
    """Agreement of sign, mean and median discrepancy, and the points themselves."""
    off = np.abs(ours - true)
    agree = np.sign(ours) == np.sign(true)
    return {
        "points": len(ticks),
        "sign_agreement": float(agree.mean()),
        "disagreeing_ticks": ticks[~agree].tolist(),
        "typical_k_w": float(true.mean()),
        "mean_k_w": float(off.mean()),
        "median_k_w": float(np.median(off)),
        "ticks": ticks.tolist(),
        "surrogate_k_w": ours.tolist(),
        "plant_k_w": true.tolist(),
    }
