"""From recorded episodes to a Koopman model, and to its folder and back."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laserloop.data.record import COLUMNS
from laserloop.predict.learned.folder import load_folder, save_folder
from laserloop.predict.learned.koopman import POWERS, Koopman, Lift, Transitions, find_lift, fit_maps
from laserloop.predict.learned.koopman_predictor import SIDE, follow_way
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

FloatArray = NDArray[np.float64]

KIND = "Koopman model"
NEAR, FAR = 0.1, 0.02  # width in ln u around the window's middle that counts, and the weight of all else
FASTEST = 1.9  # times the usual speed; faster is a jump
ARRAYS = ("mean", "modes", "odd")


class Seen(NamedTuple):
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


def _read(record: FloatArray, process: Process) -> Seen:
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
    return Seen(u[both, 0], u[both, 1:], powers, turns[k], paces[k])


def _join(parts: list[Seen]) -> Seen:
    peak, patch, powers = (np.concatenate([part[i] for part in parts], axis=1) for i in range(3))
    return Seen(peak, patch, powers, *(np.concatenate([part[i] for part in parts]) for i in (3, 4)))


def save_koopman(model: Koopman, folder: Path, page: Mapping[str, Any]) -> None:
    """Write it to a folder; `page` tells where it comes from."""
    save_folder(
        folder, KIND, {name: getattr(model.lift, name) for name in ARRAYS} | {"maps": model.maps}, page
    )


def load_koopman(folder: Path) -> Koopman:
    """The model of a folder."""
    arrays, _ = load_folder(folder, KIND)
    return Koopman(Lift(*(arrays[name] for name in ARRAYS)), arrays["maps"])
