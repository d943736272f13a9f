"""The options that verbs share: numbers and files with their rules, path, power and process."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from laserloop.bad_input import BadInput
from laserloop.process.keys import Key, find_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from laserloop.paths import ScanPath
    from laserloop.process import Process

DEFAULT_POWER_W = 14.0  # keeps straight lines inside the window on the paper plant
FROM_FILE = "file"
OF_PROCESS = "that of the process"

PathName = Annotated[
    str,
    Parameter(
        help="The path: vertical, horizontal, spiral, diagonal, polyline:SEED, or a file: .csv with the "
        "columns x_mm,y_mm, G-code, .cli or .txt."
    ),
]
PlantName = Annotated[
    Literal["paper", "graded"],
    Parameter(help="The paper's coarse grid, or a grid that is fine where the beam goes."),
]


Hint = Callable[[Sequence[float]], str]  # what to give instead of some numbers, or nothing


def take_number(
    low: float,
    high: float,
    unit: str,
    text: str,
    *,
    default: str | None = None,
    hint: Hint = lambda _: "",
) -> Parameter:
    """An option that takes a number from `low` to `high` and otherwise states this rule."""
    whole = isinstance(low, int)
    rule = f"a {'whole ' if whole else ''}number from {low:g} to {high:.12g}{' ' + unit if unit else ''}"

    def convert(_: type, tokens: Sequence[Token]) -> float:
        given = tokens[0].value
        try:
            value = int(given) if whole else float(given)
        except ValueError:
            value = float("nan")
        if "_" in given or not low <= value <= high:  # Python alone would read 1_4 as 14
            cure = hint([value]) or "correct it"
            raise BadInput(f"{tokens[0].keyword} must be {rule}, but got {given[:40]!r}; {cure}")
        return value

    return Parameter(
        converter=convert, help=text, show_default=(lambda _: default) if default else lambda v: f"{v:g}"
    )


def take_numbers(
    metavar: str, rule: str, text: str, accept: Any, *, default: str, hint: Hint = lambda _: ""
) -> Parameter:
    """An option that takes numbers with commas between them, if `accept` says so of them."""

    def convert(_: type, tokens: Sequence[Token]) -> tuple[float, ...]:
        try:
            numbers = tuple(float(part) for part in tokens[0].value.split(","))
        except ValueError:
            numbers = ()
        if len(numbers) != metavar.count(",") + 1 or not accept(numbers):
            cure = (numbers and hint(numbers)) or "correct it"
            raise BadInput(f"{tokens[0].keyword} must be {rule}, but got {tokens[0].value[:40]!r}; {cure}")
        return numbers

    return Parameter(
        converter=convert, n_tokens=1, negative="", metavar=metavar, help=text, show_default=lambda _: default
    )


def take_entry(key: str, *, example: str = "") -> Parameter:
    """An option that overrides a key of the process."""
    entry: Key = find_key(key)
    text = f"{entry.text} In {entry.unit}." if entry.unit not in ("", "ticks") else entry.text
    if not entry.names:
        low = int(entry.low) if entry.whole else entry.low
        high = int(entry.high) if entry.whole else entry.high
        return take_number(low, high, entry.unit, text, default=OF_PROCESS, hint=entry.hint)

    def accept(numbers: Iterable[float]) -> bool:
        given = list(numbers)
        inside = all(entry.low <= number <= entry.high for number in given)
        return inside and (not entry.rising or given == sorted(set(given)))

    rule = f"{entry.rule}, such as {example}"
    metavar = ",".join(entry.names).upper()
    return take_numbers(metavar, rule, text, accept, default=OF_PROCESS, hint=entry.hint)


def take_file(
    text: str, *, metavar: str = "FILE", check: Callable[[Path], None] = lambda _: None
) -> Parameter:
    """An option that takes a file; a single - passes, another option in its place does not.

    `check` may refuse the file before anything else is done.
    """

    def convert(_: type, tokens: Sequence[Token]) -> Path:
        given = tokens[0].value
        if not given or "\0" in given or (given.startswith("-") and given != "-"):
            raise BadInput(f"{tokens[0].keyword} must be followed by {metavar}, but got {given!r}; add it")
        check(Path(given))
        return Path(given)

    return Parameter(converter=convert, allow_leading_hyphen=True, metavar=metavar, help=text)


ProcessName = Annotated[
    str,
    Parameter(
        metavar="FILE|NAME",
        help="The process: a .yaml file, or a built-in one: paper, 304, 316, in625, ti64. Other options "
        "override it.",
    ),
]


@Parameter(name="*", group="Process")
@dataclass(frozen=True, kw_only=True)
class ProcessOptions:
    """What the user has: a process, and what differs from it."""

    process: ProcessName = "paper"
    material: Annotated[
        str | None,
        Parameter(
            help="The alloy: 304, 316, in625, ti64, or a .yaml or .csv file of properties over temperature.",
            show_default=lambda _: OF_PROCESS,
        ),
    ] = None
    plate_mm: Annotated[tuple[float, float, float] | None, take_entry("plate_mm", example="15,10,2")] = None
    ambient_k: Annotated[float | None, take_entry("ambient_k")] = None
    sigma_um: Annotated[float | None, take_entry("sigma_um")] = None
    absorptivity: Annotated[float | None, take_entry("absorptivity")] = None
    lag_us: Annotated[float | None, Parameter(name="--laser-lag-us"), take_entry("lag_us")] = None
    tick_us: Annotated[float | None, take_entry("tick_us")] = None

    def find(self, **more: Any) -> "Process":
        """The process that is meant; `more` are values by the names of its keys, None for none."""
        from laserloop.process import find_process

        given = {
            item.name: getattr(self, item.name) for item in fields(self) if item.name != "process"
        } | more
        return find_process(self.process).change(**{key: v for key, v in given.items() if v is not None})


@Parameter(name="*", group="Window and camera")
@dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """Where the peak temperature is wanted, what the laser can give, and how good the camera is."""

    window_k: Annotated[tuple[float, float] | None, take_entry("window_k", example="760,800")] = None
    power_max_w: Annotated[
        float | None,
        take_number(1e-3, 1e4, "W", "The most in W that the laser can give.", default=OF_PROCESS),
    ] = None
    noise_k: Annotated[float | None, take_entry("noise_k")] = None
    delay_ticks: Annotated[int | None, Parameter(name="--delay"), take_entry("delay_ticks")] = None
    every_ticks: Annotated[int | None, Parameter(name="--every"), take_entry("every_ticks")] = None
    pixel_um: Annotated[float | None, take_entry("pixel_um")] = None
    seed: Annotated[int, take_number(0, 2**32 - 1, "", "Seed of the camera's noise.")] = 0

    def change(self, process: "Process") -> "Process":
        """A process with these changes."""
        from laserloop.planning.window import check_window

        given = {item.name: getattr(self, item.name) for item in fields(self)}
        del given["power_max_w"], given["seed"]
        if self.power_max_w is not None:
            given["power_w"] = (min(process.laser.power[0], self.power_max_w / 2), self.power_max_w)
        changed = process.change(**{key: value for key, value in given.items() if value is not None})
        check_window(changed)
        return replace(changed, camera=replace(changed.camera, seed=self.seed))


@Parameter(name="*", group="Path")
@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """How the beam goes along its path."""

    ticks: Annotated[
        int | None,
        take_number(
            1, 10_000_000, "ticks", "Ticks to simulate.", default="400, of control 320; of a file all"
        ),
    ] = None
    speed_mm_s: Annotated[
        float | None,
        take_number(
            1e-3,
            1e6,
            "mm/s",
            "Scan speed in mm/s with the laser on; slower is hotter.",
            default="as the file says, else the process",
        ),
    ] = None
    layer: Annotated[
        int | None,
        take_number(1, 1_000_000, "", "Which layer of a file, counted from 1.", default="the first"),
    ] = None
    offset_mm: Annotated[
        tuple[float, float] | None,
        take_numbers(
            "X,Y",
            "two lengths in mm, such as -50,-50",
            "Added in mm to a file's coordinates, whose origin is the plate's centre here.",
            lambda numbers: all(abs(number) <= 1e4 for number in numbers),
            default="0,0",
        ),
        Parameter(allow_leading_hyphen=True),
    ] = None
    centre: Annotated[
        bool, Parameter(help="Move the lit part of a file to the plate's centre.", negative="")
    ] = False
    jump_mm_s: Annotated[
        float | None,
        take_number(
            1e-3, 1e6, "mm/s", "Speed in mm/s of laser-off moves where a file gives none.", default="1000"
        ),
    ] = None
    s_max: Annotated[
        float | None,
        take_number(
            1e-3, 1e6, "", "The S word of G-code that stands for the laser's full power.", default="S is in W"
        ),
    ] = None

    def find(self, text: str, process: "Process", *, ticks: int | None = None) -> "ScanPath":
        """The path that a person means by `text`; a built-in one lasts `ticks` unless told otherwise."""
        from laserloop.paths import Placement, find_path, names_file
        from laserloop.paths.path import tell_tiny

        on_file = names_file(text)
        x_mm, y_mm = self.offset_mm or (0.0, 0.0)
        placement = Placement(
            layer=self.layer,
            offset=(x_mm / 1e3, y_mm / 1e3),
            centre=self.centre,
            jump_speed=1.0 if self.jump_mm_s is None else self.jump_mm_s / 1e3,
            s_max=self.s_max,
        )
        asked = None if self.speed_mm_s is None else self.speed_mm_s / 1e3
        ticks = self.ticks if on_file or self.ticks is not None else ticks
        path = find_path(text, process, ticks=ticks, speed=asked, placement=placement)
        from laserloop.planning.window import tell_leap

        leap = tell_leap(process, asked or float(path.lit_speeds.max(initial=0.0)))
        path = replace(path, notes=(*path.notes, *leap))
        if on_file and self.ticks is None:
            tiny = tell_tiny(path.name, path.positions, path.lit, process.beam.sigma)
            path = replace(path, notes=(*path.notes, *tiny))
        tell_notes(path.notes)
        return path


def tell_notes(notes: Iterable[str]) -> None:
    """What a person should know, on standard error, each once."""
    for note in dict.fromkeys(notes):
        print(f"laserloop: note: {note}.", file=sys.stderr)


def _convert_power(_: type, tokens: Sequence[Token]) -> float | str:
    given = tokens[0].value
    if given == FROM_FILE:
        return FROM_FILE
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if "_" in given or not 0.0 <= value <= 1e4:
        raise BadInput(
            f"{tokens[0].keyword} must be a number from 0 to 10000 W, or file, but got {given[:40]!r}; "
            "correct it"
        )
    return value


@Parameter(name="*", group="Power")
@dataclass(frozen=True, kw_only=True)
class PowerOptions:
    """What the laser gives."""

    power_w: Annotated[
        float | str | None,
        Parameter(
            converter=_convert_power,
            metavar="W|file",
            help="Constant laser power in W, or file for the powers that the path's file itself commands.",
            show_default=lambda _: f"{DEFAULT_POWER_W:g}",
        ),
    ] = None
    excitation: Annotated[
        Literal["persistent", "hf-random", "bang-bang"] | None,
        Parameter(
            help="Random power up to what the laser gives: slow holds, a new value each tick, or on and off."
        ),
    ] = None
    seed: Annotated[
        int | None,
        take_number(
            0, 2**32 - 1, "", "Seed of --excitation; the same seed gives the same power.", default="0"
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.excitation is not None and self.power_w is not None:
            raise BadInput("--power-w and --excitation exclude each other, but both were given; drop one")
        if self.excitation is None and self.seed is not None:
            raise BadInput("--seed belongs to --excitation, but came without it; add --excitation persistent")

    def draw(self, path: "ScanPath", process: "Process") -> "tuple[NDArray[np.float64], tuple[str, ...]]":
        """Power for each tick of a path, W, and what to know about it; sentences without their full stop."""
        import numpy as np

        from laserloop.data.ensemble import draw_power

        if self.excitation is not None:
            rng = np.random.default_rng(self.seed or 0)
            return draw_power(self.excitation, len(path), rng, power_max=process.laser.power[1]), ()
        if self.power_w == FROM_FILE:
            if path.power is None:
                raise BadInput(
                    f"--power-w file needs a file that commands powers, but {path.name} does not; give watts"
                )
            return path.power, _tell_beyond(path, path.power.max(), process.laser.power[1])
        unused = path.power is not None and self.power_w is None
        notes = (f"{path.name} commands its own powers, which are not used; try --power-w file",)
        power = DEFAULT_POWER_W if self.power_w is None else float(self.power_w)
        return np.full(len(path), power), notes if unused else ()


def _tell_beyond(path: "ScanPath", asked: float, most: float) -> tuple[str, ...]:
    """A sentence if a file commands more than the laser can give."""
    if asked <= most:
        return ()
    return (
        f"{path.name} commands up to {asked:g} W, which is simulated although the process's laser gives at "
        f"most {most:g} W; if S is not in W, give --s-max",
    )
