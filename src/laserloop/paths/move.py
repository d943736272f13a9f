"""Moves: what the beam does as a path file tells it, one thing after another, lit or dark."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple


class Move(NamedTuple):
    """Where the beam goes without a change of the laser, and how long it rests at the end."""

    line: int  # of the file
    points: Sequence[complex]  # x + iy, m; one place twice is a rest alone
    lit: bool = True
    level: float = 0.0  # m, height of its layer; of no meaning if dark
    speed: float = nan  # m/s; NaN where the file gives none
    power: float = nan  # W; NaN where the file gives none
    rest: float = 0.0  # s, at the last point


@dataclass(frozen=True, slots=True)
class Moves:
    """All moves of a file in its order, and what there is to say once they have been gone through."""

    each: Iterable[Move]
    notes: Callable[[], Iterable[str]] = tuple  # sentences without their full stop

    def __iter__(self) -> Iterator[Move]:
        return iter(self.each)
