"""Windows: the supervised triples (branch, trunk, target) that a surrogate learns from, and their scalers.

SI units throughout.

N  horizon, ticks      k  the tick at whose end the state is seen      ξ, P  as in store.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import EXCITATIONS, GEOMETRIES, PREVIEW, lay_out
from laserloop.data.store import COLUMNS, EpisodeStore, read_episode
from laserloop.process.process import Sampling, check_sampling

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FIRST = 1  # the state of the first window: at state 0 the plate is at rest (the paper's frames are t_1 …)
BRANCH_COLUMNS = ("power_w", "x_m", "y_m", "vx_m_s", "vy_m_s")
READINGS = {"node": ("t_node_k", "node_x_m", "node_y_m"), "peak": ("t_peak_k", "peak_x_m", "peak_y_m")}
UNKNOWN = -1  # the code of a class outside an ensemble
CONSTANT = 1e-12  # of its mean; a feature that varies less is rounding and keeps its unit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Windows:
    """n windows; entry i of a horizon belongs to t_{k+i}."""

    branch: FloatArray  # (n, N, 5): P_{k+i}, x_{k+i−1}, y_{k+i−1}, vx_{k+i−1}, vy_{k+i−1} for i = 1 … N
    temps: FloatArray  # (n, 1 + N), K: T_max(t_k), then T(ξ_{k+i}, t_k)
    location: FloatArray  # (n, 2), m, of T_max(t_k)
    target: FloatArray  # (n, N), K: T_max(t_{k+i})
    places: FloatArray  # (n, N, 2), m, of T_max(t_{k+i})
    episode: IntArray  # (n,)
    tick: IntArray  # (n,): k
    excitation: IntArray  # (n,): place in EXCITATIONS, or −1
    geometry: IntArray  # (n,): place in GEOMETRIES, or −1

    def __len__(self) -> int:
        return len(self.target)

    @property
    def horizon(self) -> int:
        """N, ticks."""
        return int(self.target.shape[1])

    def take(self, chosen: IntArray | slice) -> "Windows":
        """Some of the windows."""
        return Windows(**{entry.name: getattr(self, entry.name)[chosen] for entry in fields(self)})


def cut_windows(
    store: EpisodeStore, horizon: int, *, reading: str = "node", sampling: Sampling = "nearest"
) -> Windows:
    """All windows of a store with unit stride; one damaged or absent episode is refused by name.

    `reading`: T_max is the hottest node as in the paper, or the peak between the nodes; `sampling`: how
    previews are read, the nearest node as in the paper.
    """
    parts = []
    for index, member in enumerate(lay_out(store.settings)):
        values = read_episode(store, index)
        part = cut_episode(values, store.columns, horizon, reading=reading, sampling=sampling)
        part.episode[:] = index
        part.excitation[:] = EXCITATIONS.index(member.excitation)
        part.geometry[:] = GEOMETRIES.index(member.geometry)
        parts.append(part)
    return join_windows(parts)


def join_windows(parts: Sequence[Windows]) -> Windows:
    """All windows of several sets."""
    return Windows(
        **{
            entry.name: np.concatenate([getattr(part, entry.name) for part in parts])
            for entry in fields(Windows)
        }
    )


def cut_episode(
    values: FloatArray,
    columns: Sequence[str] = COLUMNS,
    horizon: int = 5,
    *,
    stride: int = 1,
    reading: str = "node",
    sampling: Sampling = "nearest",
) -> Windows:
    """The windows k = 1, 1 + stride, … of one record (states, columns); its episode is 0, its classes −1."""
    last = len(values) - 1 - horizon
    _check(horizon, last, stride, reading)
    _check_previews(columns, sampling)
    ticks = np.arange(FIRST, last + 1, stride)
    place = {name: i for i, name in enumerate(columns)}

    def column(name: str) -> FloatArray:
        return np.asarray(values[:, place[name]], dtype=np.float64)

    def ahead(name: str, offset: int) -> FloatArray:
        """The `horizon` entries from tick + offset on."""
        return sliding_window_view(column(name), horizon)[ticks + offset]

    temperature, *where = READINGS[reading]
    previews = [column(f"preview_{sampling}_{i}_k")[ticks] for i in range(1, horizon + 1)]
    power, *kinematics = BRANCH_COLUMNS
    return Windows(
        branch=np.stack([ahead(power, 1), *(ahead(name, 0) for name in kinematics)], axis=-1),
        temps=np.stack([column(temperature)[ticks], *previews], axis=-1),
        location=np.stack([column(name)[ticks] for name in where], axis=-1),
        target=ahead(temperature, 1),
        places=np.stack([ahead(name, 1) for name in where], axis=-1),
        episode=np.zeros(len(ticks), dtype=np.int64),
        tick=ticks,
        excitation=np.full(len(ticks), UNKNOWN, dtype=np.int64),
        geometry=np.full(len(ticks), UNKNOWN, dtype=np.int64),
    )


def split_windows(
    windows: Windows, *, seed: int, by: str = "window", share: float = 0.2
) -> tuple[IntArray, IntArray]:
    """Indices to train on and to hold out, each sorted.

    By window, as in the paper: neighbours that share states fall on both sides. By episode: none do.
    """
    if by not in ("window", "episode"):
        raise BadInput(f"a split must be by window or by episode, but got {by!r}; choose one of these.")
    groups = windows.episode if by == "episode" else np.arange(len(windows))
    names = np.unique(groups)
    count = round(share * len(names))
    if not 0 < count < len(names):
        raise BadInput(
            f"a split must leave something on both sides, but a share of {share:g} holds out {count} of "
            f"{len(names)} {by}s; take another share or more data."
        )
    held = np.isin(groups, np.random.default_rng(seed).permutation(names)[:count])
    return np.flatnonzero(~held), np.flatnonzero(held)


def _check(horizon: int, last: int, stride: int, reading: str) -> None:
    if not 1 <= horizon <= PREVIEW:
        raise BadInput(
            f"the horizon must be 1 to {PREVIEW} ticks, as far as previews were recorded, but is {horizon}; "
            "choose one in between."
        )
    if last < FIRST:
        raise BadInput(
            f"a record must have at least {horizon + FIRST + 1} states for a horizon of {horizon} ticks, but "
            f"has {last + 1 + horizon}; make a longer one."
        )
    if stride < 1:
        raise BadInput(f"the stride must be at least 1 tick, but is {stride}; choose another.")
    if reading not in READINGS:
        raise BadInput(f"a reading must be one of {', '.join(READINGS)}, but got {reading!r}; choose one.")


def _check_previews(columns: Sequence[str], sampling: Sampling) -> None:
    """Refuse a sampling that a record does not have."""
    check_sampling(sampling)
    if f"preview_{sampling}_1_k" not in columns:
        kinds = sorted({name.split("_")[1] for name in columns if name.startswith("preview_")})
        raise BadInput(
            f"the previews of a record must be {' or '.join(kinds)}, as it was made, but {sampling} ones are "
            "asked for; make the episodes again: laserloop ensemble."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Scaler:
    """One mean and one standard deviation for each feature, in the shape that the features have."""

    mean: FloatArray
    std: FloatArray

    def __post_init__(self) -> None:
        for name in ("mean", "std"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        fine = np.isfinite(self.mean).all() and np.isfinite(self.std).all() and (self.std > 0).all()
        if self.mean.shape != self.std.shape or not fine:
            raise BadInput(
                "a scaler must have one finite mean and one positive std for each feature, but has shapes "
                f"{self.mean.shape} and {self.std.shape} or other numbers; fit it again."
            )

    def scale(self, values: ArrayLike) -> FloatArray:
        """(values − mean) / std."""
        return (np.asarray(values) - self.mean) / self.std

    def unscale(self, values: ArrayLike) -> FloatArray:
        """The inverse of `scale`."""
        return np.asarray(values) * self.std + self.mean

    def to_json(self) -> dict[str, Any]:
        """Plain lists; every bit survives."""
        return {"mean": self.mean.tolist(), "std": self.std.tolist()}

    @classmethod
    def from_json(cls, given: object) -> "Scaler":
        """The scaler that `to_json` wrote."""
        if not isinstance(given, Mapping) or set(given) != {"mean", "std"}:
            raise BadInput("a scaler must have a mean and a std, but one is missing; fit it again.")
        try:
            mean, std = (np.array(given[name], dtype=np.float64) for name in ("mean", "std"))
        except (TypeError, ValueError):
            raise BadInput(
                "a scaler must hold lists of numbers, but holds something else; fit it again."
            ) from None
        return cls(mean, std)


def fit_scaler(values: ArrayLike) -> Scaler:
    """Mean and standard deviation over the first axis; a constant feature gets std 1."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim < 1 or not len(values):
        raise BadInput(f"a scaler needs at least one sample, but got shape {values.shape}; give some.")
    mean, std = values.mean(axis=0), values.std(axis=0)
    return Scaler(mean, np.where(std > CONSTANT * np.abs(mean), std, 1.0))
