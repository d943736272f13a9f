"""Regional Koopman: heat around the beam as a lifted state that moves on linearly, one matrix for each turn.

u  ∫k dT over that of the window's middle      p  power over the laser's most      θ  turn at a tick's end

    z = (1, u at the peak, modes of u on a patch along the heading, the last powers)
    z⁺ = A_r z + B_r p + (v − 1)(A′ z + B′ p)      v  speed over the usual one      r  region of |θ|

Fitted by ridge regression of z⁺ (extended dynamic mode decomposition). A turn to the right is the mirror
image of one to the left. Rolled along the path, the peak is affine in the plan: a tick is one QP.

In the loop the state is carried from tick to tick and drawn to what is seen.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laserloop.data.store import COLUMNS
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.predict.model import find_origin, load_arrays, save_arrays
from laserloop.predict.predictor import AffineForecast
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]

TURNS = np.radians((1.0, 8.0, 25.0, 60.0, 100.0, 150.0))  # |θ| between the regions
MODES = 10  # 6 to 40 predict lessons left out equally well
POWERS = 4  # last ones that are part of the state
RIDGE = 1e-6  # of the square of all data
SMALLEST = 1e-12
SIDE, SPACING = 9, 5e-5  # points along a side of the patch; m between them
NOISY = 0.3  # share by which a noisy image replaces the state that was carried on
OLDEST = 12  # ticks, of an image that is still taken in
KIND = "Koopman model"
NEAR, FAR = 0.1, 0.02  # width in ln u around the window's middle that counts, and the weight of all else
FASTEST = 1.9  # times the usual speed; faster is a jump
ARRAYS = ("mean", "modes", "odd")


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """The modes of a patch; those that are odd across the heading change their sign in a mirror."""

    mean: FloatArray  # (pixels,)
    modes: FloatArray  # (pixels, modes), orthonormal; even or odd
    odd: NDArray[np.bool_]  # (modes,)

    @property
    def size(self) -> int:
        """Of z."""
        return 2 + int(self.modes.shape[1]) + POWERS

    @property
    def signs(self) -> FloatArray:
        """(size,): what a mirror does to z."""
        return np.concatenate((np.ones(2), np.where(self.odd, -1.0, 1.0), np.ones(POWERS)))

    def lift(self, peak: FloatArray, patch: FloatArray, powers: FloatArray) -> FloatArray:
        """z (n, size) of u at peaks (n,), of u on patches (n, pixels), and of the last powers (n, POWERS)."""
        modes = (patch - self.mean) @ self.modes
        return np.concatenate((np.ones((len(peak), 1)), peak[:, np.newaxis], modes, powers), axis=1)


def find_lift(patches: FloatArray, weight: FloatArray, side: int) -> Lift:
    """The modes that hold most of what patches (n, side²) do, half of the data mirrored."""
    share = weight / weight.sum()
    mirror = np.arange(side * side).reshape(side, side)[::-1].ravel()
    mean = share @ patches
    mean = 0.5 * (mean + mean[mirror])
    off = patches - mean
    covariance = off.T @ (share[:, np.newaxis] * off)
    covariance = 0.5 * (covariance + covariance[np.ix_(mirror, mirror)])
    flip = np.eye(side * side)[mirror]
    found = []
    for sign in (1.0, -1.0):
        half = 0.5 * (np.eye(side * side) + sign * flip)
        values, vectors = np.linalg.eigh(half @ covariance @ half)
        found += [(value, sign < 0, vector) for value, vector in zip(values, vectors.T, strict=True)]
    best = sorted(found, key=lambda entry: -entry[0])[:MODES]
    return Lift(
        mean, np.stack([vector for *_, vector in best], axis=1), np.array([odd for _, odd, _ in best])
    )


@dataclass(frozen=True, slots=True, eq=False)
class Koopman:
    """A lifted linear model: how z and a power lead to the next z, for each region and speed."""

    lift: Lift
    maps: FloatArray  # (regions, size, 2 (size + 1)): [A B A′ B′]

    def step(self, turn: float, pace: float) -> tuple[FloatArray, FloatArray]:
        """A and B of a tick that ends with a turn, rad to the left, at a speed over the usual one."""
        size = self.lift.size
        whole = self.maps[find_region(turn)]
        both = whole[:, : size + 1] + (pace - 1.0) * whole[:, size + 1 :]
        if turn < 0.0:
            signs = self.lift.signs
            both = signs[:, np.newaxis] * both * np.append(signs, 1.0)
        return both[:, :size], both[:, size]

    def roll(self, state: FloatArray, turns: FloatArray, paces: FloatArray) -> tuple[FloatArray, FloatArray]:
        """u at the peak without power (N,), and its slopes (N, N) by p, at the ends of some ticks."""
        n = len(turns)
        base, slopes = np.empty(n), np.zeros((n, n))
        reach = np.zeros((len(state), n))
        for i in range(n):
            A, B = self.step(float(turns[i]), float(paces[i]))
            state, reach = A @ state, A @ reach
            reach[:, i] += B
            base[i], slopes[i] = state[1], reach[1]
        return base, slopes


def find_region(turn: float) -> int:
    """Which region a turn, rad, belongs to."""
    return int(np.searchsorted(TURNS, abs(turn)))


class Transitions(NamedTuple):
    """What was seen: states, powers and what they led to."""

    states: FloatArray  # z (n, size)
    powers: FloatArray  # p (n,)
    following: FloatArray  # z⁺ (n, size)
    turns: FloatArray  # θ (n,), rad
    paces: FloatArray  # v (n,)
    weight: FloatArray  # (n,)


def fit_maps(seen: Transitions, signs: FloatArray, *, ridge: float = RIDGE) -> FloatArray:
    """(regions, size, 2 (size + 1)): the maps of each region.

    All is turned to the left first, and what goes straight on is used in the mirror, too. A region is pulled
    towards the map of all data, so that one with little data has that.
    """
    flip = np.where(seen.turns[:, np.newaxis] < 0.0, signs, 1.0)
    following = flip * seen.following
    rows = np.concatenate((flip * seen.states, seen.powers[:, np.newaxis]), axis=1)
    rows = np.concatenate((rows, (seen.paces - 1.0)[:, np.newaxis] * rows), axis=1)
    straight = np.abs(seen.turns) <= TURNS[0]
    mirror = np.concatenate((signs, [1.0], signs, [1.0]))
    rows = np.concatenate((rows, mirror * rows[straight]))
    following = np.concatenate((following, signs * following[straight]))
    weight = np.concatenate((seen.weight, seen.weight[straight]))
    regions = np.searchsorted(TURNS, np.abs(seen.turns))
    regions = np.concatenate((regions, regions[straight]))
    pull = np.diag(ridge * (weight @ rows**2) + SMALLEST)

    def solve(chosen: NDArray[np.bool_], towards: FloatArray) -> FloatArray:
        weighted = rows[chosen] * weight[chosen, np.newaxis]
        normal = rows[chosen].T @ weighted + pull
        return np.linalg.solve(normal, weighted.T @ following[chosen] + pull @ towards.T).T

    everywhere = solve(np.ones(len(rows), np.bool_), np.zeros((following.shape[1], rows.shape[1])))
    return np.stack([solve(regions == r, everywhere) for r in range(len(TURNS) + 1)])


class KoopmanPredictor:
    """T̂ = T(u) is linear around the window's middle, so that all is affine in the plan."""

    name = "koopman"
    affine = True

    def __init__(self, model: Koopman, process: Process, horizon: int = 5) -> None:
        self.model = model
        self.horizon = horizon
        self.memory = OLDEST + POWERS
        self._process = process
        self._table = tabulate(process.material, process.ambient)
        self._middle = 0.5 * sum(process.window)
        self._wanted = float(self._table.theta_of(np.array([self._middle]))[0])
        self._per_kelvin = float(process.material.conductivity(self._middle)) / self._wanted
        self._believe = NOISY if process.camera.noise > 0.0 else 1.0
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._states: dict[int, FloatArray] = {}  # z by tick, the newest ones
        self._seen = -1.0

    def observe(self, image: Image | None, preview: Preview) -> AffineForecast | None:
        """From the state of now; None before the first image."""
        now = round(preview.time / preview.tick)
        if image is not None and image.time != self._seen:
            self._seen = image.time
            self._take(image, preview, now)
        state = self._carry(preview, now)
        if state is None:
            return None
        turns, paces = follow_way(preview.ahead, self._process.speed * preview.tick)
        n, most = self.horizon, self._process.laser.power[1]
        base, slopes = self.model.roll(state, turns[:n], paces[:n])
        return AffineForecast(
            base=self._middle + (base - 1.0) / self._per_kelvin,
            slopes=slopes / (self._per_kelvin * most),
            previous=preview.power,
            committed=np.empty(0),
        )

    def _take(self, image: Image, preview: Preview, now: int) -> None:
        """Draw the state of when the image was taken to what it shows."""
        age = preview.age(image.time)
        if not 0 <= age <= min(OLDEST, len(preview.powers)):
            return
        then = preview.rewound(age)
        way = then.ahead[1] - then.ahead[0]
        patch = image.patch(then.ahead[0], float(np.arctan2(way[1], way[0])), size=SIDE, spacing=SPACING)
        u = self._table.theta_of(np.append(image.peak.temperature, patch)) / self._wanted
        powers = np.zeros(POWERS)
        given = then.powers[::-1][:POWERS] / self._process.laser.power[1]
        powers[: len(given)] = given
        seen = self.model.lift.lift(u[:1], u[np.newaxis, 1:], powers[np.newaxis])[0]
        carried = self._states.get(now - age)
        if carried is not None:
            seen[:-POWERS] = (1.0 - self._believe) * carried[:-POWERS] + self._believe * seen[:-POWERS]
        self._states = {now - age: seen}

    def _carry(self, preview: Preview, now: int) -> FloatArray | None:
        """The state of now, moved on from the newest one by what was given since."""
        if not self._states:
            return None
        at = max(self._states)
        past = now - at
        if past > len(preview.powers):
            return None
        start = len(preview.powers) - past
        turns, paces = follow_way(preview.positions[start:], self._process.speed * preview.tick)
        state = self._states[at]
        for k in range(past):
            A, B = self.model.step(float(turns[k]), float(paces[k]))
            state = A @ state + B * preview.powers[start + k] / self._process.laser.power[1]
            self._states[at + 1 + k] = state
        self._states = {tick: z for tick, z in self._states.items() if tick >= now - OLDEST}
        return state


