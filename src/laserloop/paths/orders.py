"""Orders: what a plan wants of the moves of a file, as its writers take it."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Order(NamedTuple):
    """What is wanted of one move."""

    shares: list[float]  # where its pieces end, rising to 1: of its length, or of its time if it is a rest
    powers: list[float]  # W, of each piece
    speed: float  # m/s; NaN: as the file says


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """The orders of many moves; those that are not there stay as the file has them."""

    moves: NDArray[np.intp]  # (m,), rising, counted from 0 in the order of the file
    first: NDArray[np.intp]  # (m + 1,), piece of each move, and the number of all
    shares: FloatArray  # (pieces,)
    powers: FloatArray  # (pieces,), W
    speeds: FloatArray  # (m,), m/s
    _places: dict[int, int] = field(init=False, default_factory=dict)
    _lists: list[list[Any]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._places.update(zip(self.moves.tolist(), range(len(self.moves)), strict=True))
        self._lists.extend(a.tolist() for a in (self.first, self.shares, self.powers, self.speeds))

    def find(self, move: int) -> Order | None:
        """What is wanted of a move, if anything."""
        place = self._places.get(move)
        if place is None:
            return None
        first, shares, powers, speeds = self._lists
        low, high = first[place], first[place + 1]
        return tuple.__new__(Order, (shares[low:high], powers[low:high], speeds[place]))  # for speed

    def __len__(self) -> int:
        return len(self.moves)


def find_along(points: list[complex], shares: list[float]) -> list[complex]:
    """Points at shares of the length of a polyline; the last is its end exactly."""
    corners = np.array(points)
    s = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(corners)))))
    places = np.array(shares) * s[-1]
    found = np.interp(places, s, corners.real) + 1j * np.interp(places, s, corners.imag)
    return [*found[:-1].tolist(), points[-1]]


def join_orders(parts: list[Orders]) -> Orders:
    """The orders of several layers, in the order of the file."""
    moves = np.concatenate([part.moves for part in parts])
    order = np.argsort(moves, kind="stable")
    shifts = np.cumsum([0, *(len(part.shares) for part in parts[:-1])])
    first = np.concatenate([part.first[:-1] + shift for part, shift in zip(parts, shifts, strict=True)])
    counts = np.concatenate([np.diff(part.first) for part in parts])[order]
    ends = np.cumsum(counts)
    pieces = np.arange(ends[-1]) + np.repeat(first[order] - (ends - counts), counts)
    shares, powers = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("shares", "powers")
    )
    return Orders(
        moves[order],
        np.concatenate(([0], ends)),
        shares[pieces],
        powers[pieces],
        np.concatenate([part.speeds for part in parts])[order],
    )
