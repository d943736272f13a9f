"""The fault table of the integrators' page, row by row, on the compiled export with the twin as the plate.

No fault of one sensor drives the true peak more than 25 K above the ceiling, and the laser is dark in the
time that the table states. The plate absorbs 5 % less than the process says.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.native import build
from laserloop.native.deployed import Deployed, Frame, TickAnswer, TickInput
from laserloop.native.twin_export import list_texts
from laserloop.native.vectors import Plate, bounce
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process

Change = Callable[[int, TickInput, "Machine"], TickInput]

START, TICKS, CEILING, MOST = 40, 160, 800.0, 25.0  # ticks until the fault, and in all; K
SOLVED, HELD, LEAST, EXHAUSTED = 0, 3, 7, 8
NONE, TAKEN, COLD, LEFT_OUT, IMPLAUSIBLE, FROZEN, TOO_OLD, MISPLACED, TOO_HOT, IN_FUTURE = range(10)
SIGMA = 100e-6  # m


@dataclass(eq=False)
class Machine:
    """An exported controller in the loop with the twin's own plate."""

    process: Process
    door: Deployed
    plate: Plate
    way: NDArray[np.float64]
    kept: TickInput | None = None  # the last tick before the fault

    def run(self, change: Change, *, missed: range = range(0), gate: range = range(0)) -> "Story":
        """Every tick as it is, from START on as `change` says.

        `missed`: calls that are not made; `gate`: ticks in which the laser is kept off.
        """
        answers, peaks, power = dict[int, TickAnswer](), list[float](), 0.0
        for k in range(TICKS):
            if k not in missed:
                tick = TickInput(tick=k, way=self.way[k : k + 6].copy(), dark=5 * [False], commanded=power)
                seen = self.plate.see(self.process.camera.delay)
                if seen is not None:
                    tick = replace(tick, age=self.process.camera.delay, peak=seen[0], frame=seen[1])
                self.kept = tick if k == START else self.kept
                answers[k] = self.door.step(change(k, tick, self) if k >= START else tick)
                power = answers[k].power
            power = 0.0 if k in gate else power
            self.plate.step(power, self.way[k + 1])
            now = self.plate.see(0)
            assert now is not None
            peaks.append(now[0] - self.plate.errors[-1])
        return Story(answers, np.array(peaks), self.door.faults)


@dataclass(eq=False)
class Story:
    """What came of it."""

    answers: dict[int, TickAnswer]
    peaks: NDArray[np.float64]  # K, true
    faults: int

    @property
    def worst(self) -> float:
        """K, from the fault on."""
        return float(self.peaks[START:].max())

    def until(self, what: Callable[[TickAnswer], bool]) -> int | None:
        """Ticks from the fault until an answer says so."""
        return next((k - START for k, answer in self.answers.items() if k >= START and what(answer)), None)

    def until_seen(self, *readings: int) -> int | None:
        """Ticks until the measurement is judged like that."""
        return self.until(lambda answer: answer.measurement in readings)

    @property
    def until_dark(self) -> int | None:
        """Ticks until the laser is off for good."""
        dark = self.until(lambda answer: answer.status == EXHAUSTED)
        if dark is not None:
            assert not any(answer.power for k, answer in self.answers.items() if k >= START + dark)
        return dark


@pytest.fixture(scope="module")
def doors(compilers: list[str]) -> Callable[[Process], Deployed]:
    kept = dict[str, Deployed]()

    def find(process: Process) -> Deployed:
        if process.hash not in kept:
            problem = make_twin_problem(MpcProblem(power=process.laser.power))
            texts, horizon = list_texts(process, problem)
            kept[process.hash] = Deployed(build.load_library(texts, "twin.c"), horizon)
        return kept[process.hash]

    return find


@pytest.fixture(params=[0.0, 5.0], ids=["exact", "5 K of noise"])
def machine(request: pytest.FixtureRequest, doors: Callable[[Process], Deployed]) -> Machine:
    return make_machine(doors, Process().change(noise_k=request.param))


