"""The options of planning: what the file is, and what the machine takes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from laserloop.cli.options import take_file, take_number, take_numbers

if TYPE_CHECKING:
    from laserloop.paths import Placement
    from laserloop.planning.commands import PlanSettings
    from laserloop.planning.verify import Checking

PlanPath = Annotated[
    str,
    Parameter(
        help="The file: G-code, .cli, .txt (segment table), .inp (event series) or .csv (waypoints); "
        "or a built-in path, written as .csv."
    ),
]
Out = Annotated[
    Path,
    take_file(
        "Where the planned file goes; it has the format of PATH. Of several files the folder that they go "
        "to under their own names."
    ),
]


@Parameter(name="*", group="Path")
@dataclass(frozen=True, kw_only=True)
class LayOptions:
    """Where a file lies on the plate, and what its numbers mean."""

    layer: Annotated[
        int | None, take_number(1, 1_000_000, "", "Plan one layer only, counted from 1.", default="all")
    ] = None
    recoating_s: Annotated[
        float, take_number(0.0, 1e6, "s", "Time in s between two layers, in which the plate cools.")
    ] = 10.0
    offset_mm: Annotated[
        tuple[float, float],
        take_numbers(
            "X,Y",
            "two lengths in mm, such as -50,-50",
            "Where in mm the file's origin lies, seen from the plate's centre; what is written keeps it.",
            lambda numbers: all(abs(number) <= 1e4 for number in numbers),
            default="0,0",
        ),
        Parameter(allow_leading_hyphen=True),
    ] = (0.0, 0.0)
    centre: Annotated[
        bool, Parameter(help="Take the middle of the file's lit part for the plate's centre.", negative="")
    ] = False
    jump_mm_s: Annotated[
        float, take_number(1e-3, 1e6, "mm/s", "Speed in mm/s of laser-off moves where the file gives none.")
    ] = 1000.0
    s_max: Annotated[
        float | None,
        take_number(
            1e-3, 1e6, "", "The S word of G-code that stands for the laser's full power.", default="S is in W"
        ),
    ] = None

    def find(self) -> "Placement":
        """Where that is."""
        from laserloop.paths import Placement

        x_mm, y_mm = self.offset_mm
        return Placement(
            layer=self.layer,
            offset=(x_mm / 1e3, y_mm / 1e3),
            centre=self.centre,
            jump_speed=self.jump_mm_s / 1e3,
        )


@Parameter(name="*", group="Simulation")
@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """How far what is planned is checked on the graded plant."""

    verify: Annotated[
        bool,
        Parameter(
            help="Simulate what is written on the graded plant: the default. --no-verify skips that, and "
            "the file says so.",
            negative="--no-verify",
        ),
    ] = True
    refine: Annotated[
        int | None,
        take_number(
            0,
            10,
            "",
            "Plan anew just so many times with what a simulation taught, whether it holds already or not.",
            default="until it holds or that stops helping",
        ),
    ] = None
    verify_ticks: Annotated[
        int,
        take_number(
            1,
            100_000_000,
            "",
            "Simulate at most so many ticks, from the file's first on, at some milliseconds each; the rest "
            "is named as not verified. --layer chooses another part.",
        ),
    ] = 50_000

    def find(self) -> "Checking":
        """As planning has it."""
        from laserloop.planning.verify import Checking

        return Checking(simulate=self.verify, refine=self.refine, ticks=self.verify_ticks)


@Parameter(name="*", group="Commands")
@dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """What the machine takes."""

    by: Annotated[
        Literal["point", "segment", "vector"],
        Parameter(
            help="Change the power wherever it has to change, in pieces of --segment-mm, or keep one power "
            "for each move of the file, which then keeps all its lines."
        ),
    ] = "point"
    segment_mm: Annotated[
        float, take_number(1e-2, 1e4, "mm", "Length in mm of the pieces of --by segment.")
    ] = 0.5
    tolerance_k: Annotated[
        float,
        take_number(
            0.05, 100.0, "K", "What in K fewer pieces may cost in --by point; less makes more pieces."
        ),
    ] = 1.0
    step_w: Annotated[
        float,
        take_number(1e-4, 100.0, "W", "The laser's least step in W; of G-code with whole S at least one S."),
    ] = 0.01
    commands_per_s: Annotated[
        float | None,
        take_number(
            1.0, 1e9, "1/s", "The most changes of power in a second.", default="as many as there are"
        ),
    ] = None
    speed_mm_s: Annotated[
        tuple[float, float] | None,
        take_numbers(
            "LOW,HIGH",
            "two speeds in mm/s, low before high, such as 150,600",
            "Free the speed of each vector between two speeds in mm/s: the fastest at which power and "
            "temperature stay within their limits.",
            lambda numbers: 1e-3 <= numbers[0] <= numbers[1] <= 1e6,
            default="as the file says",
        ),
    ] = None

    def find(self) -> "PlanSettings":
        """In SI units."""
        from laserloop.planning.commands import PlanSettings

        low_high = self.speed_mm_s
        return PlanSettings(
            by=self.by,
            segment=self.segment_mm / 1e3,
            tolerance=self.tolerance_k,
            step=self.step_w,
            rate=self.commands_per_s or float("inf"),
            speeds=None if low_high is None else (low_high[0] / 1e3, low_high[1] / 1e3),
        )
