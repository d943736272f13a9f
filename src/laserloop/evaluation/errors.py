"""Errors of a surrogate against the plant, by the paper's blind protocol.

The horizon is predicted from the state at its start alone, and the next window begins where it ends: no
window shares a state to be predicted with another, and errors grow freely inside each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.record import COLUMNS
from laserloop.data.windows import Windows, cut_episode
from laserloop.predict.model import Model

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
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

    @property
    def bias(self) -> float:
        """The mean error, K; positive where the surrogate believes in more heat than there is."""
        return float(self.residual.mean())

    def to_json(self) -> dict[str, Any]:
        """The numbers of a table's row."""
        return {
            "windows": len(self.residual),
            "rmse_k": self.pooled,
            "rmse_per_step_k": self.per_step.tolist(),
            "worst_k": self.worst,
            "bias_k": self.bias,
        }


def evaluate(
    model: Model,
    records: Sequence[FloatArray],
    *,
    columns: Sequence[str] = COLUMNS,
    noise: float = 0.0,
    seed: int = 0,
) -> Errors:
    """The errors of `model` on records (states, columns) of episodes, pooled, by the blind protocol.

    T_max and previews are read as the model was trained on; `noise`: standard deviation of what is added to
    every temperature that it is shown, K.
    """
    if not records:
        raise BadInput("an evaluation needs at least one record, got none: give it an episode")
    horizon = model.architecture.horizon
    rng = np.random.default_rng(seed)
    residuals = []
    for values in records:
        windows = cut_episode(
            values, columns, horizon, stride=horizon, reading=model.reading, sampling=model.sampling
        )
        residuals.append(measure_errors(model, windows, noise=noise, rng=rng).residual)
    return Errors(np.concatenate(residuals))


def measure_errors(
    model: Model, windows: Windows, *, noise: float = 0.0, rng: np.random.Generator | None = None
) -> Errors:
    """The errors on windows that do not overlap."""
    check_apart(windows)
    if not (np.isfinite(noise) and noise >= 0):
        raise BadInput(
            f"the noise must be a standard deviation of 0 K or more, got {noise:g}: choose another"
        )
    temps = windows.temps
    if noise:
        temps = temps + (rng or np.random.default_rng(0)).normal(0.0, noise, temps.shape)
    return Errors(model.predict(windows.branch, temps, windows.location) - windows.target)


def check_apart(windows: Windows) -> None:
    """Refuse windows of one episode that begin before the last one's horizon has ended."""
    order = np.lexsort((windows.tick, windows.episode))
    same = np.diff(windows.episode[order]) == 0
    gaps = np.diff(windows.tick[order])[same]
    if gaps.size and gaps.min() < windows.horizon:
        raise BadInput(
            f"windows of the blind protocol must be {windows.horizon} ticks apart, got {gaps.min()}: "
            "cut them with the horizon as stride"
        )
