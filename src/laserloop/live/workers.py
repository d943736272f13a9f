"""Worker processes, some of them warm and waiting, and the runs that they compute."""

import asyncio
import json
import secrets
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.live.live_run import LiveRun, say_on_page
from laserloop.live.request import Uploaded
from laserloop.live.telemetry import Words, unpack

SPARES = 2  # workers that wait, so that two controllers start at once
MOST_AT_WORK = 4  # computing at the same time
MOST_KEPT = 12  # runs remembered; the oldest that has ended goes first
LONGEST_MESSAGE = 64_000_000  # bytes, a record of 100,000 ticks
STOP_S = 3.0  # until a worker that shall stop is killed
STOP_STARTING_S = 0.5  # while it starts or is tuned: nothing is lost, and a try of a tuning takes longer
WARM_S = 120.0  # that a worker may take to warm up
WARM_DELAY_S = 4.0  # after the start of a run, until another worker may warm up
LOOK_S, PLAN_S = 20.0, 300.0  # that a look at a path and a plan may take
ATTEMPTS = 2  # at a worker that gets ready
GONE = "the worker ended without a word: it ran out of memory, or was killed"

Arrays = dict[str, NDArray[Any]]
OnMessage = Callable[[Words, Arrays], None]
FINAL = ("done", "stopped", "refused", "gone", "looked", "described", "planned")


