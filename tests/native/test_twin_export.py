"""The exported twin: compiles clean, answers its vectors under the sanitizers, and never burns."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.native import build, export_twin
from laserloop.native.deployed import Deployed, TickAnswer, TickInput
from laserloop.native.export import HELD
from laserloop.native.layout import read_source
from laserloop.native.twin_export import READINGS, SENTENCES, list_texts
from laserloop.native.vectors import Plate, bounce
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion")
SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
PROCESS = Process()
PROBLEM = make_twin_problem(MpcProblem())
SOLVED, HELD_ON, BAD_PLACE, BAD_POWER, EXHAUSTED, BAD_TICK, NOT_BEGUN = 0, 3, 5, 6, 8, 9, 11
NONE, TAKEN, COLD, LEFT_OUT, IMPLAUSIBLE, FROZEN, TOO_OLD, MISPLACED, TOO_HOT, IN_FUTURE, NOT_READ = range(11)
LIT = 5 * [False]
Drive = Callable[..., list[TickAnswer]]
Change = Callable[[int, TickInput], TickInput]


def close_loop(
    door: Deployed, process: Process, ticks: int, change: Change
) -> tuple[list[TickAnswer], list[float]]:
    """The answers of a loop on the twin's own plate, and its peaks, K; `change` may change what is told."""
    twin = TwinPredictor(process)
    plate, way = Plate(twin), bounce(twin, ticks + 6)
    door.init()
    plate.begin(way[0], 0)
    assert door.begin(*map(float, way[0]))
    answers, peaks = list[TickAnswer](), list[float]()
    for k in range(ticks):
        given = answers[-1].power if answers else 0.0
        tick = TickInput(way=way[k : k + 6].copy(), dark=LIT, commanded=given)
        seen = plate.see(process.camera.delay)
        if seen is not None:
            tick = replace(tick, age=process.camera.delay, peak=seen[0], frame=seen[1])
        answers.append(door.step(change(k, tick)))
        plate.step(answers[-1].power, way[k + 1])
        now = plate.see(0)
        assert now is not None
        peaks.append(now[0])
    return answers, peaks


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

    def drive(ticks: int, change: Change) -> list[TickAnswer]:
        return close_loop(door, PROCESS, ticks, change)[0]

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
    compiler: str, folder: Path
) -> None:
    done = replay(compile_runner(compiler, folder, "-O3"), folder, 100_000)
    assert done.returncode == 0, done.stdout
    assert "196 of 196 vectors passed" in done.stdout


def test_doubles_answer_their_vectors_too(compilers: list[str], tmp_path: Path) -> None:
    late = PROCESS.change(delay_ticks=2, noise_k=5.0, lag_us=100.0)
    export_twin(late, PROBLEM, tmp_path, dtype="float64")
    done = replay(compile_runner(compilers[0], tmp_path, "-O1"), tmp_path, 1000)
    assert done.returncode == 0, done.stdout


def test_the_loop_and_its_poison_are_clean_under_the_sanitizers(compiler: str, folder: Path) -> None:
    done = replay(compile_runner(compiler, folder, *SANITIZE), folder, 1000)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("twin_plan.c", "#define TWIN_QPS 4 ", "#define TWIN_QPS 0 "),
        (
            "laserloop_twin_config.h",
            "#define LASERLOOP_TWIN_COLDEST 240.0",
            "#define LASERLOOP_TWIN_COLDEST -1.0",
        ),
        (
            "twin_controller.c",
            "d->own.kept[i] < most ? d->own.kept[i] : most",
            "d->own.kept[i] + 5.0 + 0.0 * most",
        ),
        (
            "twin_reading.c",
            "return p->noise > 0.0 || dx * dx + dy * dy >",
            "return dx * dx + dy * dy > 1e9 +",
        ),
        ("twin_controller.c", "ticks > LASERLOOP_TWIN_MISSED_MOST + 1", "ticks > 4000000000u"),
    ],
    ids=["the answers", "zeros", "the hold", "frozen frames", "jumps of the tick"],
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
    for name in (
        "twin.c",
        "twin_types.h",
        "twin_field.c",
        "twin_history.c",
        "twin_gain.c",
        "twin_image.c",
        "qp.c",
    ):
        assert (folder / name).read_text() == read_source(name)


