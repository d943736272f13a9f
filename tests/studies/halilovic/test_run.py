"""The run itself, with stages small enough for a test: order, what is on disk, kills, a busy folder."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from laserloop.bad_input import BadInput
from laserloop.jobs import check_versions
from laserloop.studies.halilovic.cases import FULL, QUICK, SEED_LOOPS, TABLE_3
from laserloop.studies.halilovic.run import EXPECTED, StageProgress, hold_folder, open_folder, reproduce, tell
from laserloop.studies.halilovic.stages import STAGES, Folder, Stage, Task

COUNT = 6
PATIENCE = 180.0  # s


def make_stages(wait: float = 0.0) -> tuple[Stage, ...]:
    """A line in a file for each number, then their sum, then its double."""

    def list_tasks(folder: Folder) -> list[Task]:
        return [
            Task(
                function=subprocess.run,  # of the standard library: workers cannot import a test
                arguments=(["sh", "-c", f"sleep {wait}; echo {n} >> {folder.root}/made-{n}"],),
                done=(folder.root / f"made-{n}").exists(),
            )
            for n in range(COUNT)
        ]

    def add(folder: Folder) -> dict[str, dict[str, Any]]:
        found = [int((folder.root / f"made-{n}").read_text().splitlines()[0]) for n in range(COUNT)]
        return {"sum": {"sum": sum(found)}}

    def double(folder: Folder) -> dict[str, dict[str, Any]]:
        return {"double": {"double": 2 * folder.read("sum")["sum"]}}

    return (
        Stage(name="plant", title="Write", list_tasks=list_tasks, conclude=add),
        Stage(name="ensembles", title="Double", list_tasks=lambda _: [], conclude=double),
    )


def count_made(out: Path) -> int:
    return sum(len(file.read_text().splitlines()) for file in out.glob("made-*"))


def begin(out: Path, wait: float = 0.0) -> Path:
    """Run the small stages in place of the paper's."""
    stages = make_stages(wait)
    return reproduce(out, QUICK, workers=2, stages=stages)


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laserloop.studies.halilovic.report.write_report", lambda root: root / "index.html")


