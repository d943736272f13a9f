"""The door of a deployed controller: what it does not believe, it does not plan with."""

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question
from laserloop.native import export_c
from laserloop.native.export import READINGS, SENTENCES
from laserloop.native.layout import address, aligned
from laserloop.native.network import CEngine
from laserloop.predict.model import Model

FloatArray = NDArray[np.float64]
Setup = tuple[Model, MpcProblem]
Pose = Callable[..., list[Question]]
Change = Callable[..., Question]

SOLVED, HELD, BAD_PLACE, LEAST, EXHAUSTED, BAD_TICK, NOT_BEGUN = 0, 3, 5, 6, 7, 8, 10
TAKEN, IMPLAUSIBLE, FROZEN, TOO_OLD, NOT_READ = range(5)


class Input(ctypes.Structure):
    """`laserloop_network_input` of the header, for a horizon of 5."""

    _fields_ = (
        ("tick", ctypes.c_uint),
        ("kinematics", ctypes.c_double * 20),
        ("temps", ctypes.c_double * 6),
        ("location", ctypes.c_double * 2),
        ("previous", ctypes.c_double),
        ("committed_count", ctypes.c_int),
        ("committed", ctypes.c_double * 5),
        ("dark", ctypes.c_int * 5),
        ("was_dark", ctypes.c_int),
        ("start", ctypes.c_void_p),
    )


class Deployed:
    """The functions of an exported folder, through its own header's interface."""

    def __init__(self, cc: str, folder: Path) -> None:
        library = folder / "deployed.so"
        command = [cc, "-std=c99", "-O2", "-fPIC", "-shared", "-o", str(library)]
        subprocess.run([*command, str(folder / "laserloop.c"), "-lm"], check=True)
        self._library = ctypes.CDLL(str(library))
        size = self._library.laserloop_network_size
        size.restype = ctypes.c_size_t
        self._handle = aligned(size())
        self.init()

    def init(self) -> None:
        assert self._call("init") == 0
        self._tick = 0

    def begin(self) -> int:
        return int(self._call("begin"))

    def end(self) -> None:
        self._call("end")

    def set_window(self, low: float, high: float) -> int:
        return int(self._call("set_window", ctypes.c_double(low), ctypes.c_double(high)))

    def step(self, question: Question, *, count: int | None = None, tick: int | None = None) -> float:
        fields, known = Input(), question.network(5)
        pairs: list[tuple[Any, FloatArray]] = [
            (fields.kinematics, known.kinematics.ravel()),
            (fields.temps, known.temps),
            (fields.location, known.location),
            (fields.committed, question.committed),
        ]
        for field, values in pairs:
            field[: len(values)] = values.tolist()
        fields.dark[:] = [int(not lit) for lit in question.lit]
        fields.was_dark = int(question.resumes)
        fields.previous = question.previous
        fields.committed_count = len(question.committed) if count is None else count
        fields.tick = self._tick = self._tick + 1 if tick is None else tick
        return float(self._call("step", ctypes.byref(fields), None, restype=ctypes.c_double))

    @property
    def status(self) -> int:
        """How the power was decided; its sentence is that of the table."""
        sentence = ctypes.c_char_p()
        code = int(self._call("status", ctypes.byref(sentence)))
        assert (sentence.value or b"").decode() == SENTENCES[code]
        return code

    @property
    def image(self) -> int:
        """What became of the image; its sentence is that of the table."""
        sentence = ctypes.c_char_p()
        code = int(self._call("image", ctypes.byref(sentence)))
        assert (sentence.value or b"").decode() == READINGS[code]
        return code

    @property
    def faults(self) -> int:
        return int(self._call("faults", restype=ctypes.c_ulong))

    def _call(self, name: str, *arguments: Any, restype: Any = ctypes.c_int) -> Any:
        function = self._library[f"laserloop_network_{name}"]
        function.restype = restype
        return function(address(self._handle), *arguments)


@pytest.fixture(scope="module")
def built(
    compilers: list[str], small: Setup, model: Model, tmp_path_factory: pytest.TempPathFactory
) -> Deployed:
    """Of the small network, with the area and the plate that the shipped model knows."""
    folder = tmp_path_factory.mktemp("deployed")
    export_c(replace(small[0], trained_for=model.trained_for), small[1], folder)
    return Deployed(compilers[0], folder)


@pytest.fixture
def deployed(built: Deployed) -> Deployed:
    built.init()
    assert built.begin() == 0
    return built