def make_machine(doors: Callable[[Process], Deployed], process: Process, absorbed: float = 0.95) -> Machine:
    twin = TwinPredictor(process)
    door, plate, way = doors(process), Plate(twin, absorbed), bounce(twin, TICKS + 6)
    door.init()
    plate.begin(way[0], 0)
    assert door.begin(*map(float, way[0]))
    return Machine(process, door, plate, way)


def show(change: Change) -> Change:
    """A pyrometer: the peak alone."""
    return lambda k, tick, machine: change(k, replace(tick, frame=None), machine)


def blind(tick: TickInput) -> TickInput:
    """Nothing was seen."""
    return replace(tick, frame=None, peak=None)


def move(tick: TickInput, frame: Frame | None, dx: float, dy: float = 0.0) -> TickInput:
    """With a frame that lies elsewhere, m."""
    if frame is None:
        return tick
    return replace(tick, frame=(frame[0] + dx, frame[1] + dy, frame[2]))


@pytest.mark.parametrize("value", [500.0, 700.0, 770.0, 790.0, 799.0])
def test_a_stuck_pyrometer(machine: Machine, value: float) -> None:
    story = machine.run(show(lambda k, tick, _: replace(tick, peak=value)))
    noticed = story.until_seen(FROZEN, LEFT_OUT, IMPLAUSIBLE)
    assert noticed is not None
    assert noticed <= (2 if machine.process.camera.noise == 0 else 20)
    assert story.worst < CEILING + MOST
    assert (
        story.until_dark is not None or value == 700.0
    )  # left out as far off, each time: planned without it


@pytest.mark.parametrize("follows", [False, True], ids=["fixed", "follows the beam"])
def test_a_frozen_camera(machine: Machine, follows: bool) -> None:
    def freeze(k: int, tick: TickInput, machine: Machine) -> TickInput:
        assert machine.kept is not None
        off = tick.way[0] - machine.kept.way[0] if follows else np.zeros(2)
        return move(tick, machine.kept.frame, float(off[0]), float(off[1]))

    story = machine.run(freeze)
    assert story.until_seen(FROZEN) == 1
    assert story.until_dark == 5
    assert story.worst < CEILING


@pytest.mark.parametrize("sigmas", [2.0, 3.0, 10.0])
def test_a_misplaced_frame(machine: Machine, sigmas: float) -> None:
    story = machine.run(lambda k, tick, _: move(tick, tick.frame, sigmas * SIGMA))
    assert story.until_seen(MISPLACED) == 0
    assert story.until_dark == 4
    assert story.worst < CEILING


@pytest.mark.parametrize("along", [0.5, -0.5, 1.0, -1.0])
@pytest.mark.parametrize("across", [False, True], ids=["x", "y"])
def test_a_frame_that_is_a_little_misplaced_is_found_where_it_lies(
    machine: Machine, along: float, across: bool
) -> None:
    """σ."""
    off = (0.0, along * SIGMA) if across else (along * SIGMA, 0.0)
    story = machine.run(lambda k, tick, _: move(tick, tick.frame, *off))
    assert story.until_dark is None
    assert story.worst < CEILING
    assert story.peaks[START + 30 :].min() > 760.0


@pytest.mark.parametrize("left", [0.9, 0.8, 0.7, 0.6], ids=lambda left: f"{left:g} of the rise")
def test_two_ticks_of_smoke(machine: Machine, left: float) -> None:
    def cloud(k: int, tick: TickInput, _: Machine) -> TickInput:
        seen = tick.peak if tick.peak is None or k > START + 1 else 300.0 + left * (tick.peak - 300.0)
        return replace(tick, frame=None, peak=seen)

    story = machine.run(cloud)
    assert story.until_seen(LEFT_OUT, IMPLAUSIBLE) == 0
    assert story.worst < CEILING + MOST
    assert story.until_dark is None


