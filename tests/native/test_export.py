"""The exported C: compiles clean, answers as the kernels do, and survives what no camera should send."""

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.control.action import Status
from laserloop.control.export import compiler, export_c
from laserloop.control.export.engine import CEngine
from laserloop.control.export.vectors import draw_question
from laserloop.control.problem import MpcProblem
from laserloop.control.question import Question
from laserloop.control.realtime import RealtimeSolver
from laserloop.data.scaling import Scaler
from laserloop.predict.networks import Model, MsDeepONet, Scalers, find_model
from laserloop.predict.networks.architecture import ROW, feature_sizes

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion")
SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")

needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")

SHAPES = [
    (MsDeepONet(horizon=1, width=24, basis=6), MpcProblem(horizon=1)),
    (MsDeepONet(horizon=3, width=16, basis=8, trunk="loc"), MpcProblem(horizon=3, blocks=(1, 2))),
    (
        MsDeepONet(horizon=5, width=32, basis=8, trunk="both"),
        MpcProblem(tracking_cost=5.0, margin_above=6.0, margin_below=2.0, power=(2.0, 18.0)),
    ),
    (MsDeepONet(horizon=10, width=40, basis=8), MpcProblem(horizon=10)),
]


def draw_model(architecture: MsDeepONet) -> Model:
    """A small network whose T_max rises with power, about 20 K per W, with kinks."""
    rng = np.random.default_rng(11)
    a, b, c = feature_sizes(architecture)
    weights = {
        name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in architecture.shapes().items()
    }
    powers = np.arange(a) % ROW == 0
    weights["branch.0.weight"][:, powers] = np.abs(weights["branch.0.weight"][:, powers])
    for name in ("branch.1.weight", "branch.2.weight", "trunk.2.weight"):
        weights[name] = np.abs(weights[name])
    rows = np.resize([14.0, 0, 0, 0, 0], a), np.resize([4.0, 1e-3, 1e-3, 0.2, 0.2], a)
    guess = Model(
        architecture=architecture,
        weights=weights,
        scalers=Scalers(
            branch=Scaler(rows[0], rows[1]),
            trunk=Scaler(np.full(b, 600.0), np.full(b, 60.0)),
            target=Scaler(np.zeros(c), np.ones(c)),
        ),
    )
    middle = np.resize([14.0, 0, 0, 0, 0], (1, architecture.horizon, ROW))
    more = middle + np.array([1.0, 0, 0, 0, 0])
    temps, place = np.full((1, 1 + architecture.horizon), 600.0), np.zeros((1, 2))
    at, above = (guess.predict(plan, temps, place)[0] for plan in (middle, more))
    scale = 20.0 / np.maximum(above - at, 1e-6)
    return replace(guess, scalers=replace(guess.scalers, target=Scaler(780.0 - scale * at, scale)))


def pose(model: Model, problem: MpcProblem, count: int, seed: int = 3) -> list[Question]:
    rng = np.random.default_rng(seed)
    return [draw_question(model, problem, rng) for _ in range(count)]


@pytest.fixture(scope="module")
def model() -> Model:
    return find_model("paper-corner")


@pytest.fixture(scope="module")
def small() -> tuple[Model, MpcProblem]:
    architecture, problem = SHAPES[2]
    return draw_model(architecture), problem


