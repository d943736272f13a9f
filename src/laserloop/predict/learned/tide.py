"""TiDE, the time-series dense encoder: the past and what is known of the future in, the whole horizon out.

    e = encoder(past T, past P, c(known at each tick))      d = decoder(e), some numbers for each coming tick
    s_i = temporal decoder(d_i, known at tick i) + a line through the past

Known of the coming ticks are the planned power, the way and the temperature there now. Every block is a
hidden layer with a bypass. Quantiles are learned by the pinball loss.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from laserloop.predict.learned.array_net import Shapes, Weights, dense, dense_shapes, pick
from laserloop.predict.learned.surroundings import HISTORY, HORIZON, SIZES

KNOWN = 4  # numbers of a coming tick: power, way along and aside, temperature there
UPPER = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Tide:
    """The mean of every coming tick."""

    name: ClassVar[str] = "tide"
    affine: ClassVar[bool] = False
    quantiles: ClassVar[tuple[float, ...]] = ()
    width: int = 96  # of hidden layers
    code: int = 8  # numbers for each coming tick

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        return tide_shapes(self.width, self.code, 1)

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """One shot."""
        return run_tide(xp, weights, x, y, self.code)[..., 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class TideQuantile:
    """The median and an upper quantile of every coming tick; all medians first."""

    name: ClassVar[str] = "tide-quantile"
    affine: ClassVar[bool] = False
    quantiles: ClassVar[tuple[float, ...]] = (0.5, UPPER)
    width: int = 96  # of hidden layers
    code: int = 8  # numbers for each coming tick

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        return tide_shapes(self.width, self.code, 2)

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """One shot; the upper quantile lies above the median by a number that cannot be negative."""
        found = run_tide(xp, weights, x, y, self.code)
        median, raw = found[..., 0], found[..., 1]
        return xp.concatenate((median, median + 0.5 * (raw + (raw * raw + 0.01) ** 0.5)), 1)


def tide_shapes(width: int, code: int, outputs: int) -> Shapes:
    """The weights of all blocks."""
    past = 2 * HISTORY + SIZES["behind"]
    into = past + KNOWN * HORIZON
    return {
        **block_shapes("encoder", into, width, width),
        **block_shapes("decoder", width, width, code * HORIZON),
        **block_shapes("tick", code + KNOWN, width // 3, outputs),
        **dense_shapes("line", HISTORY, HORIZON),
    }


def block_shapes(name: str, into: int, width: int, out: int) -> Shapes:
    """A hidden layer and its bypass."""
    return {**dense_shapes(name, into, width, out), **dense_shapes(f"{name}.bypass", into, out)}


def run_block(xp: Any, weights: Weights, name: str, z: Any) -> Any:
    """A hidden layer and its bypass."""
    return dense(xp, weights, name, z, 2) + dense(xp, weights, f"{name}.bypass", z, 1)


def run_tide(xp: Any, weights: Weights, x: Any, y: Any, code: int) -> Any:
    """(n, N, outputs)."""
    heat, powers, behind, ahead, coming = pick(y, "heat", "powers", "behind", "ahead", "coming")
    known = xp.stack((x, ahead[:, :HORIZON], ahead[:, HORIZON:], coming), -1)
    n = len(x)
    seen = xp.concatenate((heat, powers, behind, known.reshape(n, -1)), 1)
    coded = xp.tanh(run_block(xp, weights, "encoder", seen))
    decoded = xp.tanh(run_block(xp, weights, "decoder", coded)).reshape(n, HORIZON, code)
    found = run_block(xp, weights, "tick", xp.concatenate((decoded, known), -1))
    line = dense(xp, weights, "line", heat, 1)
    return found + line[..., None]
