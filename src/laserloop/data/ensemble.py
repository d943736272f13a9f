"""An ensemble: which episodes are run, on which paths, by which powers.

Each one is a pure function of the settings and its index. Powers are drawn from the paper's three classes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from math import floor, isfinite, pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.paths import (
    ScanPath,
    draw_polyline,
    sample_polyline,
    trace_horizontal,
    trace_spiral,
    trace_vertical,
)
from laserloop.paths.shapes import HALF_WIDTH
from laserloop.process import Process, find_process
from laserloop.process.keys import load_yaml, read_text

FloatArray = NDArray[np.float64]

PREVIEW = 10  # ticks that the path goes on behind the last state, so that every preview is of the path
HATCH = (3e-4, 6e-4)  # m, of a random raster
TURNS = (2.5, 4.0)  # of a random spiral
MAX_RUNS = 1_000_000
MAX_STATES = 100_000
MAX_SEED = 2**32 - 1
LAYOUT, PATH, POWER = range(3)  # independent random streams of one seed
DEFAULT_POWER_MAX = 20.0  # W
HOLD = (5, 20)  # ticks, both included
MAX_TICKS = 10_000_000
LARGEST_FILE = 100_000  # bytes; ten settings take 300


class Excitation(StrEnum):
    """The class of a power profile; the value is its name for people."""

    PERSISTENT = "persistent"  # holds of 5–20 ticks: the slow thermal modes
    HF_RANDOM = "hf-random"  # a new amplitude each tick: the fast response
    BANG_BANG = "bang-bang"  # random switching between the limits: extreme transients


class _Geometry(StrEnum):
    """The class of a training path; the value is its name for people."""

    HORIZONTAL = "horizontal"
    VERTICAL = "vertical"
    SPIRAL = "spiral"
    POLYLINE = "polyline"


GEOMETRIES, EXCITATIONS = tuple(_Geometry), tuple(Excitation)  # their order is the code in windows

SHARES = {
    "base": (1.0, 1.0, 1.0, 0.0),
    "corner": (20.0, 20.0, 20.0, 40.0),
}  # of each geometry, as in the paper
CHOICES = {"kind": (*SHARES, "custom"), "plant": ("paper", "graded"), "geometry": ("fixed", "random")}
LIMITS = {"runs": (1, MAX_RUNS), "seed": (0, MAX_SEED), "states": (2, MAX_STATES)}
NAMED_SHAPES = {"hatch_mm": 0.5, "turns": 3.0}  # what the named test shapes have
SHAPE_LIMITS = {"hatch_mm": (0.01, 2e3 * HALF_WIDTH), "turns": (0.5, 100.0)}


class _Member(NamedTuple):
    """The classes of one episode."""

    geometry: _Geometry
    excitation: Excitation


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleSettings:
    """Everything that defines an ensemble; equal settings give equal bytes."""

    kind: str  # base: rasters and spirals; corner: 40 % random polylines too; custom: by its shares
    runs: int = 320  # episodes
    seed: int = 0
    plant: str = "paper"  # or graded
    states: int = 401  # of an episode; the first is the plate at rest
    geometry: str = "fixed"  # rasters and spirals are always the same shapes; random: each differs
    shares: tuple[float, ...] = ()  # of horizontal, vertical, spiral, polyline; given only if custom
    hatch_mm: float = NAMED_SHAPES["hatch_mm"]  # of fixed rasters
    turns: float = NAMED_SHAPES["turns"]  # of fixed spirals
    process: Process = field(default_factory=Process)  # powers are drawn up to what its laser can give

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise _broken(name, f"one of {', '.join(choices)}", getattr(self, name))
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if not _is_whole(value) or not low <= value <= high:
                raise _broken(name, f"a whole number from {low} to {high}", value)
        for name, (least, most) in SHAPE_LIMITS.items():
            shape = getattr(self, name)
            if not _is_number(shape) or not least <= shape <= most:
                raise _broken(name, f"a number from {least:g} to {most:g}", shape)
            if self.geometry == "random" and shape != NAMED_SHAPES[name]:
                raise _broken(name, "left out when geometry is random", shape)
        if self.kind in SHARES:
            if self.shares not in ((), SHARES[self.kind]):
                raise _broken("shares", f"left out when kind is {self.kind}", self.shares)
            object.__setattr__(self, "shares", SHARES[self.kind])
        _check_shares(self.shares)

    @property
    def ticks(self) -> int:
        """Ticks of an episode: one fewer than its states."""
        return self.states - 1

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and words; units are in the names.

        A shape is told only if it is not the named one, so that a store made before it could be chosen
        keeps its hash.
        """
        numbers = {name: getattr(self, name) for name in self.__dataclass_fields__}
        numbers = {name: value for name, value in numbers.items() if NAMED_SHAPES.get(name) != value}
        shares = dict(zip(map(str, GEOMETRIES), self.shares, strict=True))
        return numbers | {"shares": shares, "process": self.process.to_json()}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "EnsembleSettings":
        """The settings with these names, the rest by default; a name that means nothing is refused."""
        fields = cls.__dataclass_fields__
        unknown = [str(key) for key in given if key not in fields]
        if unknown:
            raise BadInput(
                f"the settings of an ensemble are {', '.join(fields)}, but {unknown[0][:40]!r} was given; "
                "correct its name or remove it."
            )
        if "kind" not in given:
            raise _broken("kind", f"one of {', '.join(CHOICES['kind'])}", None)
        changes = dict(given)
        if "process" in changes:
            changes["process"] = _parse_process(changes["process"])
        if "shares" in changes:
            changes["shares"] = _parse_shares(changes["shares"])
        return cls(**changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _EpisodePlan:
    """What one episode will do: its classes, and where the beam goes with which power."""

    geometry: _Geometry
    excitation: Excitation
    path: ScanPath  # ten ticks longer than the power
    power: FloatArray  # (states − 1,), W


@lru_cache(maxsize=8)
def lay_out(settings: EnsembleSettings) -> tuple[_Member, ...]:
    """The classes of every episode: exact shares, in a random order that the seed gives.

    Sorted by geometry, the excitations take turns: so both are as even as whole numbers allow, alone and
    together. Equal seeds and runs order the excitations alike in every kind of ensemble.
    """
    counts = share_out(settings.runs, settings.shares)
    geometries = [shape for shape, count in zip(GEOMETRIES, counts, strict=True) for _ in range(count)]
    order = np.random.default_rng([settings.seed, LAYOUT]).permutation(settings.runs)
    return tuple(_Member(geometries[place], EXCITATIONS[place % len(EXCITATIONS)]) for place in order)


def share_out(total: int, shares: tuple[float, ...]) -> list[int]:
    """Whole numbers in proportion to `shares` that sum to `total`: the largest remainders are rounded up."""
    exact = [total * share / sum(shares) for share in shares]
    counts = [floor(value + 1e-9) for value in exact]  # 128.0 must not become 127
    by_remainder = sorted(range(len(shares)), key=lambda i: counts[i] - exact[i])
    for i in by_remainder[: total - sum(counts)]:
        counts[i] += 1
    return counts


def plan_episode(settings: EnsembleSettings, index: int) -> _EpisodePlan:
    """What episode `index` will do, whoever asks and in whatever order."""
    check_index(settings, index)
    member = lay_out(settings)[index]
    path_rng, power_rng = (np.random.default_rng([settings.seed, stream, index]) for stream in (PATH, POWER))
    ticks = settings.ticks + PREVIEW
    process = settings.process
    length = (ticks + 1) * process.speed * process.tick
    waypoints = _trace(member.geometry, length, path_rng, settings)
    return _EpisodePlan(
        geometry=member.geometry,
        excitation=member.excitation,
        path=sample_polyline(
            waypoints, name=member.geometry.value, speed=process.speed, tick=process.tick, ticks=ticks
        ),
        power=draw_power(member.excitation, settings.ticks, power_rng, power_max=process.laser.power[1]),
    )


def check_index(settings: EnsembleSettings, index: int) -> None:
    """Refuse an episode that the ensemble does not have."""
    if not 0 <= index < settings.runs:
        raise BadInput(
            f"this ensemble has the episodes 0 to {settings.runs - 1}, but {index} was asked for; "
            "choose one of these."
        )


def _trace(
    geometry: _Geometry, length: float, rng: np.random.Generator, settings: EnsembleSettings
) -> FloatArray:
    """Waypoints (m) of a member of the class: the same shape for all, or if they vary one of many."""
    vary = settings.geometry == "random"
    raster = {"hatch": 1e-3 * settings.hatch_mm}
    match geometry:
        case _Geometry.POLYLINE:
            return draw_polyline(rng, length=length)
        case _Geometry.SPIRAL:
            return trace_spiral(length, **(_draw_spiral(rng) if vary else {"turns": settings.turns}))
        case _Geometry.HORIZONTAL:
            return trace_horizontal(length, **(_draw_raster(rng) if vary else raster))
        case _Geometry.VERTICAL:
            return trace_vertical(length, **(_draw_raster(rng) if vary else raster))


def _draw_raster(rng: np.random.Generator) -> dict[str, Any]:
    hatch = float(rng.uniform(*HATCH))
    across, along = (int(sign) for sign in rng.choice((-1, 1), size=2))
    last_line = floor(2 * HALF_WIDTH / hatch + 1e-9)
    return {
        "hatch": hatch,
        "corner": (across, along),
        "first_line": int(rng.integers(last_line, endpoint=True)),
    }


def _draw_spiral(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "turns": float(rng.uniform(*TURNS)),
        "start_angle": float(rng.uniform(-pi, pi)),
        "clockwise": bool(rng.integers(2)),
        "inward": bool(rng.integers(2)),
    }


def parse_excitation(text: str) -> Excitation:
    """The excitation that `text` names."""
    try:
        return Excitation(text)
    except ValueError:
        raise BadInput(
            f"an excitation must be one of {', '.join(Excitation)}, but got {text!r}; choose one of these."
        ) from None


def draw_power(
    kind: Excitation | str,
    ticks: int,
    rng: np.random.Generator,
    *,
    power_max: float = DEFAULT_POWER_MAX,
    switch_probability: float = 0.3,
) -> NDArray[np.float64]:
    """Power in W for each of `ticks` ticks, between 0 and `power_max`.

    `switch_probability` belongs to bang-bang: the chance per tick to change sides; more of it is faster.
    """
    _check_settings(ticks, power_max, switch_probability)
    match parse_excitation(kind):
        case Excitation.PERSISTENT:
            return power_max * _draw_holds(ticks, rng)
        case Excitation.HF_RANDOM:
            return power_max * rng.random(ticks)
        case Excitation.BANG_BANG:
            return power_max * _draw_switches(ticks, rng, switch_probability)


def _draw_holds(ticks: int, rng: np.random.Generator) -> NDArray[np.float64]:
    shortest, longest = HOLD
    count = -(-ticks // shortest)
    durations = rng.integers(shortest, longest, size=count, endpoint=True)
    return np.repeat(rng.random(count), durations)[:ticks]


def _draw_switches(ticks: int, rng: np.random.Generator, probability: float) -> NDArray[np.float64]:
    changes = rng.random(ticks) < probability
    changes[0] = rng.random() < 0.5  # the first change decides the side to start on
    return (np.cumsum(changes) % 2).astype(np.float64)


def _check_settings(ticks: int, power_max: float, switch_probability: float) -> None:
    if not 1 <= ticks <= MAX_TICKS:
        raise BadInput(
            f"a power profile must have 1 to {MAX_TICKS} ticks, but {ticks} were asked for; stay within."
        )
    if not (np.isfinite(power_max) and power_max > 0):
        raise BadInput(
            f"the largest power must be positive and finite, but is {power_max} W; the default is 20 W."
        )
    if not 0 <= switch_probability <= 1:
        raise BadInput(
            f"the switch probability must be 0 to 1, but is {switch_probability}; give a chance per tick."
        )


def read_settings(file: str | Path) -> dict[str, Any]:
    """The settings that are in `file`, for `EnsembleSettings.from_json`."""
    rule = f"the ensemble file {str(file)!r} must be"
    if Path(file).suffix.lower() not in (".yaml", ".yml"):
        raise BadInput(
            f"an ensemble must be base, corner or a .yaml file of settings, got {str(file)!r}: choose one."
        )
    settings = load_yaml(
        read_text(file, rule, LARGEST_FILE), "an ensemble", f"the ensemble file {str(file)!r}"
    )
    if not isinstance(settings, dict):
        raise BadInput(f"{rule} lines of name: value, but holds something else; write kind: corner.")
    return settings


def _parse_process(given: object) -> Process:
    """A process by its name or file, or whole as a mapping."""
    if isinstance(given, Process):
        return given
    if isinstance(given, Mapping):
        return Process.from_json(given, where="the ensemble's process")
    return find_process(str(given))


def _parse_shares(given: object) -> tuple[float, ...]:
    """The share of each geometry from a mapping by name; one left out is 0."""
    if not isinstance(given, Mapping) or not set(given) <= set(map(str, GEOMETRIES)):
        raise _broken("shares", f"a number for each of {', '.join(GEOMETRIES)}", given)
    return tuple(given.get(str(geometry), 0.0) for geometry in GEOMETRIES)


def _check_shares(shares: tuple[float, ...]) -> None:
    fine = len(shares) == len(GEOMETRIES) and all(
        _is_number(share) and isfinite(share) and share >= 0 for share in shares
    )
    if not fine or not sum(shares) > 0:
        raise _broken("shares", f"a number from 0 on for each of {', '.join(GEOMETRIES)}, not all 0", shares)


def _broken(name: str, rule: str, value: object) -> BadInput:
    given = "is missing" if value is None else f"is {str(value)[:60]!r}"
    return BadInput(f"{name} of an ensemble must be {rule}, but {given}; correct it.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
