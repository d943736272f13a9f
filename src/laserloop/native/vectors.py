"""Test vectors of both exports, and what must be answered to them on this machine.

Of a network: questions in a row. One is only kept if its answer does not hinge on rounding: float32 and
float64 must lead to the same one in the same few iterations, and not by stopping at their cap.

Of a twin: a loop along a way with corners, dark ticks and a pause, in its order. The plate is the twin itself
in NumPy, but absorbs a little less than the process says, so that there is a gain to find. Frames, peaks
alone, missing and impossible measurements take turns.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem, Question, Solution, Solver
from laserloop.native.build import NoCompiler
from laserloop.native.deployed import FRAME, NOTHING, PEAK, Deployed, Frame, TickAnswer, TickInput
from laserloop.native.network import CEngine
from laserloop.paths.path import Preview
from laserloop.predict.model import Model
from laserloop.predict.networks import ROW, MsDeepONet
from laserloop.predict.twin import TwinPredictor
from laserloop.predict.twin.heat import find_peak, guess_peak
from laserloop.predict.window import SMOOTHING, Folding, WindowForecast

COUNT = 200
POWER_TOLERANCE = 0.02  # W
HEAT_TOLERANCE = 0.05  # K
MOST_ITERATIONS = 6
CODES = {Status.SOLVED: 0, Status.INFEASIBLE: 2}
FloatArray = NDArray[np.float64]
TICKS, PAUSE, AGAIN = 130, 20, 70  # of the first part, of the pause and of the second part
BROKEN = (40, 90, 91)  # ticks whose measurement reads 0 K
ASTRAY = (100,)  # ticks whose position is off the plate
MISSED = (20, 110, 111)  # ticks in which nothing is asked: the laser goes on as it was told
ABSORBED = 0.95  # of what the process says
PIXELS = 7  # along a side of a frame
POWER_TOLERANCE = 0.02  # W
HEAT_TOLERANCE = 0.05  # K


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Vector:
    """A question and what it must be answered with."""

    question: Question
    answer: Solution


def draw_vectors(
    model: Model, problem: MpcProblem, *, dtype: str = "float32", count: int = COUNT, seed: int = 0
) -> list[_Vector]:
    """Questions around what the model was trained on, heat-up and overheated plates among them."""
    other = {"float32": "float64", "float64": "float32"}[dtype]
    try:
        solvers: list[Solver] = [CEngine(model, problem, dtype=name) for name in (dtype, other)]
    except NoCompiler as missing:
        raise BadInput(
            f"an export needs a C compiler here to answer its test vectors, but {missing}: install one"
        ) from None
    folder = Folding(model, smoothing=SMOOTHING)
    rng = np.random.default_rng(seed)
    kept: list[_Vector] = []
    for _ in range(20 * count):
        question = draw_question(model, problem, rng, folder)
        answer, check = (_answer(solver, question) for solver in solvers)
        if answer.status in CODES and _agree(answer, check):
            kept.append(_Vector(question=question, answer=answer))
        if len(kept) == count:
            return kept
    raise BadInput(
        f"of {20 * count} questions only {len(kept)} had an answer that rounding leaves alone: "
        "the model has not been trained for this problem; train one that is"
    )


def draw_question(model: Model, problem: MpcProblem, rng: np.random.Generator, folder: Folding) -> Question:
    """A question about as far from the training data's mean as that data is."""
    horizon, scalers = problem.horizon, model.scalers
    moving = np.arange(ROW * horizon) % ROW > 0
    kinematics = scalers.branch.mean[moving] + scalers.branch.std[moving] * rng.normal(0, 0.7, 4 * horizon)
    seen = scalers.trunk.mean + scalers.trunk.std * rng.normal(0, 0.7, len(scalers.trunk.mean))
    architecture = model.architecture
    assert isinstance(architecture, MsDeepONet)
    state = np.concatenate((np.full(1 + horizon, rng.uniform(300.0, problem.ceiling)), kinematics[:2]))
    state[list(architecture.seen)] = seen
    if model.trained_for is not None:  # where the deployed controller lets the beam be
        x_low, x_high, y_low, y_high = model.trained_for.area
        ways = kinematics.reshape(horizon, 4)
        ways[:, :2] = np.clip(ways[:, :2], (x_low, y_low), (x_high, y_high))
        state[-2:] = np.clip(state[-2:], (x_low, y_low), (x_high, y_high))
    temps, location = state[: 1 + horizon], state[1 + horizon :]
    temps[0] = rng.choice([temps[0], rng.uniform(*problem.window), 300.0, problem.ceiling + 60.0])
    low, high = problem.power
    committed = rng.uniform(low, high, rng.choice([0, 0, 0, min(1, horizon - 1), min(2, horizon - 1)]))
    known = WindowForecast(
        kinematics=kinematics.reshape(horizon, 4),
        temps=temps,
        location=location,
        previous=float(rng.uniform(low, high)),
        committed=committed,
        model=model,
        folder=folder,
    )
    start = np.full(horizon, rng.uniform(low, high))
    return Question(forecast=known, start=start, lit=np.ones(horizon, np.bool_))


