import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laserloop.bad_input import BadInput
from laserloop.cli import main
from laserloop.data import EnsembleSettings, EpisodeStore, missing, open_store, read_settings, run_ensemble

LONGER = EnsembleSettings(kind="corner", runs=12, states=100, seed=5)
PATIENCE = 180  # s
CLUSTER_FILE = "cluster.json"

Start = Callable[..., subprocess.Popen[bytes]]


def contents(directory: Path) -> dict[str, bytes]:
    """All files but those that a killed process was writing."""
    files = (file for file in directory.rglob("*") if file.is_file() and file.suffix != ".partial")
    return {str(file.relative_to(directory)): file.read_bytes() for file in files}


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The longer ensemble, made by one process without dask."""
    directory = tmp_path_factory.mktemp("single") / "store"
    run_ensemble(directory, LONGER, workers=1)
    return directory


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `python -m …` in the test's folder; whatever still lives afterwards is ended."""
    processes: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", *arguments]
        null = subprocess.DEVNULL
        processes.append(subprocess.Popen(command, cwd=tmp_path, stdout=null, stderr=null))
        return processes[-1]

    yield begin
    for process in reversed(processes):
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture
def scheduler(start: Start, tmp_path: Path) -> str:
    """The address of a real scheduler."""
    file = tmp_path / CLUSTER_FILE
    start_scheduler(start, file)
    return str(json.loads(file.read_text())["address"])


def start_scheduler(start: Start, file: Path) -> subprocess.Popen[bytes]:
    process = start("dask", "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file.name)
    wait_until(lambda: file.exists() and file.read_text().strip().endswith("}"))
    return process


def start_worker(start: Start, *options: str) -> subprocess.Popen[bytes]:
    shape = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard")
    return start("dask", "worker", "--scheduler-file", CLUSTER_FILE, *shape, *options)


def test_two_local_workers_write_the_same_bytes_as_one_process(
    made: EpisodeStore, small: EnsembleSettings, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    tally = run_ensemble(tmp_path / "two", small, workers=2, progress=lambda *now: seen.append(now))
    assert contents(tmp_path / "two") == contents(made.directory)
    assert tally.made == tally.episodes == 6
    assert seen == [(done, 6) for done in range(7)]


def test_a_worker_killed_midway_costs_nothing(
    single: Path, start: Start, scheduler: str, tmp_path: Path
) -> None:
    from distributed import Client

    victim = start_worker(start, "--no-nanny")
    start_worker(start)
    with Client(scheduler) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(2, timeout=PATIENCE)

    def kill_midway(done: int, _: int) -> None:
        if done == 3:
            os.kill(victim.pid, signal.SIGKILL)

    tally = run_ensemble(tmp_path / "store", LONGER, scheduler=scheduler, progress=kill_midway)
    assert victim.wait(PATIENCE) == -signal.SIGKILL
    assert tally.made == 12
    assert contents(tmp_path / "store") == contents(single)


def test_a_client_killed_midway_costs_nothing(
    single: Path, start: Start, scheduler: str, tmp_path: Path
) -> None:
    start_worker(start)
    settings, store = tmp_path / "settings.yaml", tmp_path / "store"
    settings.write_text(json.dumps(LONGER.to_json() | {"kind": "custom"}))
    client = start("laserloop", "ensemble", "settings.yaml", "--out", "store", "--scheduler", scheduler)
    flags = store / "done" / "c"
    wait_until(lambda: flags.is_dir() and len(list(flags.iterdir())) >= 2)
    os.kill(client.pid, signal.SIGKILL)
    assert client.wait(PATIENCE) == -signal.SIGKILL
    custom = EnsembleSettings.from_json(read_settings(settings))
    tally = run_ensemble(store, custom, scheduler=scheduler)
    assert 0 < tally.made < 12
    assert missing(open_store(store)) == []
    assert contents(store / "episodes") == contents(single / "episodes")
    assert contents(store / "done") == contents(single / "done")


def test_a_scheduler_that_dies_is_one_sentence_and_the_rest_can_be_made_elsewhere(
    single: Path, start: Start, tmp_path: Path
) -> None:
    file = tmp_path / CLUSTER_FILE
    boss = start_scheduler(start, file)
    start_worker(start)

    def kill_midway(done: int, _: int) -> None:
        if done == 2:
            os.kill(boss.pid, signal.SIGKILL)

    address = json.loads(file.read_text())["address"]
    with pytest.raises(BadInput, match="the scheduler must stay until the end"):
        run_ensemble(tmp_path / "store", LONGER, scheduler=address, progress=kill_midway)
    run_ensemble(tmp_path / "store", LONGER, workers=1)
    assert contents(tmp_path / "store") == contents(single)


def test_a_stopped_ensemble_goes_on_where_it_was(
    made: EpisodeStore, small: EnsembleSettings, tmp_path: Path
) -> None:
    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_ensemble(tmp_path / "store", small, workers=1, progress=stop)
    assert missing(open_store(tmp_path / "store")) == [2, 3, 4, 5]
    assert run_ensemble(tmp_path / "store", small, workers=1).made == 4
    assert run_ensemble(tmp_path / "store", small, workers=1).made == 0
    assert contents(tmp_path / "store") == contents(made.directory)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"workers": 0}, "workers must be 1 to 1024"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, "exclude each other"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "a scheduler must answer at its address"),
        ({"scheduler": "nowhere://x"}, "a scheduler must answer at its address"),
    ],
)
def test_workers_that_cannot_be_had_are_one_sentence(
    tmp_path: Path,
    small: EnsembleSettings,
    options: dict[str, object],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("laserloop.jobs.CONNECT_WITHIN", 0.5)
    with pytest.raises(BadInput, match=sentence):
        run_ensemble(tmp_path / "store", small, **options)  # type: ignore[arg-type]


def test_the_command_line_makes_an_ensemble_and_reports_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out, numbers = (str(tmp_path / name) for name in ("mine.yaml", "store", "numbers.json"))
    Path(file).write_text("kind: base\nruns: 9\nstates: 8\n")
    command = ["ensemble", file, "--runs", "3", "--workers", "1", "--out", out, "--json", numbers]
    assert main(command) == 0
    assert "data_hash" in capsys.readouterr().out
    first = json.loads(Path(numbers).read_text())
    assert first["settings"]["runs"] == first["episodes"] == first["made_now"] == 3
    assert first["seconds_per_episode"] > 0 < first["size_mb"]
    assert main(command) == 0
    again = json.loads(Path(numbers).read_text())
    assert again["made_now"] == 0
    assert again["data_hash"] == first["data_hash"]
    capsys.readouterr()
    assert main(["ensemble", "corner", "--runs", "3", "--out", out]) == 2
    assert capsys.readouterr().err.count("\n") == 1
