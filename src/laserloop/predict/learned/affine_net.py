"""The heading-frame, history, control-affine network: one QP a tick, whatever it has learned."""

from dataclasses import dataclass
from typing import Any, ClassVar

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

SEES = ("heat", "powers", "behind", "ahead", "coming")


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineNet:
    """Two hidden layers read all but the patch, and give a base and slopes."""

    name: ClassVar[str] = "affine-history"
    affine: ClassVar[bool] = True
    quantiles: ClassVar[tuple[float, ...]] = ()
    width: int = 96  # units of a hidden layer

    def shapes(self) -> Shapes:
        """The shape of every weight, by name."""
        sees = sum(SIZES[name] for name in SEES)
        return dense_shapes("net", sees, self.width, self.width, count_affine(HORIZON))

    def forward(self, xp: Any, weights: Weights, x: Any, y: Any) -> Any:
        """b(y) + G(y) x."""
        seen = xp.concatenate(pick(y, *SEES), 1)
        return apply_affine(xp, dense(xp, weights, "net", seen, 3), x)
