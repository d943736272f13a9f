"""MS-DeepONet, the paper's surrogate: the whole horizon in one evaluation."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
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

TRUNKS = ("temps", "loc", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class MsDeepONet:
    """The branch reads the planned actuation (N_h rows), the trunk the thermal state now."""

    name: ClassVar[str] = "ms-deeponet"
    horizon: int = 5  # ticks
    width: int = 128  # units of each hidden layer
    basis: int = 100  # terms of the inner product
    trunk: str = "temps"  # temps: T_max and previews; loc: T_max and where it is; both: all of these

    def __post_init__(self) -> None:
        check_size(self.horizon, "horizon", LONGEST_HORIZON)
        check_size(self.width, "width", WIDEST)
        check_size(self.basis, "basis", WIDEST)
        if self.trunk not in TRUNKS:
            raise BadInput(f"the trunk must be one of {', '.join(TRUNKS)}, got {self.trunk!r}: choose one")

    @property
    def seen(self) -> range | tuple[int, ...]:
        """The entries that the trunk reads of temperatures (1 + N_h) and peak (2), side by side."""
        if self.trunk == "loc":
            return 0, 1 + self.horizon, 2 + self.horizon
        return range(3 + self.horizon if self.trunk == "both" else 1 + self.horizon)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by name."""
        return deeponet_shapes(ROW * self.horizon, len(self.seen), self.horizon, self.width, self.basis)

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """All branch rows side by side; the trunk's temperatures and, if it wants it, the peak's place."""
        state = np.concatenate((temps, location), axis=1)
        return branch.reshape(-1, ROW * self.horizon), state.take(self.seen, axis=1)

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """All of the horizon."""
        return target

    def draw_weights(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Fresh weights."""
        return draw_deeponet(rng, self.shapes())

    def forward(self, weights: Weights, x: FloatArray, y: FloatArray) -> FloatArray:
        """s_i = Σ_j B_ij(x) T_j(y) + b_i."""
        return deeponet(weights, x, y)

    def predict(self, net: Net, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        """One shot."""
        return net(*self.select(branch, temps, location))