def follow_way(positions: FloatArray, hop: float) -> tuple[FloatArray, FloatArray]:
    """Turns, rad, at the end of each tick and speeds over the usual one; the last tick goes straight on."""
    way = np.diff(positions, axis=0)
    headings = np.arctan2(way[:, 1], way[:, 0])
    turns = (np.diff(headings, append=headings[-1:]) + np.pi) % (2.0 * np.pi) - np.pi
    return turns, np.clip(np.linalg.norm(way, axis=1) / hop, 0.3, 2.0)


class _Seen(NamedTuple):
    """The ticks of episodes that can be learned from: before and after, each with its last powers."""

    peak: FloatArray  # u (2, n)
    patch: FloatArray  # (2, n, pixels)
    powers: FloatArray  # (2, n, POWERS), newest first
    turns: FloatArray  # (n,), rad
    paces: FloatArray  # (n,)

    @property
    def weight(self) -> FloatArray:
        """(n,): those that lead near the window's middle count most."""
        off = np.log(np.maximum(self.peak[1], 1e-6)) / NEAR
        return np.asarray(np.exp(-0.5 * off**2) + FAR)


def fit_koopman(records: Iterable[FloatArray], process: Process) -> Koopman:
    """The model of records (states, columns) of episodes."""
    seen = _join([_read(record, process) for record in records])
    lift = find_lift(seen.patch[0], seen.weight, SIDE)
    before, after = (lift.lift(seen.peak[i], seen.patch[i], seen.powers[i]) for i in (0, 1))
    given = seen.powers[1][:, 0]
    moves = Transitions(before, given, after, seen.turns, seen.paces, seen.weight)
    return Koopman(lift, fit_maps(moves, lift.signs))


