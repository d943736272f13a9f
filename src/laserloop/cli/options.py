"""The options that verbs share: numbers and files with their rules, and what makes path, power and plant."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from laserloop.bad_input import BadInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from laserloop.paths import ScanPath
    from laserloop.plant import Plant

DEFAULT_POWER_W = 14.0  # keeps straight lines inside the window on the paper plant


def take_number(low: float, high: float, unit: str, text: str, *, default: str | None = None) -> Parameter:
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
            raise BadInput(f"{tokens[0].keyword} must be {rule}, but got {given[:40]!r}")
        return value

    return Parameter(
        converter=convert, help=text, show_default=(lambda _: default) if default else lambda v: f"{v:g}"
    )


def _convert_sides(_: type, tokens: Sequence[Token]) -> tuple[float, ...]:
    try:
        sides = tuple(float(side) for side in tokens[0].value.split(","))
    except ValueError:
        sides = ()
    if len(sides) != 3 or not all(0.2 <= side <= 1000 for side in sides):
        raise BadInput(
            f"{tokens[0].keyword} must be three lengths x,y,z from 0.2 to 1000 mm, such as 15,10,2, "
            f"but got {tokens[0].value[:40]!r}"
        )
    return sides


def take_file(text: str, *, metavar: str = "FILE") -> Parameter:
    """An option that takes a file; a single - passes, another option in its place does not."""

    def convert(_: type, tokens: Sequence[Token]) -> Path:
        given = tokens[0].value
        if not given or "\0" in given or (given.startswith("-") and given != "-"):
            raise BadInput(f"{tokens[0].keyword} must be followed by {metavar}, but got {given!r}")
        return Path(given)

    return Parameter(converter=convert, allow_leading_hyphen=True, metavar=metavar, help=text)


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
            1e-3, 1e6, "mm/s", "Scan speed in mm/s; slower is hotter.", default="304, or as the file says"
        ),
    ] = None
    tick_us: Annotated[
        float, take_number(1e-2, 1e6, "µs", "Control period in µs, during which the power is constant.")
    ] = 125.0

    def find(self, text: str, plate_mm: tuple[float, float, float]) -> "ScanPath":
        """The path that a person means by `text`."""
        from laserloop.paths import find_path

        plate = plate_mm[0] / 1e3, plate_mm[1] / 1e3
        speed = None if self.speed_mm_s is None else self.speed_mm_s / 1e3
        path = find_path(text, ticks=self.ticks, speed=speed, tick=self.tick_us / 1e6, plate=plate)
        for note in path.notes:
            print(f"laserloop: note: {note}.", file=sys.stderr)
        return path


@Parameter(name="*", group="Power")
@dataclass(frozen=True, kw_only=True)
class PowerOptions:
    """What the laser gives."""

    power_w: Annotated[
        float | None, take_number(0.0, 1e4, "W", "Constant laser power in W.", default=f"{DEFAULT_POWER_W:g}")
    ] = None
    excitation: Annotated[
        Literal["persistent", "hf-random", "bang-bang"] | None,
        Parameter(
            help="Random power from 0 to 20 W instead: slow holds, a new value each tick, or on and off."
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

    def draw(self, ticks: int) -> "NDArray[np.float64]":
        """Power for each tick, W."""
        import numpy as np

        from laserloop.data.excitation import draw_power

        if self.excitation is not None:
            return draw_power(self.excitation, ticks, np.random.default_rng(self.seed or 0))
        return np.full(ticks, DEFAULT_POWER_W if self.power_w is None else self.power_w)


@Parameter(name="*", group="Plant")
@dataclass(frozen=True, kw_only=True)
class PlantOptions:
    """What the laser heats."""

    plant: Annotated[
        Literal["paper", "graded"],
        Parameter(help="The paper's coarse grid, or a grid that is fine where the beam goes."),
    ] = "paper"
    material: Annotated[
        str,
        Parameter(help="304, 316, in625, ti64, or a .yaml or .csv file of properties against temperature."),
    ] = "304"
    ambient_k: Annotated[
        float, take_number(1.0, 5e3, "K", "Initial temperature, and that of the plate's bottom, in K.")
    ] = 300.0
    sigma_um: Annotated[
        float, take_number(5.0, 1e4, "µm", "Standard deviation of the Gaussian beam in µm; wider is cooler.")
    ] = 100.0
    absorptivity: Annotated[float, take_number(1e-4, 1.0, "", "Share of the power that becomes heat.")] = 1.0
    plate_mm: Annotated[
        tuple[float, float, float],
        Parameter(
            converter=_convert_sides,
            n_tokens=1,
            negative="",
            metavar="X,Y,Z",
            help="Edges of the plate in mm; the origin is the centre of its surface.",
            show_default=lambda sides: ",".join(f"{side:g}" for side in sides),
        ),
    ] = (15.0, 10.0, 2.0)

    def describe(self) -> dict[str, Any]:
        """All but the plant's name, SI, as `make_plant` takes it."""
        return {
            "material": self.material,
            "ambient": self.ambient_k,
            "sigma": self.sigma_um / 1e6,
            "absorptivity": self.absorptivity,
            "plate": tuple(side / 1e3 for side in self.plate_mm),
        }

    def make(self, path: "ScanPath") -> "Plant":
        """The plant for a path."""
        from laserloop.plant import make_plant

        return make_plant(self.plant, path, **self.describe())
