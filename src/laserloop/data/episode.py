"""An episode: the open-loop record of a plant driven along a path, one entry per tick, taken at its end.

A long one keeps a checkpoint: how far it has come, in one file that is replaced now and then. Killed at any
moment, the same simulation goes on from the file to the same bytes as an unbroken one.
"""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput, check_kind
from laserloop.paths import ScanPath
from laserloop.plant import Plant, PlantSettings, Snapshot, Surface
from laserloop.plant.camera import SAMPLERS
from laserloop.process.process import Sampling
from laserloop.store import save

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[np.generic]]
Progress = Callable[[int, int], None]  # ticks done, ticks in all

WINDOW = (760.0, 800.0)  # K, where the paper wants T_max
EVERY = 30.0  # s between two checkpoints
FILE = "checkpoint.npz"
SHARP = np.pi / 4  # rad, a smaller change of heading within two ticks is no turn


@dataclass(frozen=True, slots=True)
class _Summary:
    """How T_max lay against a window, over the ticks that count."""

    ticks_above: int  # that count above it,
    ticks_below: int  # and below
    lowest: float  # K, of those that count below
    highest: float  # K, of those that count above
    above: int  # ticks
    below: int  # ticks

    @property
    def swing(self) -> float:
        """Highest minus lowest T_max, K."""
        return self.highest - self.lowest


# No slots: cached_property keeps the turns.
@dataclass(frozen=True, kw_only=True, eq=False)
class Episode:
    """What a plant did under a given power; entry k belongs to t = (k+1)Δt."""

    path: str
    settings: PlantSettings
    grid: str  # how fine the plant is, in a line
    start: FloatArray  # (2,), m, where the beam was at t = 0
    t: FloatArray  # (n,), s
    positions: FloatArray  # (n, 2), m, of the beam
    lit: NDArray[np.bool_]  # (n,), may the laser be on during the tick that ends here?
    counts_above: NDArray[np.bool_]  # (n,), the ticks that count above a window: lit ones,
    counts_below: NDArray[np.bool_]  # and below it: settled ones, unless who knows the twin says more exactly
    power: FloatArray  # (n,), W, during the tick that ends here
    t_max: FloatArray  # (n,), K, of the hottest node
    t_peak: FloatArray  # (n,), K, between the nodes
    peak_positions: FloatArray  # (n, 2), m, where t_peak is
    ahead: FloatArray  # (n,), K, where the beam will be a tick later; NaN unless asked for
    melt: FloatArray  # (n, 3), m, length, width and depth of the melt pool; 0 where nothing is liquid
    hottest: Surface  # at the tick with the highest temperature
    books: dict[str, float]  # J: absorbed, lost, stored
    ms_per_step: float  # mean wall time of a plant step; the first, which may compile, only if alone
    notes: tuple[str, ...] = ()  # what a reader should know; sentences without their full stop

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def plant(self) -> str:
        """The plant's name."""
        return self.settings.name

    @property
    def temperature(self) -> FloatArray:
        """What this plant calls T_max: between the nodes, or at the hottest node as in the paper, K."""
        return self.t_peak if self.settings.subgrid else self.t_max

    @property
    def hottest_tick(self) -> int:
        """The index of the highest temperature."""
        return int(np.argmax(self.temperature))

    @cached_property
    def turns(self) -> NDArray[np.intp]:
        """The ticks within which, or at whose end, the beam turns sharply."""
        return find_turns(np.vstack((self.start, self.positions)))

    def summarise(self, window: tuple[float, float] | None = None) -> _Summary:
        """T_max against a window, that of the process unless given, in the ticks that count on each side."""
        low, high = window or self.settings.process.window
        hot, cold = self.temperature[self.counts_above], self.temperature[self.counts_below]
        return _Summary(
            ticks_above=len(hot),
            ticks_below=len(cold),
            lowest=float(cold.min()),
            highest=float(hot.max()),
            above=int(np.count_nonzero(hot > high)),
            below=int(np.count_nonzero(cold < low)),
        )

    def to_json(self) -> dict[str, Any]:
        """All but the surface, as plain numbers and lists; units are in the names."""
        s = self.settings
        return {
            "version": version("laserloop"),
            "path": self.path,
            "plant": self.plant,
            "process": s.process.to_json(),
            "notes": list(self.notes),
            "ticks": len(self),
            "grid": self.grid,
            "t_s": self.t.tolist(),
            "x_mm": (self.positions[:, 0] * 1e3).tolist(),
            "y_mm": (self.positions[:, 1] * 1e3).tolist(),
            "lit": self.lit.tolist(),
            "power_w": self.power.tolist(),
            "t_max_k": self.t_max.tolist(),
            "t_peak_k": self.t_peak.tolist(),
            "peak_x_mm": (self.peak_positions[:, 0] * 1e3).tolist(),
            "peak_y_mm": (self.peak_positions[:, 1] * 1e3).tolist(),
            **({} if np.isnan(self.ahead).all() else {"t_ahead_k": self.ahead.tolist()}),
            "energy_j": dict(self.books),
            "ms_per_step": self.ms_per_step,
            **self._tell_melt(),
        }

    def _tell_melt(self) -> dict[str, list[float]]:
        """The melt pool's extents, if anything melts."""
        if not self.melt.any():
            return {}
        names = ("melt_length_um", "melt_width_um", "melt_depth_um")
        return {name: (1e6 * side).tolist() for name, side in zip(names, self.melt.T, strict=True)}


