"""The workers: processes of this machine or of a dask cluster, and how their work comes in."""

import logging
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.metadata import version
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from laserloop.bad_input import BadInput

if TYPE_CHECKING:
    from distributed import Client

CONNECT_WITHIN = 20  # s
DEATHS = 100  # of workers around one task before dask gives it up; preempted nodes are no fault of ours
MAX_WORKERS = 1024
REPORT_EVERY = 2.0  # s
CHATTY = ("asyncio", "tornado.application")  # tell of connections that end, which they do when workers do


def check_workers(workers: int | None, scheduler: str | None) -> int:
    """How many local processes are meant; refuses what cannot be."""
    if workers is not None and scheduler is not None:
        raise BadInput("workers and a scheduler exclude each other, but both were given; drop one.")
    if workers is not None and not 1 <= workers <= MAX_WORKERS:
        raise BadInput(f"workers must be 1 to {MAX_WORKERS}, but {workers} were asked for; choose a number.")
    return workers or os.cpu_count() or 1


@contextmanager
def open_cluster(workers: int, scheduler: str | None = None) -> Iterator["Client"]:
    """A client of so many local processes of one thread each, or of the scheduler at an address.

    Local processes end with this one, however it ends.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ModuleNotFoundError:
        raise BadInput(
            "more than one worker needs dask, but it is not installed; pip install 'laserloop[data]'."
        ) from None
    if scheduler is not None:
        with _connect(Client, scheduler) as client:
            # a function of the standard library, which workers without laserloop can run too
            check_versions(client.run(version, "laserloop", on_error="return"))
            yield client
        return
    with dask.config.set({"distributed.scheduler.allowed-failures": DEATHS}):
        with _interrupts_held():
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # some free port, for this machine only
                silence_logs=logging.CRITICAL,
            )
        with _hush(), cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
            yield client


@contextmanager
def _hush() -> Iterator[None]:
    """Libraries below dask say no more than dask does."""
    levels = {name: logging.getLogger(name).level for name in CHATTY}
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


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


def check_versions(found: Mapping[str, Any]) -> None:
    """Refuse workers, by address, with another laserloop or none: dask would try them for ever."""
    ours = version("laserloop")
    for address, theirs in found.items():
        if theirs != ours:
            what = theirs if isinstance(theirs, str) else "none"
            raise BadInput(
                f"every worker must have laserloop {ours}, but {address} has {what}; install the same there."
            )


def share_out(
    client: "Client",
    function: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    *,
    on_wait: Callable[[], None] | None = None,
) -> Iterator[Any]:
    """What `function` returns for each of the arguments, as it comes in; earlier ones are begun first.

    What dask gave up because its workers died is left out. `on_wait` is called every few seconds meanwhile.
    """
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


def _as_they_end(futures: list[Any], on_wait: Callable[[], None] | None) -> Iterator[Any]:
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