def _read(record: FloatArray, process: Process) -> _Seen:
    place = {name: i for i, name in enumerate(COLUMNS)}
    pixels = [i for name, i in place.items() if name.startswith("patch_")]
    table = tabulate(process.material, process.ambient)
    wanted = float(table.theta_of(np.array([0.5 * sum(process.window)]))[0])
    u = table.theta_of(record[:, [place["t_peak_k"], *pixels]]) / wanted
    power = record[:, place["power_w"]] / process.laser.power[1]
    turns, paces = follow_way(record[:, [place["x_m"], place["y_m"]]], process.speed * process.tick)
    k = np.arange(POWERS, len(record) - 2)
    k = k[(power[k] > 0.0) & (paces[k] < FASTEST) & (u[k, 0] > 0.0)]
    both = np.stack((k, k + 1))
    powers = np.stack([power[both - i] for i in range(POWERS)], axis=-1)
    return _Seen(u[both, 0], u[both, 1:], powers, turns[k], paces[k])


def _join(parts: list[_Seen]) -> _Seen:
    peak, patch, powers = (np.concatenate([part[i] for part in parts], axis=1) for i in range(3))
    return _Seen(peak, patch, powers, *(np.concatenate([part[i] for part in parts]) for i in (3, 4)))


def save_koopman(model: Koopman, folder: Path, page: Mapping[str, Any]) -> None:
    """Write it to a folder; `page` tells where it comes from."""
    arrays = {name: getattr(model.lift, name) for name in ARRAYS} | {"maps": model.maps}
    save_arrays(folder, arrays, {"kind": KIND, **page, **find_origin()})


def load_koopman(folder: Path) -> Koopman:
    """The model of a folder."""
    arrays, _ = load_arrays(folder, KIND)
    return Koopman(Lift(*(arrays[name] for name in ARRAYS)), arrays["maps"])