def simulate(
    plant: Plant,
    path: ScanPath,
    power: ArrayLike,
    *,
    start: Snapshot | None = None,
    sampling: Sampling | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Episode:
    """Drive `plant` along `path`, with one `power` in W for each tick, which holds while the laser is on.

    From rest, or from what it was at `start`. A tick that is partly dark gets its lit share of the energy.
    `sampling`: also note T(ξ_{k+1}, t_k), read in this way.

    With a `folder` it keeps a checkpoint there every 30 s, and goes on from one that it finds.
    """
    check_kind(
        path, ScanPath, "the path of a simulation", "take find_path('diagonal') or read a file with it"
    )
    shares = path.lit_shares
    power = np.where(shares > 0, _check_power(power, path) * shares, 0.0)
    plant.check_path(path)
    laps = []
    nodal, ahead = np.zeros(len(path)), np.full(len(path), np.nan)
    peaks, melt = np.zeros((len(path), 3)), np.zeros((len(path), 3))
    hottest, first = plant.reset() if start is None else plant.restore(start), 0
    checkpoint = None if folder is None else Checkpoint(folder, plant, path, power, sampling, start)
    if checkpoint is not None and (kept := checkpoint.load(plant)) is not None:
        first, hottest = _take_up(kept, nodal, ahead, peaks, melt)
    for k in range(first, len(path)):
        began = perf_counter()
        surface = plant.step(float(power[k]), path.spot(k))
        laps.append(perf_counter() - began)
        peak = surface.peak
        nodal[k] = surface.node.temperature
        peaks[k] = peak.temperature, peak.x, peak.y
        if sampling is not None:
            ahead[k] = _look_ahead(surface, path, k + 1, sampling)
        if pool := plant.melt_pool(surface):
            melt[k] = pool.length, pool.width, pool.depth
        if k == 0 or plant.t_max(surface).temperature > plant.t_max(hottest).temperature:
            hottest = surface
        if checkpoint is not None and (checkpoint.is_due() or k == len(path) - 1):
            checkpoint.save(plant, _write_down(k + 1, nodal, ahead, peaks, melt, hottest))
        if progress is not None:
            progress(k + 1, len(path))
    return Episode(
        path=path.name,
        settings=plant.settings,
        grid=plant.describe(),
        start=path.positions[0].copy(),
        t=path.times[1:],
        positions=path.positions[1:].copy(),
        lit=path.lit,
        counts_above=path.counted if plant.settings.name == "paper" else path.lit,
        counts_below=path.counted,
        power=power,
        t_max=nodal,
        t_peak=peaks[:, 0].copy(),
        peak_positions=peaks[:, 1:].copy(),
        ahead=ahead,
        melt=melt,
        hottest=hottest,
        books=plant.books,
        ms_per_step=1e3 * float(np.mean(laps[1:] or laps or [0.0])),
        notes=path.notes,
    )


def _look_ahead(surface: Surface, path: ScanPath, k: int, sampling: Sampling) -> float:
    """What a camera sees at t_k where the beam will be a tick later, K."""
    ahead = np.ascontiguousarray(path.preview(k, 1)[1:])
    return float(SAMPLERS[sampling](surface.x, surface.y, surface.temperature, ahead)[0])


def _write_down(
    ticks: int, nodal: FloatArray, ahead: FloatArray, peaks: FloatArray, melt: FloatArray, hottest: Surface
) -> Arrays:
    """The record so far, by name."""
    return {
        "ticks": np.array(ticks),
        "nodal": nodal[:ticks],
        "ahead": ahead[:ticks],
        "peaks": peaks[:ticks],
        "melt": melt[:ticks],
        "hottest_x": hottest.x,
        "hottest_y": hottest.y,
        "hottest": hottest.temperature,
        "hottest_time": np.array(hottest.time),
    }


def _take_up(
    kept: Mapping[str, Any], nodal: FloatArray, ahead: FloatArray, peaks: FloatArray, melt: FloatArray
) -> tuple[int, Surface]:
    """Fill in the record so far; its ticks and the hottest surface in them."""
    ticks = int(kept["ticks"])
    nodal[:ticks], peaks[:ticks], melt[:ticks] = kept["nodal"], kept["peaks"], kept["melt"]
    ahead[:ticks] = kept.get("ahead", np.nan)  # not in files of before
    hottest = Surface(kept["hottest_x"], kept["hottest_y"], kept["hottest"], float(kept["hottest_time"]))
    return ticks, hottest


def find_turns(positions: FloatArray) -> NDArray[np.intp]:
    """The hops between (n+1, 2) positions around which the heading changes by 45° or more, one per turn."""
    dx, dy = np.diff(positions, axis=0).T
    heading = np.arctan2(dy, dx)
    # A corner inside a hop is spread over both of its ends, so headings are compared across one hop.
    change = heading[2:] - heading[:-2]
    change = np.abs((change + np.pi) % (2 * np.pi) - np.pi)
    sharp = np.flatnonzero(change > SHARP - 1e-9)
    runs = np.split(sharp, np.flatnonzero(np.diff(sharp) > 1) + 1)
    return np.array([run[np.argmax(change[run])] + 1 for run in runs if len(run)], dtype=np.intp)


def _check_power(power: ArrayLike, path: ScanPath) -> FloatArray:
    power = np.array(power, dtype=np.float64)
    if power.shape != (len(path),):
        raise BadInput(
            f"power must hold one value for each of the {len(path)} ticks of {path.name}, "
            f"but has shape {power.shape}; give one per tick."
        )
    return power


class Checkpoint:
    """One simulation's file in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        plant: Plant,
        path: ScanPath,
        power: NDArray[np.float64],
        sampling: Sampling | None = None,
        start: Snapshot | None = None,
    ) -> None:
        """The folder is made; one that belongs to another simulation is refused."""
        self._file = folder / FILE
        self._name = _name(plant, path, power, sampling) + _name_start(start)
        self._last = monotonic()
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, plant: Plant) -> Mapping[str, NDArray[np.generic]] | None:
        """Bring the plant to where the file left it: the record so far, or None without a file."""
        if not self._file.exists():
            return None
        try:
            with np.load(self._file) as kept:
                arrays = dict(kept)
        except (OSError, ValueError, EOFError, BadZipFile):
            raise BadInput(f"{self._file} must be a checkpoint, but it cannot be read; delete it") from None
        if str(arrays.get("name")) != self._name:
            raise BadInput(
                f"{self._file.parent} must belong to this simulation, but it holds one of another path, "
                "power, process, plant or start; take another folder."
            )
        plant.restore(Snapshot.from_arrays(arrays))
        return arrays

    def is_due(self) -> bool:
        """Has enough time passed since the last one?"""
        return monotonic() - self._last >= EVERY

    def save(self, plant: Plant, record: Arrays) -> None:
        """Replace the file by the state of now and the record so far, all at once."""
        arrays: dict[str, Any] = {"name": np.array(self._name), **plant.snapshot().to_arrays(), **record}
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        save(self._file, stream.getvalue())
        self._last = monotonic()


def _name(plant: Plant, path: ScanPath, power: NDArray[np.float64], sampling: Sampling | None) -> str:
    """What the file belongs to: plant, path and powers, whatever the path is called."""
    digest = blake2b(digest_size=16)
    s = plant.settings
    told = (s.name, s.process.to_json(), s.absorbed, s.refine, s.tolerance, plant.identity)
    digest.update(json.dumps(told, sort_keys=True).encode())
    digest.update((sampling or "").encode())
    for array in (path.positions, path.lit, power):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _name_start(start: Snapshot | None) -> str:
    """What the plate was like before; nothing for one at rest."""
    if start is None:
        return ""
    digest = blake2b(digest_size=16)
    for name, part in sorted(start.to_arrays().items()):
        digest.update(name.encode() + np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