@pytest.fixture(scope="module")
def question(small: Setup, pose: Pose, change: Change) -> Question:
    """One with an easy answer, as a camera thread would ask it: on the plate, the search held."""
    engine = CEngine(*small, dtype=np.float32)
    for drawn in pose(*small, 200):
        known = drawn.network(5)
        ways = np.concatenate(
            (np.clip(known.kinematics[:, :2], -1e-3, 1e-3), known.kinematics[:, 2:]), axis=1
        )
        held = change(
            drawn,
            kinematics=ways,
            location=ways[0, :2],
            committed=np.empty(0),
            start=np.full(5, drawn.previous),
        )
        engine.reset()
        answer = engine.solve(held)
        if answer.status is Status.SOLVED and np.ptp(answer.plan) > 0.5:
            return held
    raise AssertionError("no question of this model has an answer")


@pytest.fixture(scope="module")
def plan(small: Setup, question: Question) -> FloatArray:
    return CEngine(*small).solve(question).plan


def test_an_easy_question_is_answered_as_in_python(
    deployed: Deployed, question: Question, plan: FloatArray
) -> None:
    assert deployed.step(question) == pytest.approx(plan[0], abs=1e-3)
    assert (deployed.status, deployed.image, deployed.faults) == (SOLVED, TAKEN, 0)


def break_part(question: Question, change: Change, part: str, value: float, place: int) -> Question:
    values = getattr(question.network(5), part).copy()
    values.flat[place] = value
    return change(question, **{part: values})


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        ("temps", 0, np.nan),
        ("temps", 0, np.inf),
        ("temps", 0, 0.0),
        ("temps", 0, 65535.0),
        ("temps", 3, 0.0),
        ("temps", 5, 49.0),
        ("temps", 5, 5001.0),
        ("location", 0, np.nan),
        ("location", 0, 0.008),  # beside the plate
        ("location", 1, -0.0051),
        ("kinematics", 0, np.nan),
        ("kinematics", 0, 0.0017),  # on the plate, where the model has never been
        ("kinematics", 17, -0.0017),
        ("kinematics", 2, 101.0),
        ("kinematics", 19, -np.inf),
    ],
)
def test_what_no_camera_and_no_scanner_can_mean_is_never_solved(
    deployed: Deployed,
    question: Question,
    plan: FloatArray,
    change: Change,
    part: str,
    place: int,
    value: float,
) -> None:
    wrong = break_part(question, change, part, value, place)
    said = (BAD_PLACE, NOT_READ) if part == "kinematics" else (HELD, IMPLAUSIBLE)
    assert deployed.step(wrong) == 2.0  # the least power: there is no plan yet
    assert (deployed.status, deployed.image) == said
    deployed.step(question)
    assert deployed.step(wrong) == pytest.approx(plan[1], abs=1e-3)
    assert (deployed.status, deployed.image) == said
    assert deployed.faults & 1 << (16 + said[0])


@pytest.mark.parametrize("value", [0.0, np.nan, 65535.0], ids=["zeros", "nan", "saturated"])
def test_a_dead_camera_gets_the_rest_of_the_plan_and_then_the_least_power_until_the_next_begin(
    deployed: Deployed, question: Question, plan: FloatArray, change: Change, value: float
) -> None:
    deployed.step(question)
    blind = change(question, temps=np.full(6, value))
    for power in plan[1:]:
        assert deployed.step(blind) == pytest.approx(power, abs=1e-3)
        assert (deployed.status, deployed.image) == (HELD, IMPLAUSIBLE)
    for wrong in (blind, question):
        assert deployed.step(wrong) == 2.0
        assert deployed.status == EXHAUSTED
    assert deployed.begin() == 0
    assert deployed.step(question) == pytest.approx(plan[0], abs=1e-3)
    assert (deployed.status, deployed.faults) == (SOLVED, 0)


def test_an_image_that_is_not_believed_but_too_hot_gets_the_least_power_at_once(
    deployed: Deployed, question: Question, change: Change
) -> None:
    deployed.step(question)
    known = question.network(5)
    hot = np.concatenate(([900.0], known.temps[1:]))
    assert deployed.step(change(question, temps=hot, location=np.array([0.008, 0.0]))) == 2.0
    assert (deployed.status, deployed.image) == (LEAST, IMPLAUSIBLE)


@pytest.mark.parametrize("follows", [0.0, 1e-5], ids=["fixed camera", "camera that follows the beam"])
def test_a_frozen_image_is_refused_and_a_new_one_believed_again(
    deployed: Deployed, question: Question, plan: FloatArray, change: Change, follows: float
) -> None:
    deployed.step(question)
    known = question.network(5)
    later = known.temps if follows else np.concatenate((known.temps[:1], known.temps[1:] + 0.5))  # same peak
    moved = change(question, temps=later, location=known.location + follows)
    assert deployed.step(moved) == pytest.approx(plan[1], abs=1e-3)
    assert (deployed.status, deployed.image) == (HELD, FROZEN)
    deployed.step(change(question, temps=known.temps + 0.25))
    assert (deployed.status, deployed.image) == (SOLVED, TAKEN)


