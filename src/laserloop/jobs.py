"""Work that is done once: what exists is skipped, the rest is spread over workers, what died is tried again.

Workers are processes of this machine or of a dask cluster.
"""

import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Union

from laserloop.bad_input import BadInput

if TYPE_CHECKING:
    from distributed import Client

CONNECT_WITHIN = 20  # s
DEATHS = 5  # of processes around one task before it is given up
MAX_WORKERS = 1024
ROUNDS = 3  # attempts at work whose workers died, without a single piece of it done
PATIENCE = 5.0  # s, with a process that was told to end
REPORT_EVERY = 2.0  # s
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")  # one in each process

Function = Callable[..., Any]
OnWait = Callable[[], None] | None


def check_workers(workers: int | None, scheduler: str | None) -> int:
    """How many local processes are meant; refuses what cannot be."""
    if workers is not None and scheduler is not None:
        raise BadInput("workers and a scheduler exclude each other, but both were given; drop one.")
    if workers is not None and not 1 <= workers <= MAX_WORKERS:
        raise BadInput(f"workers must be 1 to {MAX_WORKERS}, but {workers} were asked for; choose a number.")
    return workers or os.cpu_count() or 1


Arguments = tuple[Any, ...]


def run_missing(
    function: Function,
    missing: Callable[[], Sequence[Arguments]],
    total: int,
    *,
    lost: Callable[[Arguments], str],
    workers: int | None = None,
    scheduler: str | None = None,
    warm_up: Callable[[], object] | None = None,
    progress: Callable[[int, int], None] | None = None,
    until: Callable[[], bool] = lambda: False,
) -> int:
    """Call `function` with the arguments of all that is `missing`, until nothing is; how much that was.

    `workers`: processes of this machine, one per core unless given; 1 works in this process. `scheduler`: the
    address of a dask scheduler instead. `warm_up` is called once before processes start, so that they find
    compiled what it compiles. `lost`: the sentence for a piece that stayed missing. `until`: asked after each
    piece, true when no more shall be begun.
    """
    count, left = check_workers(workers, scheduler), missing()
    first, fruitless = len(left), 0
    if progress is not None:
        progress(total - first, total)
    with open_workers(min(count, max(first, 1)), scheduler, warm_up) as pool:
        while left and not until():
            done = total - len(left)
            for _ in spread(pool, function, left):
                done += 1
                if progress is not None:
                    progress(done, total)
                if until():
                    break
            now = missing()
            fruitless = 0 if len(now) < len(left) else fruitless + 1
            if fruitless == ROUNDS and not until():
                raise BadInput(lost(now[0]))
            left = now
    return first - len(left)


@contextmanager
def open_workers(
    count: int, scheduler: str | None = None, warm_up: Callable[[], object] | None = None
) -> Iterator["Workers | None"]:
    """Workers, after a warm-up; None when this process does the work alone."""
    if scheduler is None and count == 1:
        yield None
        return
    if scheduler is None and warm_up is not None:
        warm_up()
    with open_cluster(count, scheduler) as workers:
        yield workers


def spread(workers: "Workers | None", function: Function, arguments: Sequence[Arguments]) -> Iterator[Any]:
    """What `function` returns for each of the arguments, as it comes in, by workers or here."""
    if workers is None:
        return (function(*some) for some in arguments)
    return share_out(workers, function, arguments)


@contextmanager
def open_cluster(workers: int, scheduler: str | None = None) -> Iterator["Workers"]:
    """So many processes of this machine, or a client of the dask scheduler at an address.

    Local processes end with this one, however it ends.
    """
    if scheduler is None:
        pool = Pool(workers)
        try:
            yield pool
        finally:
            pool.close()
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise BadInput(
            "a scheduler needs dask, but it is not installed; pip install 'laserloop[data]'."
        ) from None
    with _connect(Client, scheduler) as client:
        # a function of the standard library, which workers without laserloop can run too
        check_versions(client.run(version, "laserloop", on_error="return"))
        yield client


