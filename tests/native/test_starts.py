"""The first ticks of light after the dark: one table of ways through both twins, and some on the plant."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control.controller import Controller
from laserloop.control.mpc import MpcController
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.control.sqp import SqpSolver
from laserloop.loop.run import look_ahead
from laserloop.native.twin import QPS, TwinController
from laserloop.paths import ScanPath
from laserloop.plant import make_plant
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process

FloatArray = NDArray[np.float64]
HOP = 38e-6  # m, of a lit tick


@dataclass(frozen=True, kw_only=True)
class Start:
    """Two vectors with dark ticks between them, the second beside the first or somewhere else.

    Nobody says in the dark that the light will come back, as where a machine begins layer after layer.
    """

    hops: int  # of each vector
    dark: int  # ticks; in 0 of them the beam turns with the laser on
    gap: tuple[float, float]  # m, from the end of the first vector to the beginning of the second
    turn: bool = False  # whether the second runs back
    most: float = 60.0  # W
    hold: int = 0  # of the dark ticks, in which the path is lit but the machine gave nothing
    foresight: int | None = 1  # ticks of the way that are known, and of the light; None: all
    lag_us: float = 0.0
    tops: float = 800.0  # K

    @property
    def process(self) -> Process:
        window = [self.tops - 40.0, self.tops]
        return Process().change(power_w=[0.0, self.most], lag_us=self.lag_us, window_k=window)

    @property
    def path(self) -> ScanPath:
        along = np.arange(self.hops + 1)[:, np.newaxis] * np.array([HOP, 0.0])
        begin = along[-1] + np.array(self.gap)
        jump = along[-1] + np.linspace(0.0, 1.0, self.dark + 1)[1:-1, np.newaxis] * (begin - along[-1])
        second = begin + (-1.0 if self.turn else 1.0) * along
        lit = np.repeat([True, False, True], [self.hops, self.dark - self.hold, self.hops + self.hold])
        return ScanPath(name="start", positions=np.concatenate((along, jump, second)), lit=lit)


LAYER = -8 * HOP
STARTS = {
    "beside, back": Start(hops=8, dark=4, gap=(0.0, 1e-4), turn=True),
    "beside, there again": Start(hops=8, dark=3, gap=(LAYER, 1e-4)),
    "one dark tick": Start(hops=8, dark=1, gap=(0.0, 1.5e-4), turn=True),
    "narrow": Start(hops=5, dark=2, gap=(0.0, 5e-5), turn=True),
    "wide": Start(hops=8, dark=16, gap=(0.0, 3e-4), turn=True, most=20.0),
    "another layer": Start(hops=8, dark=60, gap=(LAYER, 0.0)),
    "weak": Start(hops=8, dark=12, gap=(LAYER, 1e-4), most=20.0),
    "strong": Start(hops=8, dark=6, gap=(0.0, 1e-4), turn=True, most=400.0),
    "hot": Start(hops=6, dark=5, gap=(0.0, 1.5e-4), turn=True, tops=1220.0),
    "lag": Start(hops=8, dark=4, gap=(0.0, 1.5e-4), turn=True, lag_us=100.0),
    "machine held": Start(hops=8, dark=4, hold=4, gap=(4 * HOP, 0.0)),
    "foretold": Start(hops=8, dark=3, gap=(0.0, 1e-4), turn=True, foresight=None),
}
SIMULATED = ("beside, back", "one dark tick", "narrow", "another layer", "strong", "hot", "machine held")


def drive(start: Start, controller: Controller) -> FloatArray:
    """The powers of a loop without images, W."""
    path, powers = start.path, list[float]()
    held = range(start.hops + start.dark - start.hold, start.hops + start.dark)
    for k in range(len(path)):
        known = look_ahead(path, k, powers, controller.horizon, controller.memory, start.foresight)
        action = controller.act(None, known)
        powers.append(action.power if path.lit[k] and k not in held else 0.0)
    return np.array(powers)


def want(start: Start) -> MpcProblem:
    return make_twin_problem(MpcProblem(window=start.process.window, power=start.process.laser.power))


@cache
def find_powers(name: str) -> FloatArray:
    start = STARTS[name]
    return drive(start, TwinController(TwinPredictor(start.process), want(start)))


@pytest.mark.parametrize("name", STARTS)
def test_both_twins_light_up_with_the_same_powers(compilers: list[str], name: str) -> None:
    start, problem = STARTS[name], want(STARTS[name])
    solver = SqpSolver(problem, max_iterations=QPS, halvings=0)
    readable = MpcController(TwinPredictor(start.process), solver, problem, resume=True, until_dark=True)
    assert drive(start, readable) == pytest.approx(find_powers(name), abs=0.02)


@pytest.mark.parametrize("name", SIMULATED)
def test_the_plate_is_never_hotter_than_was_planned_from_the_first_tick_of_light_on(
    compilers: list[str], name: str
) -> None:
    start, powers = STARTS[name], find_powers(name)
    path, top = start.path, start.process.window[1]
    plant = make_plant("graded", start.process)
    plant.reset()
    T = np.array([plant.step(float(watts), path.spot(k)).peak.temperature for k, watts in enumerate(powers)])
    lit = powers > 0.0
    assert T[lit].max() < top + 5.0
    first = len(path) - start.hops  # the tick with which the second vector begins
    assert T[first] > top - 60.0  # the window is 40 K wide
