"""Worker pool: runs begin at once, whoever hangs up leaves nothing half done, a dead worker is told."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from laserloop.bad_input import BadInput
from laserloop.live import workers as room
from laserloop.live.live_run import LiveRun
from laserloop.live.workers import WorkerPool

ORDER = {"path": "diagonal", "ticks": 5000}


def hold(live: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """In a thread of its own: in this one a browser's loop may run."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(live())).result()


async def until(pool: WorkerPool, run: LiveRun, state: str) -> None:
    while run.state != state:
        changed = pool.changed
        if run.state != state:
            await asyncio.wait_for(changed.wait(), 120)


def test_a_cold_crew_runs_stops_and_tells_of_a_dead_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "WARM_DELAY_S", 1e3)

    async def live() -> None:
        pool = WorkerPool()
        try:
            first = await pool.begin(ORDER, "twin", {})
            while not first.count:  # before it, a busy machine may lose patience
                await asyncio.wait_for(pool.changed.wait(), 120)
            pool.command(first, {"do": "stop"})
            await until(pool, first, "stopped")
            assert first.record
            second = await pool.begin(ORDER, "twin", {})
            assert len(pool._workers) == 1  # the same, warm one
            await until(pool, second, "running")
            pool._workers[0].process.kill()
            await until(pool, second, "refused")
            assert second.ending == room.GONE
        finally:
            await pool.close()

    hold(live)


def test_a_run_that_does_not_listen_ends_as_stopped_when_it_was_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "STOP_STARTING_S", 0.05)

    async def live() -> None:
        pool = WorkerPool()
        try:
            run = await pool.begin(ORDER, "pi", {})
            pool._workers[0].process.send_signal(signal.SIGSTOP)  # as deaf as within one try of a tuning
            pool.command(run, {"do": "pause"})
            assert run.tell()["held"]  # whether it listens or not
            pool.command(run, {"do": "resume"})
            assert not run.tell()["held"]
            pool.command(run, {"do": "stop"})
            await until(pool, run, "stopped")
            assert run.ending == "stopped by hand before the first tick"
        finally:
            await pool.close()

    hold(live)


def test_more_runs_than_may_compute_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_AT_WORK", 1)

    async def live() -> None:
        pool = WorkerPool()
        try:
            await pool.begin(ORDER, "twin", {})
            with pytest.raises(BadInput, match="stop one first"):
                await pool.begin(ORDER, "pi", {})
        finally:
            await pool.close()

    hold(live)


def test_who_gives_up_a_question_leaves_its_worker_free() -> None:
    async def live() -> None:
        pool = WorkerPool()
        try:
            question = asyncio.create_task(pool.ask({"job": "look", "order": {}}, 20.0))
            while not pool._workers:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            question.cancel()
            await asyncio.gather(question, return_exceptions=True)
            assert [worker.free.is_set() for worker in pool._workers] == [True]
        finally:
            await pool.close()

    hold(live)


def test_a_worker_that_dies_while_it_gets_ready_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as a path that takes too long."""

    async def start() -> room.Worker:
        command = (sys.executable, "-c", "")
        return room.Worker(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE))

    monkeypatch.setattr(room.Worker, "start", start)

    async def live() -> None:
        pool = WorkerPool()
        try:
            with pytest.raises(BadInput, match="ended while they started"):
                await pool.ask({"job": "look", "order": {}}, 5.0)
        finally:
            await pool.close()

    hold(live)
