"""Model: an architecture, its weights and its scalers, ready to predict without PyTorch."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.data.scaling import Scaler
from laserloop.predict.networks.architecture import ROW, Architecture, FloatArray, Weights
from laserloop.predict.trained_for import TrainedFor
from laserloop.process.camera import Sampling


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scalers:
    """Per-feature standardisation of the branch, the trunk and the target, fitted on the training part."""

    branch: Scaler
    trunk: Scaler
    target: Scaler


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A trained surrogate. Predicts T_max over the horizon from the plan and the thermal state now."""

    architecture: Architecture
    weights: Weights  # float32, as trained and stored
    scalers: Scalers
    trained_for: TrainedFor | None = None  # None: nobody knows
    provenance: dict[str, Any] = field(default_factory=dict)  # JSON: training, data, metrics, versions
    double: Weights = field(init=False, repr=False)  # the same numbers; float32 sums would differ by 1e-4 K

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", {name: w.astype(np.float64) for name, w in self.weights.items()})

    @property
    def margin(self) -> float | None:
        """δ that was calibrated for it and travels with it, K."""
        found = self.provenance.get("calibration", {}).get("delta_one_sided_k")
        return None if found is None else float(found)

    @property
    def reading(self) -> str:
        """How T_max was read in its training: node or peak."""
        return "node" if self.trained_for is None else self.trained_for.reading

    @property
    def sampling(self) -> Sampling:
        """How previews were read in its training."""
        return "nearest" if self.trained_for is None else self.trained_for.sampling

    def predict(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        """T_max (n, N_h), K, for plans (n, N_h, 5), temperatures (n, 1 + N_h), K, and peaks (n, 2), m."""
        horizon = self.architecture.horizon
        want = (horizon, ROW), (1 + horizon,), (2,)
        if (branch.shape[1:], temps.shape[1:], location.shape[1:]) != want:
            got = f"{branch.shape}, {temps.shape} and {location.shape}"
            raise BadInput(
                f"a model of horizon {horizon} must be given plans (n, {horizon}, {ROW}), temperatures "
                f"(n, {1 + horizon}) and peaks (n, 2), got {got}: cut windows of its horizon"
            )
        return self.architecture.predict(self._evaluate, branch, temps, location)

    def _evaluate(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """One evaluation of the network: raw features in, K out."""
        scalers = self.scalers
        standard = self.architecture.forward(self.double, scalers.branch.scale(x), scalers.trunk.scale(y))
        return scalers.target.unscale(standard)