@pytest.mark.parametrize("file", ["laserloop_twin_config.h", "README.md"])
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
    parts = {"frame": {}, "peak": {"frame": None}, "none": {"frame": None, "peak": None}}[kind]
    answers = drive(60, lambda _, tick: replace(tick, **parts))
    assert [a.predicted[0] for a in answers[5:]] == pytest.approx(55 * [780.0], abs=0.1)
    assert {a.status for a in answers[5:]} == {SOLVED}
    assert {a.measurement for a in answers[5:]} == {NONE if kind == "none" else TAKEN}
    assert answers[-1].unmeasured == (59 if kind == "none" else 0)
    found = 1.0 if kind == "none" else 0.95  # what the plate really absorbs
    assert answers[-1].gain == pytest.approx(found, abs=0.005)
    assert answers[-1].faults == 0


@pytest.mark.parametrize(
    ("bad", "status", "measurement"),
    [
        ({"peak": 0.0, "frame": None}, HELD_ON, IMPLAUSIBLE),
        ({"peak": float("nan"), "frame": None}, HELD_ON, IMPLAUSIBLE),
        ({"peak": 330.0, "frame": None}, HELD_ON, IMPLAUSIBLE),  # a covered lens
        ({"age": -1}, HELD_ON, IN_FUTURE),
        ({"commanded": -2.0}, BAD_POWER, NOT_READ),
        ({"commanded": 30.0}, BAD_POWER, NOT_READ),
        ({"way": np.full((6, 2), np.nan)}, BAD_PLACE, NOT_READ),
        ({"way": np.full((6, 2), 8e-3)}, BAD_PLACE, NOT_READ),  # off the plate
        ({"way": np.full((6, 2), 2e-3)}, BAD_PLACE, NOT_READ),  # on it, but nobody gets there in a tick
    ],
    ids=str,
)
def test_what_cannot_be_is_held_then_darkened_until_the_next_begin(
    drive: Drive, door: Deployed, bad: dict[str, object], status: int, measurement: int
) -> None:
    broken = range(30, 36)
    answers = drive(60, lambda k, tick: replace(tick, **bad) if k in broken else tick)
    assert [a.status for a in answers[30:60]] == [*4 * [status], *26 * [EXHAUSTED]]
    assert {a.measurement for a in answers[30:34]} <= {measurement, FROZEN}
    assert max(a.power for a in answers[30:34]) <= answers[29].power
    assert {a.power for a in answers[34:]} == {0.0}
    assert answers[-1].faults & 1 << (16 + status)
    assert door.begin(0.0, 0.0, 0.1)
    assert door.faults == 0
    assert door.step(TickInput(way=np.zeros((6, 2)), dark=LIT)).power > 10.0


@pytest.mark.parametrize(
    "bad",
    [{"peak": 0.0, "frame": None}, {"commanded": float("nan")}, {"way": np.full((6, 2), 2e-3)}],
    ids=str,
)
def test_a_short_fault_leaves_no_trace(drive: Drive, bad: dict[str, object]) -> None:
    good = drive(60, lambda _, tick: tick)
    answers = drive(60, lambda k, tick: replace(tick, **bad) if k in range(30, 33) else tick)
    assert answers[33].status == SOLVED
    assert [a.power for a in answers[50:]] == pytest.approx([a.power for a in good[50:]], abs=0.2)
    assert answers[-1].gain == pytest.approx(good[-1].gain, abs=0.003)


def test_after_a_fault_a_strong_laser_comes_back_with_no_more_than_the_plate_asks_for(
    compilers: list[str],
) -> None:
    strong = PROCESS.change(power_w=[0, 60])
    texts, horizon = list_texts(strong, make_twin_problem(MpcProblem(power=(0.0, 60.0))))
    door, broken = Deployed(build.load_library(texts, "twin.c"), horizon), range(30, 34)
    answers, peaks = close_loop(
        door, strong, 50, lambda k, tick: replace(tick, peak=0.0, frame=None) if k in broken else tick
    )
    assert {a.status for a in answers[30:34]} == {HELD_ON}
    assert max(peaks) < 805.0
    assert peaks[36:] == pytest.approx(14 * [780.0], abs=5.0)


def test_full_power_is_never_held(drive: Drive) -> None:
    answers = drive(2, lambda k, tick: replace(tick, peak=0.0, frame=None) if k == 1 else tick)
    assert answers[0].power == 20.0
    assert answers[1].measurement == IMPLAUSIBLE
    assert answers[1].power < 18.0