def test_a_sensor_that_reads_too_hot(machine: Machine) -> None:
    story = machine.run(show(lambda k, tick, _: replace(tick, peak=1500.0 + 0.1 * k)))
    assert story.until_seen(TOO_HOT) == 0
    assert story.answers[START].status == LEAST
    assert story.answers[START].power == 0.0
    assert story.until_dark is not None
    assert story.until_dark <= 16
    assert story.worst < CEILING


@pytest.mark.parametrize("most", [2.0, 5.0])
def test_a_plate_that_is_hotter_than_twice_what_is_expected(
    doors: Callable[[Process], Deployed], most: float
) -> None:
    """From the first tick on, with a laser of 60 W: held where the process says that it may be, else dark."""
    process = Process().change(absorptivity=0.3, power_w=[0, 60], heat_ratio=[0.5, most])
    machine = make_machine(doors, process, absorbed=2.2)
    story = machine.run(show(lambda k, tick, _: tick))
    assert story.answers[0].status == SOLVED  # nobody can know before the first measurement
    if most > 2.2:
        assert story.peaks[6:].max() < CEILING
        assert story.peaks[6:].min() > 760.0
    else:
        assert story.answers[TICKS - 1].status == EXHAUSTED
        assert story.peaks[4:].max() < CEILING


def test_a_plate_that_is_colder_than_the_process_says_it_may_be(
    doors: Callable[[Process], Deployed],
) -> None:
    process = Process().change(heat_ratio=[0.8, 5.0])
    machine = make_machine(doors, process, absorbed=0.7)
    story = machine.run(lambda k, tick, _: tick)
    assert {answer.measurement for answer in story.answers.values()} <= {NONE, IMPLAUSIBLE, COLD, LEFT_OUT}
    assert story.answers[TICKS - 1].status == EXHAUSTED


@pytest.mark.parametrize(
    "value", [0.0, 330.0, float("nan"), 65535.0], ids=["zero", "covered", "nan", "saturated"]
)
def test_a_sensor_that_reads_what_cannot_be(machine: Machine, value: float) -> None:
    story = machine.run(show(lambda k, tick, _: replace(tick, peak=value + 0.001 * k)))
    assert story.until_seen(IMPLAUSIBLE) == 0
    assert story.until_dark == 4
    assert story.worst < CEILING


def test_a_measurement_that_comes_too_late(machine: Machine) -> None:
    def delay(_: int, tick: TickInput, machine: Machine) -> TickInput:
        seen = machine.plate.see(5)
        return replace(tick, age=5, frame=seen[1] if seen else None)

    story = machine.run(delay)
    assert story.until_seen(TOO_OLD) == 5  # until then it is older than one that is known
    assert story.until_dark == 9
    assert story.worst < CEILING


def test_one_measurement_for_ever_with_its_true_age_is_none(machine: Machine) -> None:
    def repeat(k: int, tick: TickInput, machine: Machine) -> TickInput:
        first = machine.kept or tick
        return replace(tick, frame=first.frame, age=k - START)

    story = machine.run(repeat)
    assert {story.answers[k].measurement for k in range(START + 1, TICKS)} == {NONE}
    assert {answer.status for answer in story.answers.values()} == {SOLVED}
    assert story.worst < CEILING


def test_a_camera_that_is_lost(machine: Machine) -> None:
    story = machine.run(lambda k, tick, _: blind(tick))
    assert story.until_seen(NONE) == 0
    assert story.answers[TICKS - 1].unmeasured == TICKS - START
    assert {answer.status for answer in story.answers.values()} == {SOLVED}
    assert story.worst < CEILING


def test_an_image_from_the_future(machine: Machine) -> None:
    story = machine.run(lambda k, tick, _: replace(tick, age=-1))
    assert story.until_seen(IN_FUTURE) == 0
    assert story.until_dark == 4
    assert story.worst < CEILING