@dataclass(frozen=True, slots=True)
class Worker:
    """A process of this machine and the end of its pipe that is ours: nothing listens on a port."""

    process: SpawnProcess
    pipe: Connection

    @classmethod
    def start(cls) -> "Worker":
        """Begin one, in an interpreter of its own."""
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,))
        with _interrupts_held(), _one_thread():
            process.start()
        theirs.close()  # so that ours ends when the process does
        return cls(process, ours)

    def stop(self) -> None:
        """End it, whatever it does."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()


class Pool:
    """At most so many processes of this machine; each is started when there is work for it."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._idle: list[Worker] = []

    def close(self) -> None:
        """End those that wait; those at work ended with `share_out`."""
        while self._idle:
            self._idle.pop().stop()

    def share_out(
        self, function: Function, arguments: Sequence[tuple[Any, ...]], on_wait: OnWait
    ) -> Iterator[Any]:
        """As the function below; whoever stops asking stops the work."""
        waiting, deaths = deque(range(len(arguments))), [0] * len(arguments)
        at_work = dict[Connection, tuple[Worker, int]]()
        try:
            while waiting or at_work:
                while waiting and len(at_work) < self.count:
                    worker, task = self._idle.pop() if self._idle else Worker.start(), waiting.popleft()
                    at_work[worker.pipe] = worker, task
                    with suppress(OSError):  # it has died meanwhile: its pipe says so below
                        worker.pipe.send((function, arguments[task]))
                ready = wait(list(at_work), timeout=REPORT_EVERY)
                for pipe in [pipe for pipe in at_work if pipe in ready]:
                    worker, task = at_work.pop(pipe)
                    try:
                        good, result = worker.pipe.recv()
                    except (EOFError, OSError):
                        worker.stop()
                        deaths[task] += 1
                        if deaths[task] < DEATHS:
                            waiting.append(task)
                        continue
                    self._idle.append(worker)
                    if not good:
                        raise result
                    yield result
                if on_wait is not None:
                    on_wait()
        finally:
            for worker, _ in at_work.values():
                worker.stop()


def _work(pipe: Connection) -> None:
    """What a process does: a function after another, until nobody asks any more."""
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            function, arguments = pipe.recv()
            try:
                answer = True, function(*arguments)
            except Exception as problem:
                problem.add_note(traceback.format_exc())
                answer = False, problem
            pipe.send(answer)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is leaving, since nobody asks any more


def _leave(*_: object) -> None:
    """Libraries give back what they hold; to be told so again meanwhile changes nothing."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit()


def _end_with_parent() -> None:
    """At once, also in the middle of a task: nobody will take its result."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os._exit(1)


Workers = Union[Pool, "Client"]  # dask is there or not


@contextmanager
def _one_thread() -> Iterator[None]:
    """A process that is started here counts with one thread: there are as many processes as cores."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C, which a terminal sends to every process, waits here and never reaches what is started here.

    Threads and processes inherit the mask: workers end because this process tells them to, without a word.
    """
    resource_tracker.ensure_running()  # which would let them through again if it were started here
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_versions(versions: Mapping[str, Any]) -> None:
    """Refuse workers, by address, with another laserloop or none: dask would try them for ever."""
    ours = version("laserloop")
    for address, theirs in versions.items():
        if theirs != ours:
            what = theirs if isinstance(theirs, str) else "none"
            raise BadInput(
                f"every worker must have laserloop {ours}, but {address} has {what}; install the same there."
            )


def share_out(
    workers: Workers,
    function: Function,
    arguments: Sequence[tuple[Any, ...]],
    *,
    on_wait: OnWait = None,
) -> Iterator[Any]:
    """What `function` returns for each of the arguments, as it comes in; earlier ones are begun first.

    What was given up because workers died around it is left out. `on_wait` is called every few seconds.
    """
    if isinstance(workers, Pool):
        return workers.share_out(function, arguments, on_wait)
    return _share_on_dask(workers, function, arguments, on_wait)


def _share_on_dask(
    client: "Client", function: Function, arguments: Sequence[tuple[Any, ...]], on_wait: OnWait
) -> Iterator[Any]:
    from distributed import KilledWorker

    futures = [client.submit(function, *some, pure=False, priority=-n) for n, some in enumerate(arguments)]
    for future in _as_they_end(futures, on_wait):
        try:
            result = future.result()
        except KilledWorker:
            continue
        except CancelledError:
            raise BadInput(
                "the scheduler must stay until the end, but was lost; start it and the same command again to "
                "go on."
            ) from None
        yield result


def _as_they_end(futures: list[Any], on_wait: OnWait) -> Iterator[Any]:
    """Each tells once that it has ended; waiting again and again for all leaves more behind each time."""
    ended = SimpleQueue[Any]()
    for future in futures:
        future.add_done_callback(ended.put)
    left = len(futures)
    while left:
        with suppress(Empty):
            future = ended.get(timeout=REPORT_EVERY)
            left -= 1
            yield future
        if on_wait is not None:
            on_wait()


def _connect(make_client: "type[Client]", address: str) -> "Client":
    try:
        return make_client(address, timeout=CONNECT_WITHIN)
    except (OSError, ValueError) as problem:
        raise BadInput(
            f"a scheduler must answer at its address, but {address!r} does not "
            f"({type(problem).__name__}); start one: dask scheduler."
        ) from None
