"""What we want from the loop: a window, power bounds and the price of power, moves and missing heat.

P̄ = P/P_max      T̂_i prediction, K      J = w_P ΣP̄² + w_ΔP Σ(P̄_i − P̄_{i−1})² + w_ε Σ ε_i/ε_max
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.predict.predictor import Forecast

LONGEST_HORIZON = 100  # ticks
ROOM = 0.9  # of half the window, which margins may take


@dataclass(frozen=True, slots=True, kw_only=True)
class MpcProblem:
    """Least power and calm moves that keep every T̂_i below the window's top and, if possible, above its foot.

    Contains no solver words.
    """

    horizon: int = 5  # ticks
    window: tuple[float, float] = (760.0, 800.0)  # K, soft below, hard above
    power: tuple[float, float] = (0.0, 20.0)  # W, what the laser can give
    power_cost: float = 1.0  # w_P; larger is cooler
    move_cost: float = 10.0  # w_ΔP; larger is calmer and slower
    slack_cost: float = 1e6  # w_ε for a slack of `slack_scale`; must dwarf the others
    slack_scale: float = 500.0  # ε_max, K
    margin_above: float = 0.0  # δ, K: the plan stays this far below the window's top
    margin_below: float = 0.0  # K: the plan tries to stay this far above its foot
    tracking_cost: float = 0.0  # of Σ((T̂_i − middle)/half width)²; larger holds the middle of the window

    def __post_init__(self) -> None:
        _check_whole("horizon", self.horizon, LONGEST_HORIZON)
        _check_pair("window", self.window, "K")
        _check_pair("power", self.power, "W")
        if self.power[0] < 0:
            raise BadInput(f"the power must be 0 W or more, got {self.power[0]:g} W: raise the lower bound")
        for name in (
            "power_cost",
            "move_cost",
            "slack_cost",
            "margin_above",
            "margin_below",
            "tracking_cost",
        ):
            _check_number(name, getattr(self, name), least=0.0)
        _check_number("slack_scale", self.slack_scale, least=1e-9)
        if self.floor >= self.ceiling:
            raise BadInput(
                f"the margins must leave room in the window of {self.window[0]:g} to {self.window[1]:g} K, "
                f"got {self.margin_above:g} K above and {self.margin_below:g} K below: take smaller ones"
            )

    @property
    def ceiling(self) -> float:
        """The highest temperature a plan may predict, K."""
        return self.window[1] - self.margin_above

    @property
    def floor(self) -> float:
        """The temperature below which a plan pays, K."""
        return self.window[0] + self.margin_below

    @property
    def middle(self) -> float:
        """The middle of the window, K."""
        return 0.5 * (self.window[0] + self.window[1])

    @property
    def half_width(self) -> float:
        """Half the width of the window, K."""
        return 0.5 * (self.window[1] - self.window[0])

    @property
    def slack_price(self) -> float:
        """What a kelvin below the floor costs, 1/K."""
        return self.slack_cost / self.slack_scale

    def aim(self, window: tuple[float, float]) -> "MpcProblem":
        """The same with another window, K; margins for which it has no room shrink."""
        _check_pair("window", window, "K")
        room = ROOM * 0.5 * (window[1] - window[0])
        above, below = min(self.margin_above, room), min(self.margin_below, room)
        return replace(self, window=window, margin_above=above, margin_below=below)

    def cost(
        self,
        plan: NDArray[np.float64],
        predicted: NDArray[np.float64],
        previous: float,
        *,
        counts: NDArray[np.bool_] | bool = True,
        moves: NDArray[np.bool_] | bool = True,
    ) -> float:
        """J of a plan, W, with its prediction, K, after `previous`, W; slacks as small as they can be.

        `counts`: the ticks whose temperature counts. `moves`: those whose change of power has a price.
        """
        scaled = np.concatenate(([previous], plan)) / self.power[1]
        slack = np.maximum(self.floor - predicted, 0.0)
        offset = (predicted - self.middle) / self.half_width
        return float(
            self.power_cost * np.sum(scaled[1:] ** 2)
            + self.move_cost * np.sum(moves * np.diff(scaled) ** 2)
            + self.slack_price * np.sum(counts * slack)
            + self.tracking_cost * np.sum(counts * offset**2)
        )


def _check_whole(name: str, value: object, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BadInput(f"the {name} must be a whole number from 1 to {most}, got {value!r}: choose another")


def _check_number(name: str, value: object, *, least: float) -> None:
    if not (isinstance(value, float | int) and math.isfinite(value) and value >= least):
        label = name.replace("_", " ")
        raise BadInput(f"the {label} must be a finite number of at least {least:g}, got {value!r}: change it")


def _check_pair(name: str, pair: tuple[float, float], unit: str) -> None:
    if not (len(pair) == 2 and all(math.isfinite(value) for value in pair) and pair[0] < pair[1]):
        raise BadInput(
            f"the {name} must be two finite numbers, low before high, in {unit}, got {pair!r}: correct it"
        )


if TYPE_CHECKING:
    from laserloop.control.controller import Status
    from laserloop.predict.window import WindowForecast

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """What is believed at a tick, where to start from, and which ticks have light.

    A dark tick has no power, and its temperature does not count. Going dark and coming back are no moves.
    """

    forecast: Forecast
    start: FloatArray  # (N_h,), W, a plan to begin the search with
    lit: BoolArray  # (N_h,), of the plan's ticks
    resumes: bool = False  # the tick before the plan was dark

    @property
    def committed(self) -> FloatArray:
        """(d,), W, first powers of the plan that cannot be changed any more; often none."""
        return self.forecast.committed

    @property
    def previous(self) -> float:
        """The power before the plan's first, W."""
        return self.forecast.previous

    @property
    def free(self) -> BoolArray:
        """(N_h,): ticks whose power can be chosen; the temperatures of the others do not count."""
        return self.lit & (np.arange(len(self.lit)) >= len(self.committed))

    @property
    def moves(self) -> BoolArray:
        """(N_h,): ticks whose power is a move away from the one before, with light in both."""
        return self.lit & np.concatenate(([not self.resumes], self.lit[:-1]))

    def settle(self, plan: FloatArray, power: tuple[float, float]) -> FloatArray:
        """A plan inside the power bounds with what is committed and dark put in; what is no number is 0 W."""
        count = min(len(self.committed), len(plan))
        settled = np.clip(np.nan_to_num(plan), *power)
        settled[:count] = np.clip(np.nan_to_num(self.committed[:count]), *power)
        settled[~self.lit & (np.arange(len(plan)) >= count)] = 0.0
        return settled

    def network(self, horizon: int) -> "WindowForecast":
        """The forecast, for solvers that know only networks; others and other lengths are refused."""
        from laserloop.predict.window import WindowForecast

        known = self.forecast
        if not isinstance(known, WindowForecast):
            raise BadInput(f"this solver plans with networks only, got a {type(known).__name__}: use sqp")
        shapes = known.kinematics.shape, known.temps.shape, known.location.shape, self.start.shape
        if shapes != ((horizon, 4), (horizon + 1,), (2,), (horizon,)):
            raise BadInput(
                f"kinematics, temps, location and start of a question over {horizon} ticks must have the "
                f"shapes ({horizon}, 4), ({horizon + 1},), (2,) and ({horizon},), got {shapes}: correct them"
            )
        return known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """A plan and what it leads to. Plans always lie inside the power bounds, dark ticks at 0 W."""

    plan: FloatArray  # (N_h,), W
    predicted: FloatArray  # (N_h,), K
    status: "Status"  # SOLVED, STOPPED, INFEASIBLE or NO_PREDICTION
    iterations: int
    solve_s: float  # inside the solver


class Solver(Protocol):
    """Answers one question at a time and never raises for a hard one."""

    name: str

    def reset(self) -> None:
        """Forget what was learned from earlier questions."""

    def solve(self, question: Question) -> Solution:
        """The best plan found."""


@runtime_checkable
class Adjusting(Solver, Protocol):
    """A solver that takes another window between two questions."""

    def set_problem(self, problem: MpcProblem) -> None:
        """Solve this from now on; only window and margins may differ."""


TRACKING = 100.0  # price of leaving the middle: 1 K weighs as much as a move of 3 W out of 20


def make_twin_problem(problem: MpcProblem, tracking: float | None = None) -> MpcProblem:
    """The same window, power and margins; `tracking` instead of the twin's own price of the middle."""
    price = TRACKING if tracking is None else tracking
    return replace(problem, tracking_cost=price, power_cost=0.0)
