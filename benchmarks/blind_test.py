"""A blind test: what predictors say of episodes whose powers are given, by the paper's blind protocol.

Every predictor sees the same images and ways as in the loop. Each fifth tick it is asked what the powers that
are really given next will lead to, and no window shares a tick to be predicted with another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from laserloop.data import PREVIEW, draw_power
from laserloop.loop import look_ahead
from laserloop.paths import ScanPath, find_path
from laserloop.paths.path import SETTLING_TICKS
from laserloop.plant import Camera, make_plant
from laserloop.predict import Predictor
from laserloop.process import find_process
from laserloop.studies.arena.training_set import PLANT, PROCESS, TICKS, draw_factors, plan_blindly

FloatArray = NDArray[np.float64]

AHEAD = 5  # ticks that are judged, and from one question to the next
NEAR, WIDE = "near", "persistent"  # the window, as a controller keeps it; and the paper's slow excitation


@dataclass(frozen=True, slots=True)
class Episode:
    """A path and how its power is shaken."""

    family: str
    seed: int
    shake: str

    def draw(self) -> tuple[ScanPath, FloatArray]:
        """The path and the power of each tick, W."""
        process = find_process(PROCESS)
        name, ticks = f"{self.family}:{self.seed}", TICKS + PREVIEW
        path = find_path(name, process, ticks=ticks)
        rng = np.random.default_rng((self.seed, len(self.shake)))
        if self.shake == WIDE:
            power = draw_power(WIDE, TICKS, rng, power_max=process.laser.power[1])
        else:
            power = np.clip(
                plan_blindly(process, path)[:TICKS] * draw_factors(TICKS, rng), *process.laser.power
            )
        return path, np.where(path.lit[:TICKS], power, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A predictor, and how its camera reads the peak: between the pixels, or the hottest one."""

    predictor: Predictor
    subgrid: bool = True


def test_blindly(candidates: Mapping[str, Candidate], episode: Episode) -> dict[str, FloatArray]:
    """Residuals (windows, AHEAD) of each, K: prediction minus truth, where all ticks are lit and settled."""
    path, power = episode.draw()
    process = find_process(PROCESS)
    plant = make_plant(PLANT, process)
    cameras = {
        subgrid: Camera(replace(process.camera, subgrid=subgrid, sampling="smooth" if subgrid else "nearest"))
        for subgrid in (True, False)
    }
    for candidate in candidates.values():
        candidate.predictor.reset()
    surface, truth = plant.reset(), np.empty(TICKS)
    told: dict[str, dict[int, FloatArray]] = {name: {} for name in candidates}
    for k in range(TICKS):
        images = {subgrid: camera.see(surface) for subgrid, camera in cameras.items()}
        for name, candidate in candidates.items():
            found = _ask(candidate, images[candidate.subgrid], path, power, k)
            if found is not None:
                told[name][k] = found
        surface = plant.step(float(power[k]), path.spot(k))
        truth[k] = plant.t_max(surface).temperature
    counts = path.counted[:TICKS] & (power > 0.0)
    chosen = [k for k in range(SETTLING_TICKS, TICKS - AHEAD, AHEAD) if counts[k : k + AHEAD].all()]
    return {
        name: np.array([said[k][:AHEAD] - truth[k : k + AHEAD] for k in chosen if k in said])
        for name, said in told.items()
    }


def _ask(candidate: Candidate, image: object, path: ScanPath, power: FloatArray, k: int) -> FloatArray | None:
    """What a predictor says of the next ticks, K, if it is asked at this one."""
    predictor = candidate.predictor
    preview = look_ahead(path, k, list(power[:k]), predictor.horizon, predictor.memory)
    forecast = predictor.observe(image, preview)  # type: ignore[arg-type]
    if forecast is None or k % AHEAD or k + predictor.horizon > TICKS:
        return None
    plan = power[k : k + predictor.horizon]
    return forecast.linearise(plan)[0]
