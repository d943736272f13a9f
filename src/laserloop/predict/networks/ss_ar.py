"""SS-AR, the single-step DeepONet: one tick ahead, and the horizon by feeding it its own predictions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.networks.architecture import (
    LONGEST_HORIZON,
    ROW,
    WIDEST,
    FloatArray,
    Net,
    Weights,
    check_size,
)
from laserloop.predict.networks.deeponet import deeponet, deeponet_shapes, draw_deeponet


@dataclass(frozen=True, slots=True, kw_only=True)
class SsAr:
    """The branch reads one row of actuation, the trunk T_max alone: errors compound along the horizon."""

    name: ClassVar[str] = "ss-ar"
    horizon: int = 5  # ticks; only `predict` knows it, the weights are those of one tick
    width: int = 128  # units of each hidden layer
    basis: int = 100  # terms of the inner product

    def __post_init__(self) -> None:
        check_size(self.horizon, "horizon", LONGEST_HORIZON)
        check_size(self.width, "width", WIDEST)
        check_size(self.basis, "basis", WIDEST)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by name."""
        return deeponet_shapes(ROW, 1, 1, self.width, self.basis)

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """The first row and T_max."""
        return branch[:, 0], temps[:, :1]

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """The first tick."""
        return target[:, :1]

    def draw_weights(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Fresh weights."""
        return draw_deeponet(rng, self.shapes())

    def forward(self, weights: Weights, x: FloatArray, y: FloatArray) -> FloatArray:
        """s = Σ_j B_j(x) T_j(y) + b."""
        return deeponet(weights, x, y)

    def predict(self, net: Net, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        """Tick by tick, each from the prediction of the one before."""
        hottest = temps[:, :1]
        ticks = []
        for i in range(self.horizon):
            hottest = net(branch[:, i], hottest)
            ticks.append(hottest)
        return np.concatenate(ticks, axis=1)
