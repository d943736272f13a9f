"""The exported twin: compiles clean, answers its vectors under the sanitizers, and never burns."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem
from laserloop.control.twin import make_twin_problem
from laserloop.native import build, export_twin
from laserloop.native.deployed import Deployed, TickAnswer, TickInput
from laserloop.native.render import read_source
from laserloop.native.twin_export import HELD, SENTENCES, list_texts
from laserloop.native.twin_vectors import Plate, bounce
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion")
SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
PROCESS = Process()
PROBLEM = make_twin_problem(MpcProblem())
SOLVED, EXHAUSTED, IMPLAUSIBLE, FROZEN, TOO_OLD, BAD_PLACE, BAD_POWER, BLIND, NOT_BEGUN = 0, *range(4, 12)
LIT = 5 * [False]
Drive = Callable[..., list[TickAnswer]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, compilers: list[str]) -> Path:
    out = tmp_path_factory.mktemp("float32")
    export_twin(PROCESS, PROBLEM, out)
    return out


@pytest.fixture(scope="module")
def door(compilers: list[str]) -> Deployed:
    texts, horizon = list_texts(PROCESS, PROBLEM)
    return Deployed(build.load_library(texts, "twin.c"), horizon)


@pytest.fixture
def drive(door: Deployed) -> Drive:
    """The answers of a loop on the twin's own plate; `change(k, tick)` may change what the door is told."""

    def drive(ticks: int, change: Callable[[int, TickInput], TickInput]) -> list[TickAnswer]:
        twin = TwinPredictor(PROCESS)
        plate, way = Plate(twin), bounce(twin, ticks + 6)
        door.init()
        plate.begin(way[0], 0)
        assert door.begin(*map(float, way[0]))
        answers: list[TickAnswer] = []
        for k in range(ticks):
            given = answers[-1].power if answers else 0.0
            tick = TickInput(way=way[k : k + 6].copy(), dark=LIT, given=given)
            seen = plate.see(0)
            if seen is not None:
                tick = replace(tick, age=0, peak=seen[0], frame=seen[1])
            answers.append(door.step(change(k, tick)))
            plate.step(answers[-1].power, way[k + 1])
        return answers

    return drive


def compile_runner(cc: str, folder: Path, *flags: str) -> Path:
    program = folder / f"runner-{cc}"
    files = [str(file) for file in (program, folder / "twin.c", folder / "twin_runner.c")]
    command = [cc, *STRICT, *flags, "-o", *files, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def replay(program: Path, folder: Path, poisons: int) -> subprocess.CompletedProcess[str]:
    command = [str(program), str(folder / "vectors.txt"), "0", str(poisons)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_folder_compiles_without_a_warning_answers_its_vectors_and_survives_poison(
    compilers: list[str], folder: Path
) -> None:
    for cc in compilers:
        done = replay(compile_runner(cc, folder, "-O3"), folder, 100_000)
        assert done.returncode == 0, done.stdout
        assert "200 of 200 vectors passed" in done.stdout


def test_doubles_answer_their_vectors_too(compilers: list[str], tmp_path: Path) -> None:
    late = PROCESS.change(delay_ticks=2, noise_k=5.0, lag_us=100.0)
    export_twin(late, PROBLEM, tmp_path, dtype="float64")
    done = replay(compile_runner(compilers[0], tmp_path, "-O1"), tmp_path, 1000)
    assert done.returncode == 0, done.stdout


def test_the_loop_and_its_poison_are_clean_under_the_sanitizers(compilers: list[str], folder: Path) -> None:
    for cc in compilers:
        done = replay(compile_runner(cc, folder, *SANITIZE), folder, 1000)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("twin_plan.c", "#define TWIN_QPS 4 ", "#define TWIN_QPS 0 "),
        ("laserloop_config.h", "#define LASERLOOP_COLDEST 240.0", "#define LASERLOOP_COLDEST -1.0"),
        ("twin_controller.c", "own.kept[i] < most ? own.kept[i] : most", "own.kept[i] + 5.0 + 0.0 * most"),
    ],
    ids=["the answers", "zeros", "the hold"],
)
def test_a_controller_that_answers_wrong_does_not_pass(
    compilers: list[str], folder: Path, tmp_path: Path, file: str, line: str, wrong: str
) -> None:
    for source in folder.iterdir():
        if source.suffix in (".c", ".h", ".txt"):
            text = source.read_text()
            assert source.name != file or text.count(line) == 1
            (tmp_path / source.name).write_text(text.replace(line, wrong) if source.name == file else text)
    assert replay(compile_runner(compilers[0], tmp_path), tmp_path, 500).returncode == 1


