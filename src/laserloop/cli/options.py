"""The options that verbs share: numbers and files with their rules, path, power and process.

What a person sees stands in edge units; a class of options knows what in SI it means.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from laserloop.bad_input import BadInput
from laserloop.loop.controllers import CONTROLLERS
from laserloop.process.keys import find_key
from laserloop.quantity import Quantity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from laserloop.paths import ScanPath
    from laserloop.process import Process

DEFAULT_POWER_W = 14.0  # keeps straight lines inside the window on the paper plant
FROM_FILE = "file"
OF_PROCESS = "that of the process"
PAIR = ("low", "high")


def take(
    quantity: Quantity, *, default: str | None = None, example: str = "", words: tuple[str, ...] = ()
) -> Parameter:
    """An option that takes what a quantity allows, or one of some words, and otherwise states this rule."""
    rule = ", or ".join((quantity.rule, *words)) + (f", such as {example}" if example else "")

    def convert(_: type, tokens: Sequence[Token]) -> Any:
        value = tokens[0].value
        if value in words:
            return value
        numbers, cure = quantity.parse(value)
        if numbers is None:
            raise BadInput(f"{tokens[0].keyword} must be {rule}, but got {value[:40]!r}; {cure}")
        return numbers if quantity.names else numbers[0]

    known: dict[str, Any] = {"help": quantity.text, "metavar": ",".join(quantity.names).upper()}
    return Parameter(
        converter=convert,
        n_tokens=1,
        negative="",
        show_default=(lambda _: default) if default else lambda value: f"{value:g}",
        **{name: text for name, text in known.items() if text},  # without a text that of the docstring
    )


def number(
    low: float, high: float, unit: str = "", text: str = "", *, default: str | None = None
) -> Parameter:
    """An option that takes a number, a whole one if its least is."""
    quantity = Quantity(low=low, high=high, unit=unit, text=text, whole=isinstance(low, int))
    return take(quantity, default=default)


def of_process(key: str, *, example: str = "") -> Parameter:
    """An option that overrides a key of the process."""
    entry = find_key(key)
    unit = f" In {entry.unit}." if entry.unit not in ("", "ticks") else ""
    return take(replace(entry, text=entry.text + unit), default=OF_PROCESS, example=example)


def take_file(
    text: str, *, metavar: str = "FILE", check: Callable[[Path], None] = lambda _: None
) -> Parameter:
    """An option that takes a file; a single - passes, another option in its place does not.

    `check` may refuse the file before anything else is done.
    """

    def convert(_: type, tokens: Sequence[Token]) -> Path:
        name = tokens[0].value
        if not name or "\0" in name or (name.startswith("-") and name != "-"):
            raise BadInput(f"{tokens[0].keyword} must be followed by {metavar}, but got {name!r}; add it")
        check(Path(name))
        return Path(name)

    return Parameter(converter=convert, allow_leading_hyphen=True, metavar=metavar, help=text)


def flag(text: str) -> Parameter:
    """A switch that is off."""
    return Parameter(help=text, negative="")


def several(text: str, *, default: str | None = None) -> Parameter:
    """An option that may be given several times."""
    shown = (lambda _: default) if default else None
    return Parameter(negative="", consume_multiple=False, help=text, show_default=shown)


def read_factors(option: str, texts: list[str] | None) -> tuple[tuple[str, float], ...]:
    """NAME=FACTOR, one by one; the last of a name counts."""
    factors: dict[str, float] = {}
    for text in texts or ():
        name, _, factor = text.partition("=")
        try:
            factors[name.strip()] = float(factor)
        except ValueError:
            raise BadInput(
                f"{option} must read NAME=NUMBER, such as absorptivity=0.9, got {text[:40]!r}: correct it"
            ) from None
    return tuple(sorted(factors.items()))


def print_notes(notes: Iterable[str]) -> None:
    """What a person should know, on standard error, each once."""
    for note in dict.fromkeys(notes):
        print(f"laserloop: note: {note}.", file=sys.stderr)


PathName = Annotated[
    str,
    Parameter(
        help="The path: vertical, horizontal, spiral, diagonal, a family with a seed such as star:7 or "
        "polyline:3, or a file: .csv with the columns x_mm,y_mm, G-code, .cli, .txt or .inp."
    ),
]
PlantName = Annotated[
    Literal["paper", "graded"],
    Parameter(help="The paper's coarse grid, or a grid that is fine where the beam goes."),
]
ProcessName = Annotated[
    str,
    Parameter(
        metavar="FILE|NAME",
        help="The process: a .yaml file, or a built-in one: 304, 316, in625, ti64 (paper is 304).",
    ),
]
if TYPE_CHECKING:
    ControllerName = str
else:
    ControllerName = Literal[tuple(CONTROLLERS)]  # for shells
WindowK = Annotated[tuple[float, float] | None, of_process("window_k", example="760,800")]
PowerMaxW = Annotated[
    float | None, number(1e-3, 1e4, "W", "The most in W that the laser can give.", default=OF_PROCESS)
]
Delta = Annotated[
    float | None,
    number(
        *(0.0, 1e3, "K", "Margin in K below the window's top that plans keep; 0 switches it off."),
        default="as calibrated for the process or the model",
    ),
]
Tracking = Annotated[
    float | None,
    number(
        *(0.0, 1e6, "", "Price of leaving the window's middle; 0 as in the paper."),
        default="100 of the twin, 0 of the others",
    ),
]
Workers = Annotated[int | None, number(1, 1024, "", "Processes on this machine.", default="one per core")]
Scheduler = Annotated[
    str | None, Parameter(help="Address of a dask scheduler to use instead, such as tcp://host:8786.")
]
SEED = (0, 2**32 - 1, "")
OFFSET = take(Quantity(low=-1e4, high=1e4, unit="mm", names=("x", "y")), default="0,0", example="-50,-50")


@Parameter(name="*", group="Process")
@dataclass(frozen=True, kw_only=True)
class ProcessOptions:
    """A process, and options that override its keys."""

    process: ProcessName = "304"
    material: Annotated[str | None, Parameter(show_default=lambda _: OF_PROCESS)] = None
    """The alloy: 304, 316, in625, ti64, or a .yaml or .csv file of properties over temperature."""
    plate_mm: Annotated[tuple[float, float, float] | None, of_process("plate_mm", example="15,10,2")] = None
    ambient_k: Annotated[float | None, of_process("ambient_k")] = None
    sigma_um: Annotated[float | None, of_process("sigma_um")] = None
    absorptivity: Annotated[float | None, of_process("absorptivity")] = None
    lag_us: Annotated[float | None, Parameter(name="--laser-lag-us"), of_process("lag_us")] = None
    tick_us: Annotated[float | None, of_process("tick_us")] = None

    def find(self, **more: Any) -> "Process":
        """The process that is meant; `more` are values by the names of its keys, None for none."""
        from laserloop.process import find_process

        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "process"}
        return find_process(self.process).change(**_drop_none(values | more))


@Parameter(name="*", group="Window and camera")
@dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """Where the peak temperature is wanted, what the laser can give, and how good the camera is."""

    window_k: WindowK = None
    power_max_w: PowerMaxW = None
    noise_k: Annotated[float | None, of_process("noise_k")] = None
    delay_ticks: Annotated[int | None, Parameter(name="--delay"), of_process("delay_ticks")] = None
    every_ticks: Annotated[int | None, Parameter(name="--every"), of_process("every_ticks")] = None
    pixel_um: Annotated[float | None, of_process("pixel_um")] = None
    seed: Annotated[int, number(*SEED, "Seed of the camera's noise.")] = 0

    def change(self, process: "Process") -> "Process":
        """A process with these changes."""
        from laserloop.planning.window import check_window

        values = {item.name: getattr(self, item.name) for item in fields(self)}
        del values["power_max_w"], values["seed"]
        changed = process.limit_power(self.power_max_w).change(**_drop_none(values))
        check_window(changed)
        return replace(changed, camera=replace(changed.camera, seed=self.seed))


@Parameter(name="*", group="Path")
@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """How the beam goes along its path."""

    ticks: Annotated[
        int | None, number(1, 10_000_000, "ticks", default="400 for simulate, 320 for control, all of a file")
    ] = None
    """Number of ticks."""
    speed_mm_s: Annotated[
        float | None, number(1e-3, 1e6, "mm/s", default="as the file says, else the process")
    ] = None
    """Scan speed in mm/s with the laser on; slower is hotter."""
    layer: Annotated[int | None, number(1, 1_000_000, default="the first")] = None
    """Which layer of a file, counted from 1."""
    offset_mm: Annotated[tuple[float, float] | None, OFFSET, Parameter(allow_leading_hyphen=True)] = None
    """Added in mm to a file's coordinates, whose origin is the plate's centre here."""
    centre: Annotated[bool, flag("Move the lit part of a file to the plate's centre.")] = False
    jump_mm_s: Annotated[float | None, number(1e-3, 1e6, "mm/s", default="1000")] = None
    """Speed in mm/s of laser-off moves where a file gives none."""
    s_max: Annotated[float | None, number(1e-3, 1e6, default="S is in W")] = None
    """The S word of G-code that stands for the laser's full power."""

    def find(self, text: str, process: "Process", *, ticks: int | None = None) -> "ScanPath":
        """The path that a person means by `text`; a built-in one lasts `ticks` unless told otherwise."""
        from laserloop.paths import Placement, find_path, names_file
        from laserloop.paths.path import note_tiny
        from laserloop.planning.window import note_leap

        on_file, speed = names_file(text), in_si(self.speed_mm_s)
        placement = Placement(
            layer=self.layer,
            offset=in_si(self.offset_mm or (0.0, 0.0)),
            centre=self.centre,
            jump_speed=1.0 if self.jump_mm_s is None else in_si(self.jump_mm_s),
            s_max=self.s_max,
        )
        ticks = self.ticks if on_file or self.ticks is not None else ticks
        path = find_path(text, process, ticks=ticks, speed=speed, placement=placement)
        notes = [*path.notes, *note_leap(process, speed or float(path.lit_speeds.max(initial=0.0)))]
        if on_file and self.ticks is None:
            notes += note_tiny(path.name, path.positions, path.lit, process.beam.sigma)
        print_notes(notes)
        return replace(path, notes=tuple(notes))


