"""The record of an episode: one row per state, one named column per number.

ξ_k  where the beam is at t_k      P_k  the power during the tick that ends at t_k; P_0 = 0
"""

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import PREVIEW, EnsembleSettings, plan_episode
from laserloop.paths import ScanPath
from laserloop.plant import Plant, Surface, make_plant
from laserloop.plant.sampling import bilinear, lattice, nearest, smooth

FloatArray = NDArray[np.float64]

PATCH_SIZE = 9  # points along a side, the beam in the middle
PATCH_SPACING = 50e-6  # m

COLUMNS = (
    "power_w",  # P_k
    "x_m",  # ξ_k
    "y_m",
    "vx_m_s",  # (ξ_{k+1} − ξ_k)/Δt
    "vy_m_s",
    "t_node_k",  # the hottest node and where it is; of a plate at rest the first
    "node_x_m",
    "node_y_m",
    "t_peak_k",  # the peak between the nodes and where it is
    "peak_x_m",
    "peak_y_m",
    *(f"preview_nearest_{i}_k" for i in range(1, PREVIEW + 1)),  # T(ξ_{k+i}, t_k) of the nearest node
    *(f"preview_bilinear_{i}_k" for i in range(1, PREVIEW + 1)),  # the same, between the nodes
    *(f"preview_smooth_{i}_k" for i in range(1, PREVIEW + 1)),  # the same, by the C¹ cubic
    # Around ξ_k by the C¹ cubic, in single precision: columns run along the heading, rows to its left.
    *(f"patch_{row}_{col}_k" for row in range(PATCH_SIZE) for col in range(PATCH_SIZE)),
)


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeRecord:
    """What was seen in one episode."""

    index: int
    values: FloatArray  # (states, columns)


def record_episode(settings: EnsembleSettings, index: int) -> EpisodeRecord:
    """Run episode `index` of an ensemble."""
    plan = plan_episode(settings, index)
    plant = _keep_plant(settings.plant, settings.process)
    return EpisodeRecord(index, record_path(plant, plan.path, plan.power))


def record_path(plant: Plant, path: ScanPath, power: FloatArray) -> FloatArray:
    """Drive `plant` from rest with one `power` (W) per tick: the record (ticks + 1, columns).

    Previews beyond the path's end go straight on.
    """
    plant.check_path(path)
    if not 1 <= len(power) <= len(path):
        raise BadInput(
            f"a record needs power for 1 to {len(path)} ticks along {path.name}, but got {len(power)}; "
            "make them fit."
        )
    power = np.where(path.lit[: len(power)], power, 0.0)
    values = np.empty((len(power) + 1, len(COLUMNS)))
    values[:, 0] = np.concatenate(([0.0], power))
    values[:, 1:3] = path.positions[: len(values)]
    values[:, 3:5] = path.velocities[: len(values)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        _see(plant.reset(), path, 0, values[0])
        for k in range(len(power)):
            _see(plant.step(float(power[k]), path.spot(k)), path, k + 1, values[k + 1])
    return values


def _see(surface: Surface, path: ScanPath, k: int, row: FloatArray) -> None:
    """Fill the columns that come from the surface at t_k."""
    field = surface.x, surface.y, surface.temperature
    ahead = np.ascontiguousarray(path.preview(k, PREVIEW)[1:])
    around = lattice(path.positions[k], path.headings[k], PATCH_SIZE, PATCH_SPACING)
    row[5:8] = surface.node.temperature, surface.node.x, surface.node.y
    row[8:11] = surface.peak.temperature, surface.peak.x, surface.peak.y
    row[11 : 11 + PREVIEW] = nearest(*field, ahead)
    row[11 + PREVIEW : 11 + 2 * PREVIEW] = bilinear(*field, ahead)
    row[11 + 2 * PREVIEW : 11 + 3 * PREVIEW] = smooth(*field, ahead)
    row[11 + 3 * PREVIEW :] = smooth(*field, around).astype(np.float32)


_keep_plant = lru_cache(maxsize=1)(make_plant)  # one per worker, built once; a reset makes it as new
