"""HOW GOOD A MODEL IS: its error on fresh trajectories, the margin that covers it, how long it takes.

Errors are taken by the paper's blind protocol: the horizon is predicted from the state at its start alone,
and the next window begins where it ends. No window shares a state to be predicted with another, and errors
grow freely inside each.
"""

import io
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import EXCITATIONS, PREVIEW, Excitation, draw_power
from laserloop.data.store import COLUMNS, open_store, record_path
from laserloop.data.windows import Windows, cut_episode, cut_windows, split_windows
from laserloop.paths import ScanPath, find_path, names_file
from laserloop.plant import make_plant
from laserloop.predict.model import Model
from laserloop.process import Process
from laserloop.store import save
from laserloop.versions import hash_code

__all__ = ["Trajectories", "calibrate", "evaluate", "measure_latency"]

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]

TICKS = 400  # of a trajectory
FRESH = 20_260_000  # seeds of ensembles are small numbers; these streams are of their own
REALISATIONS = 3
QUANTILE = 0.95
CHUNK = 20_000  # windows predicted at once
BLOCK = 50  # calls in a row: long enough to have the weights in the cache, as a controller has them


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Records (states, columns) by path, excitation and realisation; kept in a folder if one is given.

    All models are scored on the same trajectories, so that every difference is the model's. The files' names
    tell the process and the code that made them.
    """

    plant: str = "paper"
    process: Process = field(default_factory=Process)
    folder: Path | None = None
    ticks: int = TICKS

    def get(self, path: str, excitation: Excitation, realisation: int) -> FloatArray:
        """The record of one trajectory."""
        file = self.find_file(path, excitation, realisation)
        if file is None:
            return self._record(path, excitation, realisation)
        if file.exists():
            stored = np.load(file, allow_pickle=False)
            if stored.shape == (self.ticks + 1, len(COLUMNS)):
                return np.asarray(stored, dtype=np.float64)
        values = self._record(path, excitation, realisation)
        stream = io.BytesIO()
        np.save(stream, values)
        save(file, stream.getvalue())
        return values

    def find_file(self, path: str, excitation: Excitation, realisation: int) -> Path | None:
        """Where a trajectory is kept; None if it is not, as a path's file may change under its name."""
        if self.folder is None or names_file(path):
            return None
        name = f"{self.plant}_{path.replace(':', '-')}_{excitation}_{realisation}_{self.ticks}"
        return self.folder / f"{name}_{self.process.hash}_{hash_code()}.npy"

    def _record(self, path: str, excitation: Excitation, realisation: int) -> FloatArray:
        scan = self._long_enough(path)
        rng = np.random.default_rng([FRESH, realisation, EXCITATIONS.index(excitation)])
        power_max = self.process.laser.power[1]
        power = draw_power(excitation, min(self.ticks, len(scan)), rng, power_max=power_max)
        return record_path(make_plant(self.plant, self.process), scan, power)

    def _long_enough(self, path: str) -> ScanPath:
        """Built-in paths go on as long as asked, also for the preview; a file's path is as long as it is."""
        find = partial(find_path, path, self.process)
        if names_file(path):
            whole = find()
            return whole if len(whole) <= self.ticks else whole.truncated(self.ticks)
        return find(ticks=self.ticks + PREVIEW)


@dataclass(frozen=True, slots=True, eq=False)
class PredictionErrors:
    """Prediction minus truth of n windows, (n, N_h), K; the root mean squares are taken over all of them."""

    residual: FloatArray

    @property
    def per_step(self) -> FloatArray:
        """Root mean square error of each tick of the horizon, (N_h,), K."""
        return np.asarray(np.sqrt(np.mean(self.residual**2, axis=0)))

    @property
    def pooled(self) -> float:
        """Root mean square error over the whole horizon, K."""
        return float(np.sqrt(np.mean(self.residual**2)))

    @property
    def worst(self) -> float:
        """The largest absolute error, K."""
        return float(np.abs(self.residual).max())