@Parameter(name="*", group="Power")
@dataclass(frozen=True, kw_only=True)
class PowerOptions:
    """What the laser gives."""

    power_w: Annotated[
        float | str | None,
        take(Quantity(low=0.0, high=1e4, unit="W"), default=f"{DEFAULT_POWER_W:g}", words=(FROM_FILE,)),
        Parameter(metavar="W|file"),
    ] = None
    """Constant laser power in W, or file for the powers that the path's file itself commands."""
    excitation: Literal["persistent", "hf-random", "bang-bang"] | None = None
    """Random power up to what the laser gives: slow holds, a new value each tick, or on and off."""
    seed: Annotated[int | None, number(*SEED, default="0")] = None
    """Seed of --excitation; the same seed gives the same power."""

    def __post_init__(self) -> None:
        if self.excitation is not None and self.power_w is not None:
            raise BadInput("--power-w and --excitation exclude each other, but both were given; drop one")
        if self.excitation is None and self.seed is not None:
            raise BadInput("--seed belongs to --excitation, but came without it; add --excitation persistent")

    def draw(self, path: "ScanPath", process: "Process") -> "tuple[NDArray[np.float64], tuple[str, ...]]":
        """Power for each tick of a path, W, and what to know about it; sentences without their full stop."""
        import numpy as np

        most = process.laser.power[1]
        if self.excitation is not None:
            from laserloop.data.ensemble import draw_power

            rng = np.random.default_rng(self.seed or 0)
            return draw_power(self.excitation, len(path), rng, power_max=most), ()
        if self.power_w == FROM_FILE:
            if path.power is None:
                raise BadInput(
                    f"--power-w file needs a file that commands powers, but {path.name} does not; give watts"
                )
            beyond = (
                f"{path.name} commands up to {path.power.max():g} W, which is simulated although the "
                f"process's laser gives at most {most:g} W; if S is not in W, give --s-max"
            )
            return path.power, (beyond,) if path.power.max() > most else ()
        unused = path.power is not None and self.power_w is None
        notes = (f"{path.name} commands its own powers, which are not used; try --power-w file",)
        power = DEFAULT_POWER_W if self.power_w is None else float(self.power_w)
        return np.full(len(path), power), notes if unused else ()


def in_si(value: Any) -> Any:
    """Millimetres as metres, also a pair of them and where there is none."""
    if value is None:
        return None
    return tuple(part / 1e3 for part in value) if isinstance(value, tuple) else value / 1e3


def _drop_none(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
