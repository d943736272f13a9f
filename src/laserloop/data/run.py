"""Running an ensemble: what is missing in its store is made, here or by workers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.cluster import Workers, check_workers, open_cluster, share_out
from laserloop.data.ensemble import EnsembleSettings
from laserloop.data.record import record_episode
from laserloop.data.store import (
    EpisodeStore,
    create_store,
    data_hash,
    missing,
    open_store,
    size_on_disk,
    write_episode,
)

Progress = Callable[[int, int], None]  # episodes there, episodes in all


@dataclass(frozen=True, slots=True)
class Tally:
    """What running an ensemble came to."""

    directory: Path
    episodes: int
    made: int  # of the episodes, in this call
    seconds: float
    size: int  # bytes on disk
    data_hash: str

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and words; units are in the names."""
        return {
            "store": str(self.directory),
            "episodes": self.episodes,
            "made_now": self.made,
            "seconds": self.seconds,
            "seconds_per_episode": self.seconds / self.made if self.made else 0.0,
            "size_mb": self.size / 1e6,
            "data_hash": self.data_hash,
        }


def run_ensemble(
    directory: str | Path,
    settings: EnsembleSettings,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Make every episode that the store in `directory` lacks; stopped anywhere, the next call goes on.

    `workers`: processes of this machine, by default one per core; 1 works in this process.
    `scheduler`: the address of a dask scheduler instead, whose workers see the same folder.
    """
    count = check_workers(workers, scheduler)
    store = create_store(directory, settings)
    began, total, lacking = perf_counter(), settings.runs, missing(store)
    made = len(lacking)
    if progress is not None:
        progress(total - made, total)
    with _choose_cluster(min(count, max(made, 1)), scheduler, settings) as client:
        while lacking:
            finished = _make_here(store, lacking) if client is None else _make_there(client, store, lacking)
            for done, _ in enumerate(finished, start=total - len(lacking) + 1):
                if progress is not None:
                    progress(done, total)
            left = missing(store)
            if len(left) == len(lacking):
                raise BadInput(
                    f"workers must reach and fill {store.directory}, but episode {left[0]} stayed missing; "
                    "check that they live and share its disk."
                )
            lacking = left
    seconds = perf_counter() - began
    return Tally(store.directory, total, made, seconds, size_on_disk(store), data_hash(store))


def make_episode(directory: str, settings: dict[str, Any], index: int) -> int:
    """Run and write one episode: the task of a worker; the digest."""
    return _make(_join(directory, EnsembleSettings.from_json(settings)), index)


def _join(directory: str, settings: EnsembleSettings) -> EpisodeStore:
    if not Path(directory).is_dir():
        raise BadInput(
            f"every worker must see the store, but {directory} does not exist on one; use a shared disk."
        )
    store = open_store(directory)
    if store.settings != settings:
        raise BadInput(
            f"every worker must see the same store, but one finds another in {directory}; use a shared disk."
        )
    return store


def _make(store: EpisodeStore, index: int) -> int:
    return write_episode(store, index, record_episode(store.settings, index))


def _make_here(store: EpisodeStore, lacking: list[int]) -> Iterator[int]:
    for index in lacking:
        yield _make(store, index)


def _make_there(client: Workers, store: EpisodeStore, lacking: list[int]) -> Iterator[int]:
    """Digests as they come in; one that was given up because its workers died is left out."""
    settings = store.settings.to_json()
    return share_out(client, make_episode, [(str(store.directory), settings, index) for index in lacking])


@contextmanager
def _choose_cluster(
    workers: int, scheduler: str | None, settings: EnsembleSettings
) -> Iterator[Workers | None]:
    """A client of the cluster that does the work; None when this process does it alone."""
    if scheduler is None and workers == 1:
        yield None
        return
    if scheduler is None:
        record_episode(replace(settings, runs=1, states=3), 0)  # compile once, here; workers load it
    with open_cluster(workers, scheduler) as client:
        yield client