def measure_blind(
    model: Model,
    records: Sequence[FloatArray],
    *,
    columns: Sequence[str] = COLUMNS,
    noise: float = 0.0,
    seed: int = 0,
) -> PredictionErrors:
    """The errors of `model` on records (states, columns) of episodes, pooled, by the blind protocol.

    T_max and previews are read as the model was trained on; `noise`: standard deviation of what is added to
    every temperature that it is shown, K.
    """
    if not records:
        raise BadInput("an evaluation needs at least one record, got none: give it an episode")
    rng = np.random.default_rng(seed)
    parts = [
        measure_errors(model, _cut(model, values, columns), noise=noise, rng=rng).residual
        for values in records
    ]
    return PredictionErrors(np.concatenate(parts))


def _cut(model: Model, record: FloatArray, columns: Sequence[str] = COLUMNS) -> Windows:
    """Windows of the blind protocol as the model was trained on them: each begins where the last one ends."""
    horizon = model.architecture.horizon
    return cut_episode(
        record, columns, horizon, stride=horizon, reading=model.reading, sampling=model.sampling
    )


def measure_errors(
    model: Model, windows: Windows, *, noise: float = 0.0, rng: np.random.Generator | None = None
) -> PredictionErrors:
    """The errors on windows that do not overlap."""
    _check_apart(windows)
    if not (np.isfinite(noise) and noise >= 0):
        raise BadInput(
            f"the noise must be a standard deviation of 0 K or more, got {noise:g}: choose another"
        )
    temps = windows.temps
    if noise:
        temps = temps + (rng or np.random.default_rng(0)).normal(0.0, noise, temps.shape)
    return PredictionErrors(model.predict(windows.branch, temps, windows.location) - windows.target)


def _check_apart(windows: Windows) -> None:
    """Refuse windows of one episode that begin before the last one's horizon has ended."""
    order = np.lexsort((windows.tick, windows.episode))
    same = np.diff(windows.episode[order]) == 0
    gaps = np.diff(windows.tick[order])[same]
    if gaps.size and gaps.min() < windows.horizon:
        raise BadInput(
            f"windows of the blind protocol must be {windows.horizon} ticks apart, got {gaps.min()}: "
            "cut them with the horizon as stride"
        )


