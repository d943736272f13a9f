"""The workers: all comes in, nothing listens, and waiting costs nothing."""

import asyncio
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from laserloop import jobs
from laserloop.bad_input import BadInput
from laserloop.jobs import Pool, Workers, open_cluster, share_out

PROGRAM = """
import sys, time
from laserloop.jobs import open_cluster, share_out
if __name__ == "__main__":
    with open_cluster(2) as workers:
        for _ in share_out(workers, print, [(n,) for n in range(2)]):
            pass
        print("begun", flush=True)
        for _ in share_out(workers, time.sleep, [(60,), (60,)]):
            pass
"""


@pytest.fixture(params=["processes", "dask"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Two of each kind; dask's are threads here, so that no port is opened."""
    if request.param == "processes":
        with open_cluster(2) as pool:
            yield pool
        return
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as local,  # type: ignore[no-untyped-call]
        Client(local) as client,  # type: ignore[no-untyped-call]
    ):
        yield client


def test_all_results_come_in(workers: Workers) -> None:
    assert sorted(share_out(workers, math.factorial, [(n,) for n in range(9)])) == [
        math.factorial(n) for n in range(9)
    ]
    assert list(share_out(workers, math.factorial, [])) == []


def test_what_goes_wrong_there_is_raised_here(workers: Workers) -> None:
    with pytest.raises(ValueError, match="not defined for negative"):
        list(share_out(workers, math.factorial, [(-1,)]))
    assert list(share_out(workers, math.factorial, [(3,)])) == [6]


def test_waiting_for_dask_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "REPORT_EVERY", 0.01)
    waiting = list[int]()
    naps = [1.0, *[0.01] * 30]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as local,  # type: ignore[no-untyped-call]
        Client(local) as client,  # type: ignore[no-untyped-call]
    ):
        loop: Any = client.loop

        def count() -> None:
            waiting.append(len(asyncio.all_tasks(loop.asyncio_loop)))

        found = list(share_out(client, time.sleep, [(seconds,) for seconds in naps], on_wait=count))
    assert found == [None] * len(naps)
    assert len(waiting) > 40
    assert max(waiting[len(waiting) // 2 :]) <= max(waiting[:10])


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="other systems list their ports elsewhere")
def test_processes_of_this_machine_listen_on_no_port() -> None:
    with open_cluster(2) as workers:
        pids = set(share_out(workers, os.getpid, [()] * 8))
        assert os.getpid() not in pids
        assert not [pid for pid in (*pids, os.getpid()) if listens(pid)]


def listens(pid: int) -> bool:
    """Has it a socket that others could connect to?"""
    tables = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
    rows = [line.split() for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
    open_sockets = {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"}
    return any(
        os.readlink(file) in open_sockets for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink()
    )


def test_a_task_whose_processes_die_is_tried_again_and_then_left_out(tmp_path: Path) -> None:
    file = tmp_path / "tries"
    fatal = f"import os; open({str(file)!r}, 'a').write('x'); os.kill(os.getpid(), 9)"
    first = f"{file}1"
    once = f"import os; there = os.path.exists({first!r}); open({first!r}, 'w'); there or os._exit(1)"
    with open_cluster(2) as workers:
        assert len(list(share_out(workers, exec, [(fatal,), ("",), (once,)]))) == 2
    assert file.read_text() == "x" * jobs.DEATHS


def test_whoever_stops_asking_has_nobody_at_work_left() -> None:
    with open_cluster(2) as workers:
        assert isinstance(workers, Pool)
        for _ in share_out(workers, time.sleep, [(0.0,), (60.0,), (60.0,)]):
            break
        began = time.monotonic()
        assert list(share_out(workers, math.factorial, [(3,)])) == [6]
    assert time.monotonic() - began < 30


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes where Linux lists them")
def test_processes_end_with_the_one_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, "program.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        while "begun" not in program.stdout.readline():
            assert program.poll() is None
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        assert len(children) >= 2
        program.send_signal(signal.SIGKILL)
    end = time.monotonic() + 30
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_worker_that_is_ended_while_it_leaves_says_nothing() -> None:
    program = (
        "import atexit, os, signal\n"
        "from multiprocessing import Pipe\n"
        "from laserloop.jobs import _work\n"
        "ours, theirs = Pipe()\n"
        "ours.close()  # nobody asks any more\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGTERM))\n"
        "_work(theirs)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_missing_is_done_once_and_what_exists_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "1").touch()
    told = list[tuple[int, int]]()

    def missing() -> list[tuple[Path]]:
        return [(tmp_path / str(n),) for n in range(4) if not (tmp_path / str(n)).exists()]

    def run(until: Callable[[], bool]) -> int:
        return jobs.run_missing(
            Path.touch,
            missing,
            4,
            lost=str,
            workers=1,
            progress=lambda *count: told.append(count),
            until=until,
        )

    assert run(lambda: len(told) > 1) == 1  # stopped after the first of three
    assert told == [(1, 4), (2, 4)]
    assert run(lambda: False) == 2
    assert told[2:] == [(2, 4), (3, 4), (4, 4)]


def test_what_stays_missing_is_given_up_with_a_sentence() -> None:
    tried = list[int]()
    with pytest.raises(BadInput, match="piece 7 stayed missing"):
        jobs.run_missing(
            tried.append, lambda: [(7,)], 1, lost=lambda some: f"piece {some[0]} stayed missing", workers=1
        )
    assert tried == [7] * jobs.ROUNDS