def test_a_peak_that_happens_to_repeat_is_believed(drive: Drive) -> None:
    answers = drive(60, lambda _, tick: replace(tick, frame=None, peak=tick.peak and round(tick.peak)))
    assert {a.status for a in answers[6:]} == {SOLVED}
    assert {a.measurement for a in answers[6:]} <= {TAKEN, LEFT_OUT}


def test_nothing_is_lit_before_a_part_begins_or_after_it_ends(door: Deployed) -> None:
    tick = TickInput(way=np.zeros((6, 2)), dark=LIT)
    door.init()
    assert door.step(tick).power == 0.0
    assert door.status() == (NOT_BEGUN, SENTENCES[NOT_BEGUN])
    assert not door.begin(8e-3, 0.0)
    assert not door.begin(0.0, 0.0, -1.0)
    assert not door.begin(0.0, 0.0, 1e9)  # s: three decades
    assert door.step(tick).power == 0.0
    assert door.begin(0.0, 0.0)
    assert door.step(tick).power == 20.0
    assert door.measurement() == (NONE, READINGS[NONE])
    door.end()
    assert door.step(tick).power == 0.0


def stand_still(door: Deployed, ticks: int) -> float:
    """The last power of a few ticks at the plate's middle."""
    power = 0.0
    for _ in range(ticks):
        power = door.step(TickInput(way=np.zeros((6, 2)), dark=LIT, commanded=power)).power
    return power


def test_a_plate_stays_warm_between_parts_and_cools_in_a_pause(door: Deployed) -> None:
    needed = []
    for pause in (0.0, 0.01, 1.0, 1e5):
        door.init()
        door.begin(0.0, 0.0)
        stand_still(door, 31)
        door.end()
        assert door.begin(0.0, 0.0, pause)
        needed.append(stand_still(door, 3))
    assert needed[0] < needed[1] < needed[2] == pytest.approx(needed[3], rel=0.01)


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "begun again at once"])
def test_the_last_tick_of_a_vector_is_part_of_the_plates_heat(door: Deployed, ended: bool) -> None:
    """Vectors of one tick, one after another at one place, heat the plate like one of many ticks."""
    door.init()
    door.begin(0.0, 0.0)
    together = stand_still(door, 12)
    door.init()
    for _ in range(12):
        assert door.begin(0.0, 0.0)
        alone = door.step(TickInput(way=np.zeros((6, 2)), dark=LIT)).power
        if ended:
            door.end(alone)
    assert alone == pytest.approx(together, abs=0.3)


def test_dark_ticks_get_no_power_and_may_jump(door: Deployed) -> None:
    door.init()
    door.begin(-2e-3, 0.0)
    way = np.array([[-2e-3, 0.0]] * 2 + [[2e-3, 0.0]] * 4)
    dark = [False, True, False, False, False]
    answer = door.step(TickInput(way=way, dark=dark))
    assert answer.power > 0.0
    assert answer.plan[1] == 0.0
    jump = TickInput(way=way[[1, 2, 3, 4, 5, 5]], dark=[*dark[1:], False], commanded=answer.power)
    answer = door.step(jump)
    assert (answer.power, answer.status) == (0.0, SOLVED)
    assert door.step(TickInput(way=way[[2, 3, 4, 5, 5, 5]], dark=LIT)).status == SOLVED


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
            assert not door.set_window(460.0, 500.0)  # nothing would ever be hot enough to be compared
        return tick

    assert drive(40, move)[-1].predicted[0] == pytest.approx(710.0, abs=0.1)


def test_every_code_has_its_sentence() -> None:
    assert len(SENTENCES) == NOT_BEGUN + 1
    assert len(READINGS) == NOT_READ + 1
    assert all(HELD in SENTENCES[code] for code in (HELD_ON, BAD_PLACE, BAD_POWER))


def test_a_call_that_comes_twice_is_answered_the_same_and_changes_nothing(
    door: Deployed, drive: Drive
) -> None:
    twice = list[TickAnswer]()

    def repeat(k: int, tick: TickInput) -> TickInput:
        if k > 0:
            twice.append(door.step(replace(tick, tick=k, commanded=5.0)))
        return replace(tick, tick=k + 1)

    once = [a.power for a in drive(30, lambda _, tick: tick)]
    assert [a.power for a in drive(30, repeat)] == once
    assert [a.power for a in twice] == once[:-1]
    assert door.faults & 1 << 30