def test_the_folder_holds_the_very_files_that_this_process_runs(folder: Path) -> None:
    for name in ("twin.c", "twin_types.h", "twin_field.c", "twin_history.c", "twin_gain.c", "qp.c"):
        assert (folder / name).read_text() == read_source(name)


@pytest.mark.parametrize("file", ["laserloop_config.h", "README.md"])
def test_an_export_says_where_it_comes_from_and_what_it_is_valid_for(folder: Path, file: str) -> None:
    text = (folder / file).read_text()
    facts = (f"hash {PROCESS.hash}", f"laserloop {version('laserloop')}", "Tick 125 us", "process paper")
    validity = ("304", "760 to 800 K", "304 mm/s", "15 x 10 x 2 mm", "0 to 20 W", "sigma 100 um")
    for fact in (*facts, *validity):
        assert fact in text
    assert "@" not in text


def test_an_export_replaces_an_earlier_one_but_nothing_else(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "twin.c").write_text("mine")
    with pytest.raises(BadInput, match="must not replace other files"):
        export_twin(PROCESS, PROBLEM, tmp_path)
    assert (tmp_path / "twin.c").read_text() == "mine"
    (folder / "README.md").write_text("older")
    export_twin(PROCESS, PROBLEM, folder)
    assert (folder / "README.md").read_text() != "older"


def test_without_a_compiler_nothing_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    build.find_compiler.cache_clear()
    try:
        with pytest.raises(BadInput, match="needs a C compiler here"):
            export_twin(PROCESS, PROBLEM, tmp_path / "out")
    finally:
        build.find_compiler.cache_clear()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["frame", "peak", "none"])
def test_any_kind_of_measurement_holds_the_middle_of_the_window(drive: Drive, kind: str) -> None:
    def change(k: int, tick: TickInput) -> TickInput:
        return (
            replace(tick, frame=None) if kind == "peak" else replace(tick, age=-1) if kind == "none" else tick
        )

    answers = drive(60, change)
    assert [a.predicted[0] for a in answers[5:]] == pytest.approx(55 * [780.0], abs=0.1)
    assert {a.status for a in answers[5:]} == ({BLIND} if kind == "none" else {SOLVED})
    found = 1.0 if kind == "none" else 0.95  # what the plate really absorbs
    assert answers[-1].gain == pytest.approx(found, abs=0.005)


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        ({"peak": 0.0, "frame": None}, IMPLAUSIBLE),
        ({"peak": float("nan"), "frame": None}, IMPLAUSIBLE),
        ({"peak": 330.0, "frame": None}, IMPLAUSIBLE),  # a covered lens
        ({"peak": 1700.0, "frame": None}, IMPLAUSIBLE),
        ({"age": 2}, TOO_OLD),
        ({"given": -1.0}, BAD_POWER),
        ({"given": 30.0}, BAD_POWER),
        ({"way": np.full((6, 2), np.nan)}, BAD_PLACE),
        ({"way": np.full((6, 2), 8e-3)}, BAD_PLACE),  # off the plate
        ({"way": np.full((6, 2), 2e-3)}, BAD_PLACE),  # on it, but nobody gets there in a tick
    ],
    ids=str,
)
def test_what_cannot_be_is_held_then_darkened_and_leaves_no_trace(
    drive: Drive, bad: dict[str, object], status: int
) -> None:
    broken = range(30, 36)
    good = drive(60, lambda _, tick: tick)
    answers = drive(60, lambda k, tick: replace(tick, **bad) if k in broken else tick)
    assert [a.status for a in answers[30:36]] == [*4 * [status], EXHAUSTED, EXHAUSTED]
    assert max(a.power for a in answers[30:34]) <= answers[29].power
    assert [a.power for a in answers[34:36]] == [0.0, 0.0]
    assert answers[36].status == SOLVED
    assert [a.power for a in answers[50:]] == pytest.approx([a.power for a in good[50:]], abs=0.2)
    assert answers[-1].gain == pytest.approx(good[-1].gain, abs=0.003)


