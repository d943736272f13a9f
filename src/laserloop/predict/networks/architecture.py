"""What every architecture answers to: settings that know their weights, their inputs and their formula.

n windows      N_h horizon      x branch features      y trunk features      s outputs, all (n, features)
"""

from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise
from math import prod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]
Weights = Mapping[str, NDArray[Any]]  # float32 as trained and stored, double in `forward`
Net = Callable[[FloatArray, FloatArray], FloatArray]

ROW = 5  # power, position, velocity: one row of the branch input
LONGEST_HORIZON = 100  # ticks
WIDEST = 4096  # units of a layer


class Architecture(Protocol):
    """A frozen settings object; the weights are kept outside and handed in."""

    name: ClassVar[str]

    @property
    def horizon(self) -> int:
        """How many ticks ahead it predicts."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by name, in the order they are drawn and stored."""

    def select(self, branch: FloatArray, temps: FloatArray, location: FloatArray) -> tuple[FloatArray, ...]:
        """The features x and y that one evaluation of the network reads from windows."""

    def select_target(self, target: FloatArray, offsets: FloatArray) -> FloatArray:
        """What one evaluation of the network is trained to give for windows with this target.

        `offsets` (n, N_h, 2), m: where T_max(t_{k+i}) is, seen from ξ_{k+i−1}.
        """

    def draw_weights(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Fresh weights, as PyTorch would draw them for its layers."""

    def forward(self, weights: Weights, x: FloatArray, y: FloatArray) -> FloatArray:
        """One evaluation in standardised units."""

    def predict(self, net: Net, branch: FloatArray, temps: FloatArray, location: FloatArray) -> FloatArray:
        """The whole horizon (n, N_h), K, by as many calls of `net` (raw features in, K out) as it takes."""


def check_size(value: object, what: str, most: int) -> None:
    """Refuse a size that is no whole number from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BadInput(f"the {what} must be a whole number from 1 to {most}, got {value!r}: choose another")


def draw_uniform(rng: np.random.Generator, shape: tuple[int, ...], fan_in: int) -> NDArray[np.float32]:
    """Uniform in ±1/√fan_in, PyTorch's default for linear and recurrent layers."""
    bound = 1.0 / np.sqrt(fan_in)
    return rng.uniform(-bound, bound, shape).astype(np.float32)


def split_flat(shapes: Mapping[str, tuple[int, ...]], flat: Any) -> dict[str, Any]:
    """The weights of one flat vector, an array or a tensor, by name; views, not copies."""
    ends = accumulate((prod(shape) for shape in shapes.values()), initial=0)
    parts = zip(shapes.items(), pairwise(ends), strict=True)
    return {name: flat[first:last].reshape(shape) for (name, shape), (first, last) in parts}


def feature_sizes(architecture: Architecture) -> tuple[int, int, int]:
    """How many branch features, trunk features and outputs one evaluation has."""
    horizon = architecture.horizon
    window = np.zeros((1, horizon, ROW)), np.zeros((1, 1 + horizon)), np.zeros((1, 2))
    x, y = architecture.select(*window)
    s = architecture.select_target(np.zeros((1, horizon)), np.zeros((1, horizon, 2)))
    return x.shape[1], y.shape[1], s.shape[1]