@pytest.fixture(scope="module", params=["float32", "float64"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: Model) -> Path:
    out = tmp_path_factory.mktemp(request.param)
    export_c(model, MpcProblem(), out, dtype=request.param)
    return out


def compile_runner(cc: str, folder: Path, *flags: str) -> Path:
    program = folder / f"runner-{cc}"
    sources = [str(folder / "laserloop.c"), str(folder / "runner.c")]
    done = subprocess.run(
        [cc, *STRICT, *flags, "-o", str(program), *sources, "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return program


def replay(program: Path, folder: Path) -> str:
    done = subprocess.run(
        [str(program), str(folder / "vectors.txt")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_compiler
@pytest.mark.parametrize("cc", COMPILERS)
def test_the_folder_compiles_without_a_warning_and_answers_its_vectors(cc: str, folder: Path) -> None:
    assert "200 of 200 vectors passed" in replay(compile_runner(cc, folder, "-O2"), folder)


@needs_compiler
@pytest.mark.parametrize("cc", COMPILERS)
def test_the_vectors_and_poisoned_inputs_are_clean_under_the_sanitizers(
    cc: str, small: tuple[Model, MpcProblem], tmp_path: Path
) -> None:
    export_c(*small, tmp_path)
    assert "200 of 200 vectors passed" in replay(compile_runner(cc, tmp_path, *SANITIZE), tmp_path)


@needs_compiler
def test_a_wrong_answer_does_not_pass(small: tuple[Model, MpcProblem], tmp_path: Path) -> None:
    export_c(*small, tmp_path)
    source = (tmp_path / "laserloop.c").read_text()
    assert "#define MATCH 0.01" in source
    (tmp_path / "laserloop.c").write_text(source.replace("#define MATCH 0.01", "#define MATCH 40.0"))
    program = compile_runner(COMPILERS[0], tmp_path)
    done = subprocess.run([str(program), str(tmp_path / "vectors.txt")], capture_output=True, check=False)
    assert done.returncode == 1


@needs_compiler
@pytest.mark.parametrize(("architecture", "problem"), SHAPES, ids=["1", "3-loc-blocks", "5-both", "10"])
def test_every_shape_is_answered_as_by_the_kernels(architecture: MsDeepONet, problem: MpcProblem) -> None:
    """In double both take the same steps, so that answers differ by what rounding makes of a QP."""
    model = draw_model(architecture)
    kernels = RealtimeSolver(model, problem, dtype=np.float64, engine="numba")
    engine = CEngine(model, problem, dtype=np.float64)
    told, equal = set(), 0
    questions = pose(model, problem, 60)
    for question in questions:
        kernels.reset()
        engine.reset()
        expected, answer = kernels.solve(question), engine.solve(question)
        low, high = problem.power
        assert ((answer.plan >= low) & (answer.plan <= high)).all()
        told.add(answer.status)
        if answer.status is Status.SOLVED:
            free = answer.predicted[len(question.committed) :]  # the rest is over
            assert free.max(initial=0.0) <= problem.ceiling + 0.02
        equal += answer.status is expected.status and bool(np.abs(answer.plan - expected.plan).max() < 1e-3)
    assert Status.SOLVED in told
    assert equal >= 0.95 * len(questions)


@needs_compiler
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 0.02), ("float64", 2e-3)])
def test_the_paper_network_is_answered_as_by_the_kernels(dtype: str, tolerance: float, model: Model) -> None:
    problem = MpcProblem()
    kernels = RealtimeSolver(model, problem, dtype=np.dtype(dtype), engine="numba")
    engine = CEngine(model, problem, dtype=dtype)
    kernels.reset()
    differences = []
    for question in pose(model, problem, 200):
        expected, answer = kernels.solve(question), engine.solve(question)
        if Status.STOPPED not in (expected.status, answer.status):  # where a search ends depends on its steps
            assert answer.status is expected.status
            differences.append(np.abs(answer.plan - expected.plan).max())
    assert len(differences) > 100
    assert np.quantile(differences, 0.95) < tolerance


@needs_compiler
def test_committed_powers_come_back_as_they_were_given(model: Model) -> None:
    engine = CEngine(model, MpcProblem())
    for question in pose(model, MpcProblem(), 20):
        for count in range(7):
            committed = np.linspace(3.3, 17.7, 7)[:count]
            answer = engine.solve(replace(question, committed=committed))
            assert np.array_equal(answer.plan[:count], committed[:5])


@needs_compiler
def test_a_question_has_one_answer_after_a_reset(model: Model) -> None:
    engine = CEngine(model, MpcProblem())
    questions = pose(model, MpcProblem(), 30)
    first = []
    for question in questions:
        engine.reset()
        first.append(engine.solve(question))
    for question, before in zip(questions[::-1], first[::-1], strict=True):
        engine.reset()
        again = engine.solve(question)
        assert np.array_equal(again.plan, before.plan)
        assert np.array_equal(again.predicted, before.predicted, equal_nan=True)


@needs_compiler
def test_two_engines_do_not_share_what_they_remember(model: Model) -> None:
    problem = MpcProblem()
    questions = pose(model, problem, 20)
    alone = CEngine(model, problem)
    expected = [alone.solve(question).plan for question in questions]
    one, other = CEngine(model, problem), CEngine(model, replace(problem, window=(700.0, 720.0)))
    for question, plan in zip(questions, expected, strict=True):
        other.solve(question)
        assert np.array_equal(one.solve(question).plan, plan)


def poison(question: Question, rng: np.random.Generator) -> Question:
    """One or more entries replaced by what breaks arithmetic, or all of them by noise of any size."""
    bad = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e38, -1e38, 1e-310, 0.0]
    parts: dict[str, Any] = {}
    for name in ("kinematics", "temps", "location", "start"):
        part = getattr(question, name).copy()
        if rng.random() < 0.3:
            part[...] = rng.normal(0, 1, part.shape) * 10.0 ** rng.uniform(-300, 300)
        hit = rng.random(part.shape) < 0.1
        part[hit] = rng.choice(bad, int(hit.sum()))
        parts[name] = part
    committed = rng.choice([*bad, 3.0, 25.0, -4.0], max(0, int(rng.integers(-8, 8))))
    previous = float(rng.choice([*bad, question.previous]))
    return replace(question, **parts, committed=committed, previous=previous)


def survive(engine: CEngine, problem: MpcProblem, questions: list[Question]) -> set[Status]:
    low, high = problem.power
    told = set()
    for question in questions:
        answer = engine.solve(question)
        assert ((answer.plan >= low) & (answer.plan <= high)).all()
        assert answer.status is Status.SPEECHLESS or np.isfinite(answer.predicted).all()
        assert 0 <= answer.iterations <= 12
        told.add(answer.status)
    return told


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_input_leads_outside_the_power_bounds(dtype: str, model: Model) -> None:
    problem = MpcProblem(power=(1.0, 20.0))
    rng = np.random.default_rng(1)
    asked = [poison(question, rng) for question in pose(model, problem, 1500)]
    told = survive(CEngine(model, problem, dtype=dtype), problem, asked)
    assert {Status.SPEECHLESS, Status.INFEASIBLE} <= told


@pytest.mark.validation
@needs_compiler
def test_a_hundred_thousand_inputs_do_not_lead_outside_the_power_bounds(model: Model) -> None:
    problem, rng = MpcProblem(), np.random.default_rng(2)
    engine = CEngine(model, problem)
    for _ in range(100):
        survive(engine, problem, [poison(question, rng) for question in pose(model, problem, 1000)])


class Input(ctypes.Structure):
    """`laserloop_input` of the header, for a horizon of 5."""

    _fields_ = (
        ("kinematics", ctypes.c_double * 20),
        ("temps", ctypes.c_double * 6),
        ("location", ctypes.c_double * 2),
        ("previous", ctypes.c_double),
        ("committed_count", ctypes.c_int),
        ("committed", ctypes.c_double * 5),
        ("start", ctypes.c_void_p),
    )


class Deployed:
    """The four functions of an exported folder, through its own header's interface."""

    def __init__(self, folder: Path) -> None:
        library = folder / "deployed.so"
        command = [COMPILERS[0], "-std=c99", "-O2", "-fPIC", "-shared", "-o", str(library)]
        subprocess.run([*command, str(folder / "laserloop.c"), "-lm"], check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.laserloop_step.restype = ctypes.c_double
        self._library.laserloop_set_window.argtypes = (ctypes.c_double, ctypes.c_double)

    def init(self) -> None:
        self._library.laserloop_init()

    def set_window(self, low: float, high: float) -> int:
        return int(self._library.laserloop_set_window(low, high))

    def step(self, question: Question, *, count: int | None = None) -> float:
        fields = Input()
        pairs: list[tuple[Any, NDArray[np.float64]]] = [
            (fields.kinematics, question.kinematics.ravel()),
            (fields.temps, question.temps),
            (fields.location, question.location),
            (fields.committed, question.committed),
        ]
        for field, values in pairs:
            field[: len(values)] = values.tolist()
        fields.previous = question.previous
        fields.committed_count = len(question.committed) if count is None else count
        return float(self._library.laserloop_step(ctypes.byref(fields), None))

    def status(self) -> tuple[int, str]:
        sentence = ctypes.c_char_p()
        code = int(self._library.laserloop_status(ctypes.byref(sentence)))
        return code, (sentence.value or b"").decode()


@pytest.fixture(scope="module")
def deployed(small: tuple[Model, MpcProblem], tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    folder = tmp_path_factory.mktemp("deployed")
    export_c(*small, folder)
    return Deployed(folder)


def find_solved(small: tuple[Model, MpcProblem]) -> Question:
    """A question with an easy answer, as a camera thread would ask it."""
    engine = CEngine(*small, dtype=np.float32)
    for question in pose(*small, 200):
        held = replace(question, committed=np.empty(0), start=np.full(5, question.previous))
        answer = engine.solve(held)
        if answer.status is Status.SOLVED and np.ptp(answer.plan) > 0.5:
            return held
    raise AssertionError("no question of this model has an answer")


@needs_compiler
def test_a_blind_tick_goes_on_with_the_plan_until_none_is_left(
    deployed: Deployed, small: tuple[Model, MpcProblem]
) -> None:
    question = find_solved(small)
    plan = CEngine(*small).solve(question).plan
    deployed.init()
    assert deployed.step(question) == pytest.approx(plan[0], abs=1e-3)
    assert deployed.status() == (0, Status.SOLVED.value)
    blind = replace(question, temps=np.full(6, np.nan))
    for power in plan[1:]:
        assert deployed.step(blind) == pytest.approx(power, abs=1e-3)
        assert deployed.status() == (3, Status.SPEECHLESS.value)
    assert deployed.step(blind) == small[1].power[0]
    assert deployed.status() == (4, Status.EXHAUSTED.value)


@needs_compiler
@pytest.mark.parametrize("count", [-1, 5, 60])
def test_an_image_older_than_any_plan_gets_the_least_power(
    deployed: Deployed, small: tuple[Model, MpcProblem], count: int
) -> None:
    question = find_solved(small)
    deployed.init()
    assert deployed.step(question) > small[1].power[0]
    assert deployed.step(question, count=count) == small[1].power[0]
    assert deployed.status() == (4, Status.EXHAUSTED.value)
    assert deployed.step(replace(question, temps=np.full(6, np.nan))) == small[1].power[0]


@needs_compiler
def test_a_lower_window_is_kept_from_the_next_tick_on(
    deployed: Deployed, small: tuple[Model, MpcProblem]
) -> None:
    question = find_solved(small)
    model, problem = small
    deployed.init()
    before = deployed.step(question)
    assert deployed.set_window(700.0, 740.0) == 0
    lower = CEngine(model, replace(problem, window=(700.0, 740.0))).solve(question).plan[0]
    assert deployed.step(question) == pytest.approx(lower, abs=1e-3)
    assert abs(lower - before) > 0.1
    for low, high in ((740.0, 700.0), (np.nan, 800.0), (760.0, np.inf), (760.0, 765.0), (-900.0, 800.0)):
        assert deployed.set_window(low, high) == -1
    assert deployed.step(question) == pytest.approx(lower, abs=1e-3)
    deployed.init()
    assert deployed.step(question) == pytest.approx(before, abs=1e-3)


@needs_compiler
def test_powers_given_since_the_image_are_rolled_forward(
    deployed: Deployed, small: tuple[Model, MpcProblem]
) -> None:
    question = replace(find_solved(small), committed=np.array([9.0, 15.0]))
    held = replace(question, start=np.full(5, 15.0))
    deployed.init()
    assert deployed.step(question) == pytest.approx(CEngine(*small).solve(held).plan[2], abs=1e-3)


@needs_compiler
def test_a_library_is_built_once_and_kept_for_the_next_start(
    small: tuple[Model, MpcProblem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    CEngine(*small)
    (library,) = (tmp_path / "laserloop").rglob("*.so")
    written = library.stat().st_mtime_ns
    CEngine(
        small[0], replace(small[1], window=(700.0, 750.0))
    )  # the shape is the same, and so is the library
    assert [path.stat().st_mtime_ns for path in (tmp_path / "laserloop").rglob("*.so")] == [written]


def test_without_a_compiler_it_is_said_why(
    small: tuple[Model, MpcProblem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    compiler.find_compiler.cache_clear()
    try:
        with pytest.raises(compiler.NoCompiler, match="no C compiler"):
            CEngine(*small)
    finally:
        compiler.find_compiler.cache_clear()


def test_a_compiler_that_fails_is_said_to(
    small: tuple[Model, MpcProblem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho no disk left >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiler.find_compiler.cache_clear()
    try:
        with pytest.raises(compiler.NoCompiler, match="no disk left"):
            CEngine(*small)
    finally:
        compiler.find_compiler.cache_clear()


def test_a_model_with_broken_weights_is_not_exported(model: Model, tmp_path: Path) -> None:
    weights = {name: np.full_like(weight, np.nan) for name, weight in model.weights.items()}
    broken = Model(architecture=model.architecture, weights=weights, scalers=model.scalers)
    with pytest.raises(BadInput, match="not finite"):
        export_c(broken, MpcProblem(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_arithmetic_is_refused(model: Model, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="float32"):
        export_c(model, MpcProblem(), tmp_path, dtype="float16")


@pytest.mark.parametrize("name", ["README.md", "CMakeLists.txt", "vectors.txt"])
def test_an_export_replaces_an_earlier_one_but_nothing_else(
    small: tuple[Model, MpcProblem], tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(BadInput, match="must not replace other files"):
        export_c(*small, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"
    (tmp_path / name).unlink()
    export_c(*small, tmp_path)
    (tmp_path / name).write_text("older")
    export_c(*small, tmp_path)
    assert (tmp_path / name).read_text() != "older"