def evaluate(
    model: Model,
    path: str,
    *,
    trajectories: Trajectories | None = None,
    excitations: Iterable[Excitation] = tuple(Excitation),
    realisations: int = REALISATIONS,
    noise: float = 0.0,
    shared: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Horizon RMSE per excitation class, its mean, the worst error and the RMSE of each step, K.

    Each class is the mean over its realisations of the pooled horizon RMSE, as in the paper's Table 1.
    `noise`: standard deviation of what is added to the temperatures that the model is shown, K, to each its
    own, or one draw `shared` by all temperatures of a window.
    """
    trajectories = trajectories or Trajectories()
    kinds = tuple(excitations)
    errors: dict[Excitation, list[PredictionErrors]] = {kind: [] for kind in kinds}
    for n, (kind, realisation) in enumerate(product(kinds, range(realisations)), start=1):
        record = trajectories.get(path, kind, realisation)
        errors[kind].append(_measure(model, record, noise, realisation, shared=shared))
        if progress is not None:
            progress(n, len(kinds) * realisations)
    rmse = {str(kind): float(np.mean([run.pooled for run in runs])) for kind, runs in errors.items()}
    spread = {str(kind): float(np.std([run.pooled for run in runs])) for kind, runs in errors.items()}
    everything = [run for runs in errors.values() for run in runs]
    per_step = {str(kind): _pool_steps(runs) for kind, runs in errors.items()}
    return {
        "path": path,
        "plant": trajectories.plant,
        "rmse_k": rmse,
        "rmse_std_k": spread,
        "rmse_mean_k": float(np.mean(list(rmse.values()))),
        "max_error_k": max(run.worst for run in everything),
        "rmse_per_step_k": _pool_steps(everything),
        "rmse_per_step_of_k": per_step,
        "realisations": realisations,
        "noise_k": noise,
        "noise_shared": shared,
    }


def _pool_steps(runs: Sequence[PredictionErrors]) -> list[float]:
    """The RMSE of each step of the horizon over several runs, K."""
    return [float(step) for step in np.sqrt(np.mean([run.per_step**2 for run in runs], axis=0))]


def _measure(model: Model, record: FloatArray, noise: float, seed: int, *, shared: bool) -> PredictionErrors:
    """The errors on one trajectory, with noise in each temperature or one draw for all of a window."""
    if not shared:
        return measure_blind(model, [record], noise=noise, seed=seed)
    windows = _cut(model, record)
    offset = np.random.default_rng(seed).normal(0.0, noise, (len(windows), 1))
    return measure_errors(model, replace(windows, temps=windows.temps + offset))


def track(
    model: Model, path: str, excitation: Excitation, *, trajectories: Trajectories | None = None
) -> dict[str, Any]:
    """Truth and blind prediction tick by tick along one fresh trajectory, window after window."""
    trajectories = trajectories or Trajectories()
    windows = _cut(model, trajectories.get(path, excitation, 0))
    horizon = windows.horizon
    predicted = model.predict(windows.branch, windows.temps, windows.location)
    ticks = windows.tick[:, np.newaxis] + np.arange(1, horizon + 1)
    return {
        "path": path,
        "excitation": str(excitation),
        "tick": ticks.ravel().tolist(),
        "true_k": windows.target.ravel().tolist(),
        "predicted_k": predicted.ravel().tolist(),
        "horizon": horizon,
    }


def calibrate(model: Model, data: str | Path, *, quantile: float = QUANTILE) -> dict[str, Any]:
    """δ on the held-out part of the windows of a store: over all of them and for each excitation, K.

    The split is the one of the model's training, so that no window it learned from is counted.
    """
    if not 0 < quantile < 1:
        raise BadInput(f"the quantile must lie between 0 and 1, got {quantile:g}: choose 0.95")
    training = model.provenance.get("training", {})
    windows = cut_windows(
        open_store(data),
        model.architecture.horizon,
        reading=model.reading,
        sampling=model.sampling,
    )
    _, held = split_windows(
        windows,
        seed=training.get("seed", 0),
        by=training.get("split", "window"),
        share=training.get("held_out", 0.2),
    )
    part = windows.take(held)
    residual = _find_residuals(model, part)
    per_excitation = {
        str(kind): margins(residual[part.excitation == code], quantile)
        for code, kind in enumerate(EXCITATIONS)
        if (part.excitation == code).any()
    }
    return {
        **margins(residual, quantile),
        "windows": len(residual),
        "quantile": quantile,
        "per_excitation": per_excitation,
        "largest_under_prediction_k": float(max(residual.max(), 0.0)),
    }


def _find_residuals(model: Model, windows: Windows) -> FloatArray:
    """Truth minus prediction of T_max one tick ahead, K; positive is under-predicted."""
    parts = []
    for first in range(0, len(windows), CHUNK):
        part = windows.take(slice(first, first + CHUNK))
        predicted = model.predict(part.branch, part.temps, part.location)
        parts.append(part.target[:, 0] - predicted[:, 0])
    return np.concatenate(parts)


def margins(residual: FloatArray, quantile: float) -> dict[str, float]:
    """One-sided: the quantile of max(0, r); symmetric: of |r|."""
    return {
        "delta_one_sided_k": float(np.quantile(np.maximum(residual, 0.0), quantile)),
        "delta_symmetric_k": float(np.quantile(np.abs(residual), quantile)),
    }


def measure_latency(
    models: Mapping[str, Model], windows: Windows, *, calls: int = 5000
) -> dict[str, dict[str, float]]:
    """Median µs of one window of each model, over `calls` each; they take turns."""
    if calls < BLOCK:
        raise BadInput(f"a latency needs {BLOCK} calls at least, got {calls}: take more")
    parts = windows.branch, windows.temps, windows.location
    few = [tuple(np.ascontiguousarray(part[n : n + 1]) for part in parts) for n in range(len(windows))]
    times: dict[str, list[float]] = {name: [] for name in models}
    for model in models.values():
        model.predict(*few[0])  # loads what it needs
    for first in range(0, calls, BLOCK):
        for name, model in models.items():
            for n in range(first, min(first + BLOCK, calls)):
                start = time.perf_counter()
                model.predict(*few[n % len(few)])
                times[name].append(time.perf_counter() - start)
    return {name: {"numpy_us": 1e6 * float(np.median(spent))} for name, spent in times.items()}