@pytest.mark.parametrize("jump", [-1, -(2**31), 66, 2**31])
def test_a_tick_number_that_cannot_be_gets_the_least_power_and_changes_nothing(
    door: Deployed, drive: Drive, jump: int
) -> None:
    refused = list[TickAnswer]()

    def insert(k: int, tick: TickInput) -> TickInput:
        if k == 20:
            refused.append(door.step(replace(tick, tick=k + jump)))
        return replace(tick, tick=k + 1)

    good = [a.power for a in drive(30, lambda _, tick: tick)]
    assert [a.power for a in drive(30, insert)] == good
    assert (refused[0].power, refused[0].status, refused[0].measurement) == (0.0, BAD_TICK, NOT_READ)


def test_the_tick_number_may_wrap(door: Deployed, drive: Drive) -> None:
    good = [a.power for a in drive(30, lambda _, tick: tick)]
    assert [a.power for a in drive(30, lambda k, tick: replace(tick, tick=2**32 - 10 + k))] == good


def test_two_lasers_know_nothing_of_each_other(door: Deployed, drive: Drive, compilers: list[str]) -> None:
    texts, horizon = list_texts(PROCESS, PROBLEM)
    other = Deployed(build.load_library(texts, "twin.c"), horizon)
    other.begin(0.0, 0.0)

    def disturb(_: int, tick: TickInput) -> TickInput:
        other.step(TickInput(way=np.zeros((6, 2)), dark=LIT, commanded=20.0))
        return tick

    good = [a.power for a in drive(30, lambda _, tick: tick)]
    assert [a.power for a in drive(30, disturb)] == good


def test_a_handle_that_was_never_initialised_lights_nothing(door: Deployed) -> None:
    door.handle[:] = 0
    assert not door.begin(0.0, 0.0)
    assert door.step(TickInput(way=np.zeros((6, 2)), dark=LIT)).power == 0.0
    assert door.init()