def write_vectors(vectors: list[_Vector]) -> str:
    """One line each: the question, then plan, prediction and status."""
    horizon = len(vectors[0].question.start)
    lines = [f"{len(vectors)} {horizon} {POWER_TOLERANCE!r} {HEAT_TOLERANCE!r}"]
    for vector in vectors:
        q, a = vector.question, vector.answer
        known = q.network(horizon)
        committed = np.concatenate((q.committed, np.zeros(horizon - len(q.committed))))
        asked = (
            *known.kinematics.ravel(),
            *known.temps,
            *known.location,
            q.previous,
            len(q.committed),
            *committed,
            *q.start,
        )
        told = (*a.plan, *a.predicted, CODES[a.status])
        lines.append(" ".join(format(float(number), ".17g") for number in (*asked, *told)))
    return "\n".join(lines) + "\n"


def _answer(solver: Solver, question: Question) -> Solution:
    solver.reset()
    return solver.solve(replace(question, start=question.start.copy()))


def _agree(one: Solution, other: Solution) -> bool:
    """Well inside the tolerances."""
    return (
        one.status is other.status
        and one.iterations == other.iterations <= MOST_ITERATIONS
        and bool(np.abs(one.plan - other.plan).max() < 0.2 * POWER_TOLERANCE)
        and bool(np.abs(one.predicted - other.predicted).max() < 0.2 * HEAT_TOLERANCE)
    )


DARK = range(60, 64)  # ticks of each part
METERED = range(30, 50)  # ticks whose power is measured


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _LoopVector:
    """An input, what it must be answered with, and whether a part begins with it."""

    begins: bool
    pause: float  # s, before it
    tick: TickInput
    answer: TickAnswer