class Worker:
    """One process: a job at a time."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.on_message: OnMessage | None = None
        self.warm = asyncio.Event()
        self.free = asyncio.Event()
        self.free.set()
        self.reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls) -> "Worker":
        """A process that begins to warm up."""
        command = (sys.executable, "-m", "laserloop.live.jobs")
        return cls(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL))

    @property
    def alive(self) -> bool:
        """Does it still listen?"""
        return self.process.returncode is None and not self.reading.done()

    def tell(self, words: Words) -> None:
        """A job or a command."""
        assert self.process.stdin is not None
        data = json.dumps(words).encode()
        with suppress(ConnectionError, RuntimeError):
            self.process.stdin.write(struct.pack("<I", len(data)) + data)

    def give(self, job: Words, on_message: OnMessage) -> None:
        """Begin a job; `on_message` gets every message of it."""
        self.on_message = on_message
        self.free.clear()
        self.tell(job)

    async def stop(self) -> None:
        """End the process, kindly or not."""
        if self.process.returncode is None:
            self.process.kill()
        with suppress(asyncio.CancelledError):
            await self.reading
        await self.process.wait()

    async def _read(self) -> None:
        """Messages until there are no more."""
        assert self.process.stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = struct.unpack("<I", await self.process.stdout.readexactly(4))
                if length > LONGEST_MESSAGE:
                    break
                self._pass_on(*unpack(await self.process.stdout.readexactly(length)))
        if self.on_message is not None:
            self.on_message({"kind": "gone", "text": GONE}, {})
        self.on_message = None
        self.warm.set()
        self.free.set()

    def _pass_on(self, words: Words, arrays: Arrays) -> None:
        if words["kind"] == "warm":
            self.warm.set()
        elif self.on_message is not None:
            on_message = self.on_message
            if words["kind"] in FINAL:
                self.on_message = None
                self.free.set()
            on_message(words, arrays)


class WorkerPool:
    """All workers and all runs of a server."""

    def __init__(self) -> None:
        self.runs: dict[str, LiveRun] = {}
        self.changed = asyncio.Event()  # there is news of a run
        self._workers: list[Worker] = []
        self._at: dict[str, Worker] = {}  # which worker computes which run
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()

    async def start_workers(self, spares: int = SPARES) -> None:
        """Have as many waiting workers as there should be."""
        async with self._starting:
            self._workers = [worker for worker in self._workers if worker.alive]
            free = sum(worker.free.is_set() for worker in self._workers)
            for _ in range(min(spares - free, MOST_AT_WORK + SPARES - len(self._workers))):
                self._workers.append(await Worker.start())

    async def warm_up(self) -> None:
        """Workers one after another, so that a page that opens meanwhile has a processor, too."""
        for spares in range(1, SPARES + 1):
            await self.start_workers(spares)
            for worker in self._workers:
                await worker.warm.wait()

    def begin_to_warm_up(self) -> None:
        """The same, while others go on."""
        self._spawn(self.warm_up())

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        async with self._starting:
            for worker in self._workers:
                worker.on_message = None
                await worker.stop()
            self._workers.clear()

    async def begin(self, request: Words, controller: str, files: Words) -> LiveRun:
        """Start a run; refused where too many compute."""
        if sum(not run.ended for run in self.runs.values()) >= MOST_AT_WORK:
            raise BadInput(f"at most {MOST_AT_WORK} runs compute at once, and so many do: stop one first")
        worker = await self._find()  # nothing after it waits: who hangs up meanwhile leaves nothing half done
        run = LiveRun(secrets.token_hex(6), controller, request)
        self.runs[run.name] = run
        self._forget()
        self._at[run.name] = worker

        def on_message(words: Words, arrays: Arrays) -> None:
            run.on_message(words, arrays)
            if run.ended:
                self._at.pop(run.name, None)
            self.wake()

        worker.give({"job": "run", "order": request, "controller": controller, "files": files}, on_message)
        self._spawn(self._replace())
        self.wake()
        return run

    def command(self, run: LiveRun, words: Words) -> None:
        """Pass a command on; a run that does not stop within seconds is ended with its worker."""
        worker = self._at.get(run.name)
        if worker is None:
            return
        worker.tell(words)
        verb = words["do"]
        if verb in ("pause", "step", "resume"):
            run.held = verb != "resume"
            self.wake()
        if verb == "stop":
            run.stopping = True
            self._spawn(self._kill_if_deaf(run, worker))

    async def ask(self, job: Words, seconds: float) -> tuple[Words, Arrays]:
        """The answer to a job that is no run."""
        worker = await self._find_warm()
        answer: asyncio.Future[tuple[Words, Arrays]] = asyncio.get_running_loop().create_future()

        def on_message(words: Words, arrays: Arrays) -> None:
            if words["kind"] in FINAL and not answer.done():
                answer.set_result((words, arrays))

        worker.give(job, on_message)
        try:
            message = await asyncio.wait_for(answer, seconds)
        except TimeoutError:
            worker.on_message = None
            await worker.stop()
            self._spawn(self.start_workers())
            raise BadInput(f"this took more than {seconds:g} s and was given up: shorten the path") from None
        words, arrays = message
        if words["kind"] in ("refused", "gone"):
            raise BadInput(say_on_page(words["text"]))
        return words | {"notes": [say_on_page(note) for note in words.get("notes", ())]}, arrays

    def wake(self) -> None:
        """Whoever waits for news looks again."""
        self.changed.set()
        self.changed = asyncio.Event()

    async def _find(self) -> Worker:
        """A worker that is free, warm ones first."""
        await self.start_workers(1)
        free = [worker for worker in self._workers if worker.alive and worker.free.is_set()]
        if not free:
            raise BadInput("all workers are busy: wait until a run ends, or stop one")
        worker = next((worker for worker in free if worker.warm.is_set()), free[0])
        worker.free.clear()
        return worker

    async def _find_warm(self) -> Worker:
        """The same once it is ready; one that ends meanwhile is followed by another."""
        for _ in range(ATTEMPTS):
            worker = await self._find()
            try:
                await asyncio.wait_for(worker.warm.wait(), WARM_S)
            except TimeoutError:
                await worker.stop()
                raise BadInput(
                    f"a worker must be ready within {WARM_S:g} s, but was not: try again when this machine "
                    "has less to do"
                ) from None
            except BaseException:
                worker.free.set()
                raise
            if worker.alive:
                return worker
        raise BadInput(
            "a worker must live until it is ready, but all ended while they started: try again with "
            "more free memory"
        )

    async def _kill_if_deaf(self, run: LiveRun, worker: Worker) -> None:
        await asyncio.sleep(STOP_STARTING_S if run.tuned or not run.head else STOP_S)
        if not run.ended and self._at.get(run.name) is worker:
            await worker.stop()
            await self.start_workers()

    async def _replace(self) -> None:
        """A waiting worker for the one that was taken, once the run has had the processor to itself."""
        await asyncio.sleep(WARM_DELAY_S)
        if not any(worker.free.is_set() for worker in self._workers):
            await self.start_workers()

    def _forget(self) -> None:
        """The oldest runs that have ended."""
        ended = [name for name, run in self.runs.items() if run.ended]
        for name in ended[: max(0, len(self.runs) - MOST_KEPT)]:
            del self.runs[name]

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def place_files(files: Uploaded) -> Words:
    """Dropped files as a worker is told of them."""
    return {name: [shown, str(place)] for name, (shown, place) in files.items()}
