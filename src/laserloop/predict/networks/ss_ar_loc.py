"""SS-AR that knows where the peak is: T_max and its place one tick ahead, fed back along the horizon."""

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

STATE = 3  # T_max, and where it is from the beam
PLACE = slice(1, 3)  # of the beam in a row of the branch


@dataclass(frozen=True, slots=True, kw_only=True)
class SsArLoc:
    """The paper's outlook: outputs (T_max, X_max, Y_max), so that a rollout follows the moving peak.

    Places are those of the peak seen from where the beam is when a tick begins.
    """

    name: ClassVar[str] = "ss-ar-loc"
    horizon: int = 5  # ticks; only `predict` knows it, the weights are those of one tick
    width: int = 128  # units of each hidden layer
    basis: int = 100  # terms of the inner product

    def __post_init__(self) -> None:
        check_size(self.horizon, "horizon", LONGEST_HORIZON)
        check_size(self.width, "width", WIDEST)
        check_size(self.basis, "basis", WIDEST)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by name."""
        return deeponet_shapes(ROW, STATE, STATE, self.width, self.basis)

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """The first row; T_max and where it is from the beam."""
        return branch[:, 0], np.concatenate((temps[:, :1], location - branch[:, 0, PLACE]), axis=1)

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """The first tick: T_max and where it is."""
        return np.concatenate((target[:, :1], offsets[:, 0]), axis=1)

    def draw_weights(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Fresh weights."""
        return draw_deeponet(rng, self.shapes())

    def forward(self, weights: Weights, x: FloatArray, y: FloatArray) -> FloatArray:
        """s_i = Σ_j B_ij(x) T_j(y) + b_i."""
        return deeponet(weights, x, y)

    def predict(self, net: Net, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        """Tick by tick, each from the peak that the one before predicts, seen from the beam."""
        hottest, place = temps[:, :1], location
        ticks = []
        for i in range(self.horizon):
            beam = branch[:, i, PLACE]
            state = net(branch[:, i], np.concatenate((hottest, place - beam), axis=1))
            hottest, place = state[:, :1], beam + state[:, 1:]
            ticks.append(hottest)
        return np.concatenate(ticks, axis=1)