class Plate:
    """The twin as the truth."""

    def __init__(self, twin: TwinPredictor, absorbed: float = ABSORBED) -> None:
        process = twin.process
        beam = replace(process.beam, absorptivity=absorbed * process.beam.absorptivity)
        self._twin = TwinPredictor(replace(process, beam=beam), twin.settings)
        self._places: list[FloatArray] = []
        self._powers: list[float] = []
        self._noise = np.random.default_rng(process.camera.seed)
        self._seen: list[tuple[float, Frame]] = []
        self.errors: list[float] = []  # K, of the peaks that are seen

    def begin(self, place: FloatArray, ticks: int) -> None:
        """The beam is there after some dark ticks."""
        if not self._places:
            self._places.append(place)
        for _ in range(ticks):
            self.step(0.0, place)

    def step(self, power: float, place: FloatArray) -> None:
        """One tick that ends at a place."""
        self._powers.append(power)
        self._places.append(place)
        self._look()

    def see(self, age: int) -> tuple[float, Frame] | None:
        """The peak, K, and the pixels around it, some ticks ago; None before the first tick."""
        return self._seen[-1 - age] if age < len(self._seen) else None

    def _look(self) -> None:
        twin, now = self._twin, len(self._powers)
        past = min(now, max(twin.memory, 1))
        places = np.array(self._places[-past - 1 :] + self._places[-1:] * twin.horizon)
        tick = twin.process.tick
        twin.observe(
            None, Preview(time=now * tick, tick=tick, positions=places, powers=np.array(self._powers[-past:]))
        )
        heat = twin.sum_heat(twin.ends, np.array([twin.memory])).powered(twin.watts)
        camera, sigma = twin.process.camera, twin.body.sigma
        beam = twin.ends[None, -1]
        point = find_peak(heat, guess_peak(beam, twin.ends[None, -2], sigma), beam, sigma, 4)
        peak = float(twin.table.temperature_of(heat.at(point))[0])
        width = camera.pixel or 0.5 * sigma
        middle = np.round(point[0] / width)
        x, y = (width * (middle[axis] + np.arange(PIXELS) - PIXELS // 2) for axis in (0, 1))
        u = heat.at(np.stack(np.meshgrid(x, y), axis=-1).reshape(1, -1, 2)[0][:, np.newaxis])
        T = twin.table.temperature_of(u.reshape(PIXELS, PIXELS))
        T = np.ascontiguousarray(T + camera.noise * self._noise.standard_normal(T.shape))
        self.errors.append(camera.noise * float(self._noise.standard_normal()))
        self._seen.append((peak + self.errors[-1], (x, y, T)))


def record_loop(door: Deployed, twin: TwinPredictor, problem: MpcProblem) -> list[_LoopVector]:
    """Close the loop through the door, two parts with a pause between them."""
    plate, vectors = Plate(twin), list[_LoopVector]()
    door.init()
    for part, (ticks, pause) in enumerate(((TICKS, 0), (AGAIN, PAUSE))):
        way = bounce(twin, ticks + twin.horizon + 1, start=part)
        seconds = pause * twin.process.tick
        plate.begin(way[0], pause)
        door.begin(float(way[0, 0]), float(way[0, 1]), seconds)
        power = 0.0
        for k in range(ticks):
            if k not in MISSED:
                tick = _pose(plate, twin, way, k, power)
                answer = door.step(tick)
                vectors.append(_LoopVector(begins=k == 0, pause=seconds, tick=tick, answer=answer))
                power = answer.power
            plate.step(power, way[k + 1])
    return vectors


def bounce(twin: TwinPredictor, count: int, *, start: int = 0) -> FloatArray:
    """(count, 2): a way at the speed of the process that is reflected inside the plate's inner half, m."""
    process = twin.process
    hop = process.speed * process.tick
    gone = hop * np.outer(np.arange(count) + 37.0 * start, (0.8, 0.6))
    size = np.minimum(0.5 * np.array(process.plate[:2]), 40.0 * hop + 2.0 * twin.body.sigma)
    return np.asarray(np.abs((gone + size) % (2.0 * size) - size) - 0.5 * size)


def _pose(plate: Plate, twin: TwinPredictor, way: FloatArray, k: int, power: float) -> TickInput:
    """What the machine says before tick k of a part."""
    n = twin.horizon
    ahead = way[k : k + n + 1].copy()
    if k in ASTRAY:
        ahead[0, 0] += twin.process.plate[0]
    dark = [i in DARK for i in range(k, k + n)]
    measured = power if k in METERED else None
    tick = TickInput(tick=k, way=ahead, dark=dark, commanded=power, measured=measured)
    seen = plate.see(twin.process.camera.delay)
    if seen is None or k % 4 == 3:
        return tick
    peak, frame = seen
    tick = replace(tick, age=twin.process.camera.delay)
    if k in BROKEN:
        return replace(tick, peak=0.0)
    return replace(tick, peak=peak) if k % 4 == 1 else replace(tick, frame=frame)


def write_loop(vectors: list[_LoopVector]) -> str:
    """One line each, as twin_runner.c reads it."""
    lines = [f"{len(vectors)} {len(vectors[0].tick.dark)} {POWER_TOLERANCE!r} {HEAT_TOLERANCE!r}"]
    for vector in vectors:
        tick, answer = vector.tick, vector.answer
        x, y, T = tick.frame or 3 * (np.empty(0),)
        seen = FRAME if tick.frame else NOTHING if tick.peak is None else PEAK
        numbers = (
            *(vector.begins, vector.pause, tick.tick or 0, tick.commanded, tick.measured or 0.0),
            *(tick.measured is not None, seen, tick.age, tick.peak or 0.0, len(x), len(y)),
            *(*np.ravel(tick.way), *tick.dark, *x, *y, *np.ravel(T)),
            *(answer.power, answer.predicted[0], answer.status, answer.measurement),
        )
        lines.append(" ".join(format(float(number), ".17g") for number in numbers))
    return "\n".join(lines) + "\n"
