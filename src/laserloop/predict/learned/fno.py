"""A small Fourier neural operator on the surface patch, with a control-affine head.

    v ← tanh(W v + F⁻¹ R F v)      v (n, channels, 9, 9)      F the lowest modes of the patch, R learned

The patch is not periodic: it is widened by holding its edge, as operators for such fields do.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from laserloop.data.record import PATCH_SIZE
from laserloop.predict.learned.array_net import (
    Shapes,
    Weights,
    apply_affine,
    count_affine,
    dense,
    dense_shapes,
    pick,
)
from laserloop.predict.learned.surroundings import HORIZON, SIZES

PAD = 2  # points on either side
SIDE = PATCH_SIZE + 2 * PAD
SEES = ("heat", "powers", "ahead", "coming")


def make_modes(count: int) -> NDArray[np.float32]:
    """(waves, points): the constant and the lowest `count` cosines and sines along a side, orthonormal."""
    place = np.arange(SIDE) / SIDE
    rows = [np.full(SIDE, 1.0 / np.sqrt(SIDE))]
    for k in range(1, count + 1):
        rows += [np.sqrt(2.0 / SIDE) * wave(2.0 * np.pi * k * place) for wave in (np.cos, np.sin)]
    return np.stack(rows).astype(np.float32)


def make_pad() -> NDArray[np.float32]:
    """(padded, points): holds the edge."""
    chosen = np.clip(np.arange(SIDE) - PAD, 0, PATCH_SIZE - 1)
    return np.eye(PATCH_SIZE, dtype=np.float32)[chosen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fno:
    """Two Fourier layers read the patch, then a hidden layer reads them together with path and powers."""

    name: ClassVar[str] = "fno"
    affine: ClassVar[bool] = True
    quantiles: ClassVar[tuple[float, ...]] = ()
    channels: int = 4
    modes: int = 2  # of each sign along a side
    width: int = 64

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        waves = 2 * self.modes + 1
        c = self.channels
        spectral: Shapes = {}
        for layer in range(2):
            spectral[f"fourier.{layer}.weight"] = waves * waves, c, c
            spectral |= dense_shapes(f"local.{layer}", c, c)
        into = c * (waves * waves) + sum(SIZES[name] for name in SEES)
        return {
            **dense_shapes("lift", 1, c),
            **spectral,
            **dense_shapes("net", into, self.width, self.width, count_affine(HORIZON)),
        }

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """b(y) + G(y) x."""
        (patch,) = pick(y, "patch")
        n = len(y)
        pad, modes = (_as(xp, array, y) for array in (make_pad(), make_modes(self.modes)))
        field = pad @ patch.reshape(n, PATCH_SIZE, PATCH_SIZE) @ pad.T
        v = dense(xp, weights, "lift", field.reshape(n, -1, 1), 1)  # (n, points, channels)
        for layer in range(2):
            v = xp.tanh(dense(xp, weights, f"local.{layer}", v, 1) + self._filter(weights, layer, v, modes))
        spectrum = self._transform(v, modes).reshape(n, -1)
        seen = xp.concatenate((spectrum / SIDE, *pick(y, *SEES)), 1)
        return apply_affine(xp, dense(xp, weights, "net", seen, 3), x)

    def _filter(self, weights: Weights, layer: int, v: Any, modes: Any) -> Any:
        """F⁻¹ R F v."""
        spectrum = self._transform(v, modes)  # (n, waves², channels)
        turned = (spectrum[:, :, None, :] @ weights[f"fourier.{layer}.weight"].swapaxes(1, 2))[:, :, 0]
        n, waves, c = len(v), modes.shape[0], v.shape[2]
        along = (modes.T @ turned.reshape(n, waves, waves * c)).reshape(n, SIDE, waves, c)
        return (modes.T @ along).reshape(n, SIDE * SIDE, c)

    def _transform(self, v: Any, modes: Any) -> Any:
        """F v (n, waves², channels) of v (n, points, channels)."""
        n, c = len(v), v.shape[2]
        grid = v.reshape(n, SIDE, SIDE * c)
        along = (modes @ grid).reshape(n, modes.shape[0], SIDE, c)
        both = modes @ along
        return both.reshape(n, -1, c)


def _as(xp: Any, array: NDArray[np.float32], like: Any) -> Any:
    """A constant where the weights are."""
    return array.astype(np.float64) if xp is np else xp.from_numpy(array).to(like.dtype)