def test_full_power_is_never_held(drive: Drive) -> None:
    answers = drive(2, lambda k, tick: replace(tick, age=0, peak=0.0, frame=None) if k == 1 else tick)
    assert answers[0].power == 20.0
    assert answers[1].status == IMPLAUSIBLE
    assert answers[1].power < 18.0


@pytest.mark.parametrize("alone", [False, True], ids=["frame", "peak"])
def test_a_camera_that_stands_still_is_noticed(drive: Drive, alone: bool) -> None:
    kept: list[TickInput] = []

    def freeze(k: int, tick: TickInput) -> TickInput:
        if alone:  # the beam slows down, so that the expected peak changes
            tick = replace(tick, frame=None, given=tick.given if k < 20 else 0.0)
        kept.append(tick)
        return replace(tick, peak=kept[20].peak, frame=kept[20].frame) if k > 20 else tick

    assert drive(24, freeze)[-1].status == FROZEN


def test_a_peak_that_happens_to_repeat_is_believed(drive: Drive) -> None:
    answers = drive(60, lambda _, tick: replace(tick, frame=None, peak=round(tick.peak)))
    assert {a.status for a in answers[6:]} <= {SOLVED, BLIND}


def test_nothing_is_lit_before_a_part_begins_or_after_it_ends(door: Deployed) -> None:
    tick = TickInput(way=np.zeros((6, 2)), dark=LIT)
    door.init()
    assert door.step(tick).power == 0.0
    assert door.status() == (NOT_BEGUN, SENTENCES[NOT_BEGUN])
    assert not door.begin(8e-3, 0.0)
    assert not door.begin(0.0, 0.0, -1.0)
    assert door.step(tick).power == 0.0
    assert door.begin(0.0, 0.0)
    assert door.step(tick).power == 20.0
    door.end()
    assert door.step(tick).power == 0.0
    door.cleanup()
    assert door.step(tick).power == 0.0


def test_a_plate_stays_warm_between_parts_and_cools_in_a_pause(door: Deployed) -> None:
    needed = []
    for pause in (0.0, 0.01, 1.0, 1e9):
        door.init()
        door.begin(0.0, 0.0)
        answer = door.step(TickInput(way=np.zeros((6, 2)), dark=LIT))
        for _ in range(30):
            answer = door.step(TickInput(way=np.zeros((6, 2)), dark=LIT, given=answer.power))
        door.end()
        assert door.begin(0.0, 0.0, pause)
        for _ in range(3):
            answer = door.step(TickInput(way=np.zeros((6, 2)), dark=LIT, given=answer.power))
        needed.append(answer.power)
    assert needed[0] < needed[1] < needed[2] == pytest.approx(needed[3], rel=0.01)


def test_dark_ticks_get_no_power_and_may_jump(door: Deployed) -> None:
    door.init()
    door.begin(-2e-3, 0.0)
    way = np.array([[-2e-3, 0.0]] * 2 + [[2e-3, 0.0]] * 4)
    dark = [False, True, False, False, False]
    answer = door.step(TickInput(way=way, dark=dark))
    assert answer.power > 0.0
    assert answer.plan[1] == 0.0
    answer = door.step(TickInput(way=way[[1, 2, 3, 4, 5, 5]], dark=[*dark[1:], False], given=answer.power))
    assert (answer.power, answer.status) == (0.0, BLIND)
    assert door.step(TickInput(way=way[[2, 3, 4, 5, 5, 5]], dark=LIT)).status == BLIND


def test_the_power_as_units_never_leaves_its_range(door: Deployed) -> None:
    assert [door.units(p) for p in (0.0, 10.0, 20.0, 1e300, -1.0, float("nan"))] == [
        *(0, 32768, 65535, 65535, 0, 0)
    ]


def test_another_window_is_taken_and_an_impossible_one_is_not(drive: Drive, door: Deployed) -> None:
    def move(k: int, tick: TickInput) -> TickInput:
        if k == 20:
            assert door.set_window(700.0, 720.0)
            for low, high in ((800.0, 760.0), (float("nan"), 800.0), (200.0, 800.0), (760.0, 1e4)):
                assert not door.set_window(low, high)
        return tick

    assert drive(40, move)[-1].predicted[0] == pytest.approx(710.0, abs=0.1)


def test_every_code_has_its_sentence() -> None:
    assert len(SENTENCES) == NOT_BEGUN + 1
    assert all(HELD in SENTENCES[code] for code in (IMPLAUSIBLE, FROZEN, TOO_OLD, BAD_PLACE, BAD_POWER))