@pytest.mark.parametrize("sees", [True, False], ids=["camera", "no camera"])
@pytest.mark.parametrize("off", [-20.0, -5.0, -2.0, -1.0, -1e-12, 1.0, 2.0, 5.0, float("nan")])
def test_a_power_meter_that_is_off(machine: Machine, off: float, sees: bool) -> None:
    """W, from what the laser gives: followed a little, then not believed."""
    story = machine.run(
        lambda k, tick, _: replace(tick if sees else blind(tick), measured=tick.commanded + off)
    )
    assert story.worst < CEILING + MOST
    assert (story.faults >> 31 & 1) == (not abs(off) <= 2.0)
    assert story.until_dark is None


@pytest.mark.parametrize("sees", [True, False], ids=["camera", "no camera"])
def test_calls_that_are_missed(machine: Machine, sees: bool) -> None:
    """One in twenty: the laser goes on with the last power."""
    story = machine.run(lambda k, tick, _: tick if sees else blind(tick), missed=range(START, TICKS, 20))
    assert story.faults >> 29 & 1
    assert story.answers[START + 1].missed == 1
    assert {answer.status for answer in story.answers.values()} == {SOLVED}
    assert story.worst < CEILING


@pytest.mark.parametrize("sees", [True, False], ids=["camera", "no camera"])
def test_a_laser_that_goes_dark_without_being_planned(machine: Machine, sees: bool) -> None:
    """An interlock, for three ticks; the machine says what it commanded."""
    story = machine.run(lambda k, tick, _: tick if sees else blind(tick), gate=range(START, START + 3))
    assert story.worst < CEILING
    assert story.peaks[START + 8 :].min() > 740.0
    assert story.until_dark is None


def test_another_window_in_mid_part(machine: Machine) -> None:
    def change(k: int, tick: TickInput, machine: Machine) -> TickInput:
        assert k != START or machine.door.set_window(700.0, 720.0)
        return tick

    story = machine.run(change)
    assert story.peaks[START + 4 :].max() < 740.0
    assert story.peaks[START + 4 :].min() > 680.0
    assert {answer.status for answer in story.answers.values()} <= {SOLVED, 2}


@pytest.mark.parametrize("value", [0.0, 500.0, float("nan")], ids=["zero", "clipped", "nan"])
def test_a_sensor_that_reads_nonsense_of_a_cold_plate(machine: Machine, value: float) -> None:
    """As long as the laser was off, that is no fault: after 20 dark ticks the loop goes on."""
    dark = range(START + 10, START + 30)

    def clip(k: int, tick: TickInput, _: Machine) -> TickInput:
        peak = tick.peak if tick.peak is not None and k not in range(dark.start + 1, dark.stop + 1) else value
        return replace(tick, frame=None, peak=peak, dark=[i in dark for i in range(k, k + 5)])

    story = machine.run(clip)
    assert {story.answers[k].measurement for k in range(dark.start + 1, dark.stop + 1)} == {COLD}
    assert story.answers[dark.stop + 3].measurement == TAKEN
    assert story.peaks[dark.stop + 6 :].min() > 740.0
    assert story.worst < CEILING


def test_ticks_of_missed_calls_went_where_the_last_call_said(doors: Callable[[Process], Deployed]) -> None:
    """Four around a corner, under a laser that gives hardly anything but 10 W: the prediction is the same."""
    process = Process().change(power_w=[9.99, 10.0])
    door, hop = doors(process), process.speed * process.tick
    steps = np.arange(60)
    way = hop * np.column_stack((np.minimum(steps, 30), np.maximum(steps - 30, 0)))  # m, a corner at tick 30
    found = []
    for missed in (range(0), range(29, 33)):
        door.init()
        assert door.begin(0.0, 0.0)
        answers = [
            door.step(TickInput(tick=k, way=way[k : k + 6], dark=5 * [False], commanded=10.0))
            for k in range(34)
            if k not in missed
        ]
        found.append(answers[-1].predicted)
    assert found[1] == pytest.approx(found[0], abs=0.2)
