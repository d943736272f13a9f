"""All heat at some moments: old heat as it is, and the newest ticks per watt that they absorb."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from laserloop.predict.twin.heat import Body, Gaussians, reflect, repeat
from laserloop.predict.twin.pulse import PulseRule

FloatArray = NDArray[np.float64]

REACH = 4.5  # standard deviations within which a side of the plate is felt
OLD = -1  # owner of heat that belongs to no tick of the list


class OldHeat(Protocol):
    """Heat of ticks that need no more than one Gaussian each."""

    def gaussians(self, moments: FloatArray, lag: int) -> Gaussians:
        """(m, n): heat at moments (m,), ticks, of what had been absorbed `lag` ticks before each."""


class Moments:
    """Gaussians (m, n) at m moments, and which tick of a list owns each."""

    def __init__(
        self,
        body: Body,
        rule: PulseRule,
        history: OldHeat,
        *,
        tick: float,  # s
        ends: FloatArray,  # (ticks + 1, 2), m, of a list of ticks, oldest first
        first: int,  # the tick with which the list begins
        moments: NDArray[np.intp],  # (m,): how many ticks of the list have passed
        late: float = 0.0,  # ticks by which the list is late, and old heat is to be
    ) -> None:
        owner = moments[:, np.newaxis] - 1 - rule.lag
        there = np.maximum(owner, 0)
        place = ends[there] + rule.way[:, np.newaxis] * (ends[there + 1] - ends[there])
        energy = np.where(owner >= 0, tick * rule.share, 0.0)
        young = body.spread(energy, rule.tau, place, np.zeros(3))
        old = history.gaussians(np.asarray(first + moments - late, dtype=np.float64), rule.lags)
        self.heat = Gaussians(*(_join(*pair) for pair in zip(young, old, strict=True)))
        self.owner = _join(there, np.full(old.height.shape, OLD))
        self._feel_sides(body, ends[moments[-1]])

    def _feel_sides(self, body: Body, beam: FloatArray) -> None:
        """Add the images in those sides that the heat reaches.

        In both of two that face each other heat is seen again and again; three times either way are enough as
        long as the bottom takes it away before it is wider than the plate.
        """
        for axis in (0, 1):
            wall = float(np.copysign(0.5 * body.plate[axis], beam[axis]))
            inverse, centre = (self.heat.ixx, self.heat.x) if axis == 0 else (self.heat.iyy, self.heat.y)
            hot = self.heat.height > 0.0
            near, far = (
                np.any(((abs(side - beam[axis]) + np.abs(side - centre)) ** 2 * inverse < REACH**2) & hot)
                for side in (wall, -wall)
            )
            if near or far:
                self.heat = reflect(self.heat, axis, wall)
                self.owner = _join(self.owner, self.owner)
            if far:
                self.heat = repeat(self.heat, axis, 4.0 * wall)
                self.owner = _join(_join(self.owner, self.owner), self.owner)

    def driven(self, watts: FloatArray) -> Gaussians:
        """The heat if each tick of the list absorbs so many watts."""
        per = np.where(self.owner == OLD, 1.0, watts[self.owner])
        return self.heat._replace(height=self.heat.height * per)

    def gains(self, points: FloatArray, ticks: range) -> FloatArray:
        """∂u/∂W (m, ticks) at points (m, 2) of some ticks of the list."""
        weights = self.heat.weights(points)
        return np.stack([np.where(self.owner == q, weights, 0.0).sum(-1) for q in ticks], axis=-1)


def _join(left: NDArray, right: NDArray) -> NDArray:  # type: ignore[type-arg]
    """Side by side, as many rows as the longer has."""
    rows = max(np.atleast_2d(left).shape[0], np.atleast_2d(right).shape[0])
    wide = [np.broadcast_to(part, (rows, part.shape[-1])) for part in (left, right)]
    return np.concatenate(wide, axis=-1)
