"""Networks whose formula is written once and runs in NumPy and in PyTorch alike.

xp  numpy or torch      x (n, N) plans      y (n, features) surroundings      s (n, outputs), all standardised
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.learned.surroundings import PLACES
from laserloop.predict.networks.architecture import draw_uniform

Weights = Mapping[str, Any]
Shapes = dict[str, tuple[int, ...]]


@runtime_checkable
class ArrayNet(Protocol):
    """A frozen settings object; the weights are kept outside and handed in."""

    name: ClassVar[str]
    affine: ClassVar[bool]  # s is affine in x
    quantiles: ClassVar[tuple[float, ...]]  # of each tick, one after another in s; none: the mean

    def shapes(self) -> Shapes:
        """The shape of every weight, by name, in the order they are drawn and stored."""

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """s of plans and surroundings."""


def pick(y: Any, *names: str) -> list[Any]:
    """Parts of the surroundings."""
    return [y[:, PLACES[name]] for name in names]


def dense_shapes(name: str, *widths: int) -> Shapes:
    """The weights of layers of these widths, one after another."""
    found: Shapes = {}
    for k in range(len(widths) - 1):
        found[f"{name}.{k}.weight"] = widths[k + 1], widths[k]
        found[f"{name}.{k}.bias"] = (widths[k + 1],)
    return found


def dense(xp: Any, weights: Weights, name: str, z: Any, layers: int) -> Any:
    """Layers with tanh between them."""
    for k in range(layers):
        z = z @ weights[f"{name}.{k}.weight"].T + weights[f"{name}.{k}.bias"]
        if k + 1 < layers:
            z = xp.tanh(z)
    return z


def count_affine(horizon: int) -> int:
    """Outputs that a control-affine head needs: a base and the slopes of a causal plan."""
    return horizon + horizon * (horizon + 1) // 2


def apply_affine(xp: Any, head: Any, x: Any) -> Any:
    """b + G x, G lower triangular and without a negative slope: more power is never colder."""
    horizon = x.shape[1]
    base, raw = head[:, :horizon], head[:, horizon:]
    slopes = 0.5 * (raw + (raw * raw + 1.0) ** 0.5)
    ticks, start = [], 0
    for i in range(horizon):
        ticks.append(base[:, i] + (slopes[:, start : start + i + 1] * x[:, : i + 1]).sum(-1))
        start += i + 1
    return xp.stack(ticks, -1)


def draw_weights(net: ArrayNet, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Fresh weights, uniform in ±1/√fan-in."""
    shapes = net.shapes()
    drawn = {}
    for name, shape in shapes.items():
        of = shapes[name.removesuffix("bias") + "weight"] if name.endswith("bias") else shape
        drawn[name] = draw_uniform(rng, shape, int(np.prod(of[1:])) or 1)
    return drawn