def test_one_image_may_serve_as_long_as_its_age_is_told(
    deployed: Deployed, question: Question, change: Change
) -> None:
    deployed.step(question)
    deployed.step(change(question, committed=np.array([9.0])))
    assert deployed.image == TAKEN
    deployed.step(change(question, committed=np.array([9.0])))
    assert deployed.image == FROZEN


def test_a_plate_at_rest_is_not_taken_for_a_frozen_image(
    deployed: Deployed, question: Question, change: Change
) -> None:
    rest = change(question, temps=np.full(6, 300.0), location=np.zeros(2))
    for _ in range(3):
        deployed.step(rest)
        assert deployed.image == TAKEN


@pytest.mark.parametrize("count", [-1, 5, 60])
def test_an_image_older_than_any_plan_gets_the_least_power(
    deployed: Deployed, question: Question, count: int
) -> None:
    assert deployed.step(question) > 2.0
    assert deployed.step(question, count=count) == 2.0
    assert (deployed.status, deployed.image) == (LEAST, TOO_OLD)


def test_nothing_is_lit_before_a_begin_or_after_an_end(built: Deployed, question: Question) -> None:
    built.init()
    assert built.step(question) == 0.0
    assert built.status == NOT_BEGUN
    assert built.begin() == 0
    assert built.step(question) > 2.0
    built.end()
    assert built.step(question) == 0.0


def test_doubled_missed_and_impossible_tick_numbers(
    deployed: Deployed, question: Question, plan: FloatArray, change: Change
) -> None:
    """The same answer again; the plan is older by the calls that were missed; the least power."""
    blind = change(question, temps=np.full(6, np.nan))
    assert deployed.step(question, tick=7) == deployed.step(blind, tick=7) == pytest.approx(plan[0], abs=1e-3)
    assert deployed.faults == 1 << 30
    assert deployed.step(blind, tick=9) == pytest.approx(plan[2], abs=1e-3)
    assert deployed.faults & 1 << 29
    for tick in (8, 9 + 66, 2**32 - 1):
        assert deployed.step(question, tick=tick) == 2.0
        assert (deployed.status, deployed.image) == (BAD_TICK, NOT_READ)
    deployed.step(change(question, temps=question.network(5).temps + 0.25), tick=10)
    assert (deployed.status, deployed.image) == (SOLVED, TAKEN)


def test_a_lower_window_is_kept_from_the_next_tick_on(
    deployed: Deployed, small: Setup, question: Question
) -> None:
    model, problem = small
    before = deployed.step(question)
    deployed.begin()
    assert deployed.set_window(700.0, 740.0) == 0
    lower = CEngine(model, replace(problem, window=(700.0, 740.0))).solve(question).plan[0]
    assert deployed.step(question) == pytest.approx(lower, abs=1e-3)
    assert abs(lower - before) > 0.1
    for low, high in ((740.0, 700.0), (np.nan, 800.0), (760.0, np.inf), (760.0, 765.0), (-900.0, 800.0)):
        assert deployed.set_window(low, high) == -1
    deployed.init()
    deployed.begin()
    assert deployed.step(question) == pytest.approx(before, abs=1e-3)


def test_powers_given_since_the_image_are_rolled_forward(
    deployed: Deployed, small: Setup, question: Question, change: Change
) -> None:
    late = change(question, committed=np.array([9.0, 15.0]), start=np.full(5, 15.0))
    assert deployed.step(late) == pytest.approx(CEngine(*small).solve(late).plan[2], abs=1e-3)


def test_a_dark_tick_gets_nothing_and_the_next_lit_one_its_share(
    deployed: Deployed, small: Setup, question: Question, change: Change
) -> None:
    """Also when the image is lost: the rest of the plan is dark where the path is."""
    lit = np.array([False, True, True, True, True])
    dark = change(question, lit=lit, start=np.full(5, question.previous))
    plan = CEngine(*small).solve(dark).plan
    assert deployed.step(dark) == 0.0 == plan[0]
    assert deployed.status < HELD
    lost = change(question, temps=np.full(6, np.nan), lit=lit)
    assert deployed.step(lost) == 0.0
    again = change(question, temps=np.full(6, np.nan))
    assert deployed.step(again) == pytest.approx(plan[2], abs=1e-3)
