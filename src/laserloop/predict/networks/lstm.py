"""The one-shot LSTM: reads the planned actuation row by row, the thermal state beside each row.

z (n, 5 + 1 + N_h) one row and the trunk's temperatures      h, c (n, hidden) output and memory
i, f, g, o = W z + U h + b + b′, four gates of `hidden` rows each, in this order
c ← σ(f) c + σ(i) tanh(g)      h ← σ(o) tanh(c)      s_k = r · h_k + q
"""

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
    draw_uniform,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lstm:
    """One recurrent layer and a linear read-out, the same at every tick of the horizon."""

    name: ClassVar[str] = "lstm"
    horizon: int = 5  # ticks
    hidden: int = 128  # units of the layer

    def __post_init__(self) -> None:
        check_size(self.horizon, "horizon", LONGEST_HORIZON)
        check_size(self.hidden, "hidden size", WIDEST)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by name."""
        gates = 4 * self.hidden
        return {
            "input.weight": (gates, ROW + 1 + self.horizon),
            "hidden.weight": (gates, self.hidden),
            "input.bias": (gates,),
            "hidden.bias": (gates,),
            "readout.weight": (1, self.hidden),
            "readout.bias": (1,),
        }

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """All branch rows side by side, and the trunk's temperatures."""
        return branch.reshape(-1, ROW * self.horizon), temps

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """All of the horizon."""
        return target

    def draw_weights(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Fresh weights."""
        return {name: draw_uniform(rng, shape, self.hidden) for name, shape in self.shapes().items()}

    def forward(self, weights: Weights, x: FloatArray, y: FloatArray) -> FloatArray:
        """s_k = r · h_k + q for every tick k."""
        W, U, r = (weights[f"{name}.weight"] for name in ("input", "hidden", "readout"))
        bias = weights["input.bias"] + weights["hidden.bias"]
        state_part = y @ W[:, ROW:].T + bias  # the same at every tick
        h = c = np.zeros((len(x), self.hidden))
        ticks = []
        for k in range(self.horizon):
            gates = x[:, ROW * k : ROW * (k + 1)] @ W[:, :ROW].T + state_part + h @ U.T
            i, f, g, o = np.split(gates, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            ticks.append(h @ r.T + weights["readout.bias"])
        return np.concatenate(ticks, axis=1)

    def predict(self, net: Net, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        """One shot."""
        return net(*self.select(branch, temps, location))


def sigmoid(x: FloatArray) -> FloatArray:
    """1/(1 + e⁻ˣ) = (1 + tanh(x/2))/2, which cannot overflow."""
    return 0.5 * np.tanh(0.5 * x) + 0.5
