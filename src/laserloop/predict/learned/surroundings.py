"""Surroundings: what a network with a memory sees at a tick, along the heading, so that no place is special.

L  ticks of history      N  ticks of horizon      ξ  where the beam is

    T_max now and before (L), K      powers that led there (L), W      ξ of the last L ticks from here (2L), σ
    ξ of the coming N ticks (2N), σ      T where it will be (N), K      T on a patch around the beam, K
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from laserloop.data.record import COLUMNS, PATCH_SIZE, PATCH_SPACING
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image
from laserloop.predict.twin.peak import find_headings

FloatArray = NDArray[np.float64]

HISTORY, HORIZON = 10, 8  # ticks
PIXELS = PATCH_SIZE**2
SIZES = {
    "heat": HISTORY,
    "powers": HISTORY,
    "behind": 2 * HISTORY,
    "ahead": 2 * HORIZON,
    "coming": HORIZON,
    "patch": PIXELS,
}
PLACES = {
    name: slice(start, start + size)
    for (name, size), start in zip(SIZES.items(), np.cumsum([0, *SIZES.values()])[:-1], strict=True)
}
FEATURES = sum(SIZES.values())
AMBIENT = 293.15  # K, of ticks before the first
PLACE = {name: i for i, name in enumerate(COLUMNS)}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """n ticks: plans (n, N), W, surroundings (n, features), what came of them (n, N), K, and the episode."""

    plans: FloatArray
    features: FloatArray
    target: FloatArray
    episode: NDArray[np.int64]

    def take(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> "Table":
        """Some of the ticks."""
        return Table(self.plans[chosen], self.features[chosen], self.target[chosen], self.episode[chosen])


def read_record(record: FloatArray, sigma: float, *, episode: int = 0, stride: int = 1) -> Table:
    """The table of one record (states, columns), from the state on that has a whole history."""
    k = np.arange(HISTORY, len(record) - HORIZON, stride)
    heat, power = record[:, PLACE["t_peak_k"]], record[:, PLACE["power_w"]]
    way = record[:, [PLACE["x_m"], PLACE["y_m"]]]
    back, forth = np.arange(HISTORY), np.arange(1, HORIZON + 1)
    headings = find_headings(way)[k]
    coming = [PLACE[f"preview_smooth_{i}_k"] for i in forth]
    pixels = [i for name, i in PLACE.items() if name.startswith("patch_")]
    here = way[k][:, np.newaxis]
    parts = (
        heat[k[:, np.newaxis] - back],
        power[k[:, np.newaxis] - back],
        turn_to(headings, way[k[:, np.newaxis] - 1 - back] - here, sigma),
        turn_to(headings, way[k[:, np.newaxis] + forth] - here, sigma),
        record[k][:, coming],
        record[k][:, pixels],
    )
    plans, target = (sliding_window_view(column, HORIZON)[k + 1] for column in (power, heat))
    return Table(plans, np.concatenate(parts, axis=1), target, np.full(len(k), episode))


def join_tables(parts: list[Table]) -> Table:
    """All of them."""
    return Table(*(np.concatenate([getattr(part, name) for part in parts]) for name in Table.__slots__))


def look_around(image: Image, then: Preview, heat: FloatArray, sigma: float) -> FloatArray:
    """(features,) when an image was taken, by a preview of then; `heat`: T_max, K, newest first."""
    way, powers = then.positions, then.powers
    past = len(powers)
    heading = find_headings(way[past : past + 2])
    ahead = extend(then.ahead[1:], HORIZON)
    behind = extend(way[:past][::-1] if past else then.ahead[:1], HISTORY)
    given, seen = np.zeros(HISTORY), np.full(HISTORY, AMBIENT)
    count = min(HISTORY, past)
    given[:count] = powers[::-1][:count]
    seen[: len(heat[:HISTORY])] = heat[:HISTORY]
    angle = float(np.arctan2(heading[0, 1], heading[0, 0]))
    patch = image.patch(way[past], angle, size=PATCH_SIZE, spacing=PATCH_SPACING)
    return np.concatenate(
        (
            seen,
            given,
            turn_to(heading, (behind - way[past])[np.newaxis], sigma)[0],
            turn_to(heading, (ahead - way[past])[np.newaxis], sigma)[0],
            image.sample(ahead),
            patch.ravel(),
        )
    )


def turn_to(headings: FloatArray, ways: FloatArray, sigma: float) -> FloatArray:
    """(n, 2m): ways (n, m, 2), m, along and to the left of headings (n, 2), over σ."""
    hx, hy = headings[:, 0, np.newaxis], headings[:, 1, np.newaxis]
    along = ways[..., 0] * hx + ways[..., 1] * hy
    left = ways[..., 1] * hx - ways[..., 0] * hy
    return np.concatenate((along, left), axis=1) / sigma


def extend(way: FloatArray, count: int) -> FloatArray:
    """The first `count` positions; the last one held where there are fewer."""
    return way[np.minimum(np.arange(count), len(way) - 1)]