@pytest.mark.usefixtures("no_report")
def test_stages_follow_each_other_and_nothing_is_done_twice(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert begin(out) == out / "index.html"
    assert json.loads((out / "results" / "double.json").read_text()) == {"double": COUNT * (COUNT - 1)}
    assert begin(out) == out / "index.html"
    assert count_made(out) == COUNT
    kept = json.loads((out / "results" / "clock" / "stages.json").read_text())
    assert len(kept["sessions"]) == 2
    assert all(session["began"] <= session["ended"] for session in kept["sessions"])
    assert [stage["name"] for stage in kept["stages"]] == ["plant", "ensembles", "report"]


@pytest.mark.usefixtures("no_report")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); import test_run\n"
        "if __name__ == '__main__': test_run.begin(Path(sys.argv[1]), 0.5)"
    )
    script = tmp_path / "begin.py"
    script.write_text(code)
    with subprocess.Popen(
        [sys.executable, str(script), str(out), str(Path(__file__).parent)], stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until(lambda: count_made(out) >= 2)
        finally:
            process.send_signal(signal.SIGKILL)
    assert count_made(out) < COUNT
    begin(out)
    assert (out / "results" / "double.json").exists()
    assert COUNT <= count_made(out) <= COUNT + 2  # two workers may have died at their work


def test_workers_without_our_laserloop_are_refused() -> None:
    ours = version("laserloop")
    check_versions({"tcp://a": ours})
    with pytest.raises(BadInput, match="tcp://b has none; install the same there"):
        check_versions({"tcp://a": ours, "tcp://b": PackageNotFoundError("laserloop")})
    with pytest.raises(BadInput, match=r"has 0\.0\.1"):
        check_versions({"tcp://b": "0.0.1"})


def test_a_folder_holds_one_reproduction(tmp_path: Path) -> None:
    open_folder(tmp_path / "a", QUICK)
    open_folder(tmp_path / "a", QUICK)
    with pytest.raises(BadInput, match="holds a quick one: add --quick or choose another --out"):
        open_folder(tmp_path / "a", FULL)
    with pytest.raises(BadInput, match="holds a quick one of another version: choose another --out"):
        open_folder(tmp_path / "a", replace(QUICK, runs=25))
    open_folder(tmp_path / "c", FULL)
    with pytest.raises(BadInput, match="holds the full one: leave out --quick or choose another --out"):
        open_folder(tmp_path / "c", QUICK)
    (tmp_path / "c" / "settings.json").write_text("{")
    with pytest.raises(BadInput, match="is damaged: copy that of another reproduction"):
        open_folder(tmp_path / "c", FULL)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").touch()
    with pytest.raises(BadInput, match="must begin in an empty folder"):
        open_folder(tmp_path / "b", QUICK)


@pytest.mark.parametrize(("scheduler", "hint"), [("nonsense", "scheduler"), (None, "empty folder")])
def test_a_refused_run_leaves_nothing_behind(tmp_path: Path, scheduler: str | None, hint: str) -> None:
    out = tmp_path / "out"
    if scheduler is None:
        out.mkdir()
        (out / "thesis.tex").touch()
    with pytest.raises(BadInput, match=hint):
        reproduce(out, QUICK, stages=(), scheduler=scheduler)
    assert not out.exists() or [file.name for file in out.iterdir()] == ["thesis.tex"]


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from laserloop.studies.halilovic.run import hold_folder\n"
        "with hold_folder(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(BadInput, match="one process at a time"), hold_folder(tmp_path):
            pass
        other.kill()
    with hold_folder(tmp_path):
        pass


def test_every_model_that_a_table_needs_is_trained() -> None:
    for size in (FULL, QUICK):
        names = {recipe.name for recipe in size.recipes()}
        assert set(TABLE_3.values()) <= names
        assert {SEED_LOOPS[row] for row in size.seeds} <= names
        assert {recipe.ensemble.runs for recipe in size.recipes()} == {size.runs}
        assert len(names) == len(size.recipes())


def test_clocks_are_read_when_the_workers_are_gone() -> None:
    quiet = [stage.quiet for stage in STAGES]
    assert quiet == sorted(quiet)
    assert [stage.name for stage in STAGES if stage.quiet] == ["timing"]


def test_the_progress_knows_every_stage() -> None:
    for expected in EXPECTED.values():
        assert set(expected) == {stage.name for stage in STAGES} | {"report"}


def test_the_progress_counts_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = StageProgress("quick", {"plant": "Plant", "ensembles": "Ensembles"})
    with progress.bars:
        whole = progress.left()
        progress.begin("plant", 4, 4)
        progress.end("plant")
        assert progress.left() < whole
        progress.begin("ensembles", 2, 0)
        progress.step("ensembles")
        progress.step("ensembles")
        assert progress.left() == 0.0
    said = capsys.readouterr().err
    assert "Plant: 4 tasks, 4 found on disk" in said
    assert "\x1b" not in said


def test_what_an_earlier_session_did_says_nothing_about_the_speed_of_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = chain([0.0], repeat(100.0))
    progress = StageProgress("full", {"trainings": "Trainings"})
    with progress.bars:
        monkeypatch.setattr("laserloop.studies.halilovic.run.time.monotonic", lambda: next(clock))
        progress.begin("trainings", 4, 2, share=0.5)
        progress.step("trainings")  # a small one: its count weighs nothing
        progress.see("trainings", 0.6)
        assert progress.left() == pytest.approx(400.0)  # a tenth took 100 s, four tenths are left


@pytest.mark.parametrize(("seconds", "words"), [(3.2, "3 s"), (130, "2 min"), (7500, "2 h 05 min")])
def test_durations_are_told_for_people(seconds: float, words: str) -> None:
    assert tell(seconds) == words