@pytest.mark.parametrize(
    "flag", ["-ffast-math", "-ffinite-math-only", "-fassociative-math -fno-signed-zeros -fno-trapping-math"]
)
def test_flags_that_change_what_arithmetic_means_are_refused(compiler: str, folder: Path, flag: str) -> None:
    """At compile time, or by an init that fails."""
    program = folder / "flags"
    files = [str(file) for file in (program, folder / "twin.c", folder / "twin_runner.c")]
    command = [compiler, "-std=c99", "-O2", *flag.split(), "-w", "-o", *files, "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode == 0:
        assert "changed what arithmetic means" in replay(program, folder, 10).stdout
    else:
        assert "must keep" in built.stderr


NUMBERS = "float and double must be those of IEEE 754"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("-ffast-math", "NaN must keep its meaning"),
        ("-D__FAST_MATH__=1", "NaN must keep its meaning"),
        ("-ffinite-math-only", "NaN must keep its meaning"),
        (
            "-D__ASSOCIATIVE_MATH__=1",
            "NaN must keep its meaning",
        ),  # of newer compilers; older ones fail at init
        ("-D__FLT_EVAL_METHOD__=1", "float and double must be rounded to their own width"),
        ("-D__FLT_EVAL_METHOD__=2", "float and double must be rounded to their own width"),
        ("-D__FLT_EVAL_METHOD__=-1", "float and double must be rounded to their own width"),
        ("-D__FLT_RADIX__=16", NUMBERS),
        ("-D__FLT_MANT_DIG__=11", NUMBERS),
        ("-D__DBL_MANT_DIG__=24", NUMBERS),
        ("-D__INT_MAX__=32767", "int must have at least 32 bits"),
        ("-mfpmath=387", "width|387"),  # of x86; other compilers refuse the flag itself
    ],
)
def test_a_machine_whose_numbers_are_others_is_refused(
    compiler: str, folder: Path, flags: str, sentence: str
) -> None:
    """By the compiler's own macros, as its headers read them."""
    command = [compiler, "-std=c99", "-w", *flags.split(), "-fsyntax-only", str(folder / "twin.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert re.search(sentence, done.stderr)


def test_names_of_any_kind_compile_and_stay_names(compilers: list[str], tmp_path: Path) -> None:
    hostile = replace(PROCESS, name='*/ #error "??/ \\ \n/* int main')
    texts, _ = list_texts(hostile, PROBLEM)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    command = [compilers[0], *STRICT, "-fsyntax-only", str(tmp_path / "twin.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_image_of_a_thousand_ticks_ago_still_finds_the_gain(compilers: list[str]) -> None:
    slow = PROCESS.change(delay_ticks=1000)
    texts, horizon = list_texts(slow, PROBLEM)
    door = Deployed(build.load_library(texts, "twin.c"), horizon)
    answers, peaks = close_loop(door, slow, 1040, lambda _, tick: tick)
    assert [a.gain for a in answers[-20:]] == pytest.approx(20 * [0.95], abs=0.01)
    assert peaks[-20:] == pytest.approx(20 * [780.0], abs=5.0)


REENTRY = r"""
#define _XOPEN_SOURCE 600
#include "laserloop_twin.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static struct laserloop_twin laser;
static laserloop_twin_input in;
static volatile int busy, wrong;

static void interrupt(int number)
{
    laserloop_twin_output out;
    laserloop_twin_input now = in;
    (void)number;
    now.tick += 1000; /* refused, if it is not busy */
    if (laserloop_twin_step(&laser, &now, &out) != LASERLOOP_TWIN_POWER_LOW)
        wrong = 1;
    busy += out.status == LASERLOOP_TWIN_BUSY;
}

static double run(int interrupts)
{
    struct itimerval every = {{0, 50}, {0, 50}}, never;
    double sum = 0.0, power = 0.0;
    memset(&never, 0, sizeof never);
    laserloop_twin_init(&laser);
    laserloop_twin_begin(&laser, 0.0, 0.0, 0.0);
    memset(&in, 0, sizeof in);
    if (interrupts)
        setitimer(ITIMER_REAL, &every, NULL);
    for (unsigned k = 0; k < 20000; ++k) {
        in.tick = k;
        in.power.commanded = power;
        power = laserloop_twin_step(&laser, &in, NULL);
        sum += power;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    return sum;
}

int main(void)
{
    double alone, disturbed;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    sigaction(SIGALRM, &action, NULL);
    alone = run(0);
    disturbed = run(1);
    printf("%d times busy\n", busy);
    return wrong || busy < 1 || alone != disturbed;
}
"""


def test_an_interrupt_that_enters_a_running_call_gets_the_least_power_and_changes_nothing(
    compilers: list[str], folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "main.c").write_text(REENTRY)
    program = str(tmp_path / "main")
    command = [
        compilers[0],
        "-std=c99",
        "-O2",
        f"-I{folder}",
        str(tmp_path / "main.c"),
        str(folder / "twin.c"),
    ]
    subprocess.run([*command, "-o", program, "-lm"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_pause_is_as_many_dark_ticks_also_for_a_laser_with_a_lag(compilers: list[str]) -> None:
    texts, horizon = list_texts(PROCESS.change(lag_us=500.0), PROBLEM)
    door = Deployed(build.load_library(texts, "twin.c"), horizon)
    tick, way = PROCESS.tick, np.zeros((6, 2))
    found = []
    for pause in (0, 40):
        door.init()
        door.begin(0.0, 0.0)
        power = stand_still(door, 30)
        for _ in range(40 - pause):
            power = door.step(TickInput(way=way, dark=5 * [True], commanded=power)).power
        door.end(power)
        door.begin(0.0, 0.0, pause * tick)
        found.append(door.step(TickInput(way=way, dark=LIT)).predicted)
    assert found[0] == pytest.approx(found[1], abs=0.5)


def test_a_few_milliwatts_in_the_dark_are_no_light(drive: Drive) -> None:
    dark = range(30, 40)

    def gate(k: int, tick: TickInput) -> TickInput:
        lit = [i not in dark for i in range(k, k + 5)]
        said = replace(tick, dark=[not light for light in lit], measured=tick.commanded + 0.005)
        return said if k - 1 not in dark else replace(said, frame=None)

    answers = drive(60, gate)
    assert {a.measurement for a in answers[31:41]} == {COLD}
    assert {a.measurement for a in answers[45:]} == {TAKEN}
