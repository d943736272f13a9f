"""The store of an ensemble: a Zarr folder with one shard per episode and a done-flag written last.

episodes  (runs, states, columns) float64      done  (runs,) uint64: 0, or the digest of the episode's bytes
"""

import json
import os
import shutil
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import NAMED_SHAPES, EnsembleSettings, check_index, lay_out
from laserloop.data.record import COLUMNS, EpisodeRecord

if TYPE_CHECKING:
    import zarr

FloatArray = NDArray[np.float64]

CHUNK_COLUMNS = 61  # of an inner chunk: 196 kB of an episode of 401 states; 122 columns make 2


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeStore:
    """An open store."""

    directory: Path
    settings: EnsembleSettings
    columns: tuple[str, ...]
    episodes: "zarr.Array[Any]"
    done: "zarr.Array[Any]"


def create_store(directory: str | Path, settings: EnsembleSettings) -> EpisodeStore:
    """A new store, or the one that is there if it has these settings; nothing is overwritten."""
    directory = Path(directory).resolve()
    if not _is_vacant(directory):
        store = open_store(directory)
        _check_same(store, settings)
        return store
    # Built beside and renamed into place, so that no other process sees half a store.
    building = directory.with_name(f".{directory.name}.{os.getpid()}.tmp")
    try:
        _build(building, settings)
        building.replace(directory)
    except OSError as problem:
        if directory.is_dir() and any(directory.iterdir()):  # another process was faster
            return create_store(directory, settings)
        reason = problem.strerror or problem
        raise BadInput(
            f"the store {directory} must be writable, but is not ({reason}); choose another."
        ) from None
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return open_store(directory)


def open_store(directory: str | Path) -> EpisodeStore:
    """The store in `directory`."""
    directory, zarr = Path(directory), _import_zarr()
    if not directory.exists():
        raise BadInput(
            f"a store of episodes must exist, but {directory} does not; make it: laserloop ensemble."
        )
    try:
        group = zarr.open_group(directory, mode="r+")
        settings = EnsembleSettings.from_json(group.attrs["settings"])
        columns = tuple(group.attrs["columns"])
        episodes, done = group["episodes"], group["done"]
        fits = episodes.shape == (settings.runs, settings.states, len(columns))
        if not fits or done.shape != (settings.runs,):
            raise ValueError("its arrays do not fit its settings")
    except Exception as problem:  # whatever zarr says of a folder that is something else
        raise BadInput(
            f"{directory} must be a store of episodes, but is not one that can be read "
            f"({type(problem).__name__}); name another folder."
        ) from problem
    return EpisodeStore(directory, settings, columns, episodes, done)


def write_episode(store: EpisodeStore, index: int, record: EpisodeRecord) -> int:
    """Write an episode, then its done-flag; the digest.

    Zarr writes each file beside its place and renames it, so two processes may write the same episode.
    """
    _clear_unreadable(store, index)
    store.episodes[index] = record.values
    digest = digest_episode(record.values)
    store.done[index] = digest
    return digest


def read_episode(store: EpisodeStore, index: int) -> FloatArray:
    """The record (states, columns) of an episode, bit by bit as it was written; otherwise a sentence."""
    check_index(store.settings, index)
    rule = f"episode {index} of {store.directory} must be complete"
    cure = "make it again: the same laserloop ensemble as before"
    try:
        expected = int(np.asarray(store.done[index]))
        if not expected:
            raise BadInput(f"{rule}, but was not finished; {cure}.")
        values = np.asarray(store.episodes[index], dtype=np.float64)
    except BadInput:
        raise
    except Exception as problem:  # whatever zarr and its codecs say of a damaged file
        raise BadInput(f"{rule}, but cannot be read ({type(problem).__name__}); {cure}.") from problem
    if digest_episode(values) != expected:
        raise BadInput(f"{rule}, but its bytes are not those that were written; {cure}.")
    return values


def missing(store: EpisodeStore, *, verify: bool = True) -> list[int]:
    """The episodes that are not there; if verified also those whose bytes are damaged."""
    return [i for i in range(store.settings.runs) if not _is_there(store, i, verify)]


def digest_episode(values: FloatArray) -> int:
    """64 bits of the episode's bytes, never 0."""
    data = np.ascontiguousarray(values, dtype="<f8").tobytes()
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little") or 1


def data_hash(store: EpisodeStore) -> str:
    """A hex name for the data: of the settings, the columns and every episode's digest."""
    head = json.dumps([store.settings.to_json(), store.columns], sort_keys=True)
    digests = np.asarray(store.done[:], dtype="<u8").tobytes()
    return blake2b(head.encode() + digests, digest_size=16).hexdigest()


def size_on_disk(store: EpisodeStore) -> int:
    """Bytes of all files."""
    return sum(file.stat().st_size for file in store.directory.rglob("*") if file.is_file())


def _clear_unreadable(store: EpisodeStore, index: int) -> None:
    """Remove a shard that cannot be decoded: zarr 3.1 reads the old shard before it writes the new one."""
    try:
        store.episodes[index]
    except Exception:  # whatever zarr and its codecs say
        key = store.episodes.metadata.encode_chunk_key((index, 0, 0))
        (store.directory / "episodes" / key).unlink(missing_ok=True)


def _is_there(store: EpisodeStore, index: int, verify: bool) -> bool:
    try:
        if not verify:
            return bool(store.done[index])
        read_episode(store, index)
    except Exception:  # a damaged done-flag too
        return False
    return True


def _is_vacant(directory: Path) -> bool:
    if directory.is_dir():
        return not any(directory.iterdir())
    if directory.exists():
        raise BadInput(f"a store must be a folder, but {directory} is a file; choose another name.")
    return True


def _check_same(store: EpisodeStore, settings: EnsembleSettings) -> None:
    here, wanted = (NAMED_SHAPES | chosen.to_json() for chosen in (store.settings, settings))
    for name, value in wanted.items():
        if here[name] != value:
            raise BadInput(
                f"{store.directory} holds an ensemble with {name} = {here[name]}, but {value} was asked for; "
                "choose another folder."
            )
    if store.columns != COLUMNS:
        raise BadInput(
            f"{store.directory} must hold the columns of laserloop {version('laserloop')}, but holds others; "
            "choose another folder."
        )


def _build(directory: Path, settings: EnsembleSettings) -> None:
    zarr = _import_zarr()
    shape = (settings.runs, settings.states, len(COLUMNS))
    directory.parent.mkdir(parents=True, exist_ok=True)
    members = lay_out(settings)
    attributes = {
        "laserloop": version("laserloop"),
        "settings": settings.to_json(),
        "columns": list(COLUMNS),
        "geometry": [member.geometry.value for member in members],
        "excitation": [member.excitation.value for member in members],
    }
    group = zarr.open_group(directory, mode="w-", zarr_format=3, attributes=attributes)
    group.create_array(
        "episodes",
        shape=shape,
        dtype="float64",
        chunks=(1, settings.states, CHUNK_COLUMNS),
        shards=(1, *shape[1:]),
        compressors=zarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="shuffle"),
    )
    group.create_array("done", shape=shape[:1], dtype="uint64", chunks=(1,), compressors=None)


def _import_zarr() -> ModuleType:
    try:
        import zarr
    except ModuleNotFoundError:
        raise BadInput(
            "a store of episodes needs zarr, but it is not installed; pip install 'laserloop[data]'."
        ) from None
    return zarr
