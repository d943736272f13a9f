"""Records of episodes, their store, and how it is filled, here or by workers.

A record has one row per state and one named column per number. The store is a Zarr folder with one shard per
episode and a done-flag written last.

ξ_k  where the beam is at t_k      P_k  the power during the tick that ends at t_k; P_0 = 0
episodes  (runs, states, columns) float64      done  (runs,) uint64: 0, or the digest of the episode's bytes
"""

import json
import os
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import (
    NAMED_SHAPES,
    PREVIEW,
    EnsembleSettings,
    check_index,
    lay_out,
    plan_episode,
)
from laserloop.jobs import check_workers, run_missing
from laserloop.paths import ScanPath
from laserloop.plant import Plant, Surface, make_plant
from laserloop.plant.sampling import bilinear, lattice, nearest, smooth

if TYPE_CHECKING:
    import zarr

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]  # episodes there, episodes in all

CHUNK_COLUMNS = 61  # of an inner chunk: 196 kB of an episode of 401 states; 122 columns make 2
PATCH_SIZE = 9  # points along a side, the beam in the middle
PATCH_SPACING = 50e-6  # m

COLUMNS = (
    "power_w",  # P_k
    "x_m",  # ξ_k
    "y_m",
    "vx_m_s",  # (ξ_{k+1} − ξ_k)/Δt
    "vy_m_s",
    "t_node_k",  # the hottest node and where it is; of a plate at rest the first
    "node_x_m",
    "node_y_m",
    "t_peak_k",  # the peak between the nodes and where it is
    "peak_x_m",
    "peak_y_m",
    *(f"preview_nearest_{i}_k" for i in range(1, PREVIEW + 1)),  # T(ξ_{k+i}, t_k) of the nearest node
    *(f"preview_bilinear_{i}_k" for i in range(1, PREVIEW + 1)),  # the same, between the nodes
    *(f"preview_smooth_{i}_k" for i in range(1, PREVIEW + 1)),  # the same, by the C¹ cubic
    # Around ξ_k by the C¹ cubic, in single precision: columns run along the heading, rows to its left.
    *(f"patch_{row}_{col}_k" for row in range(PATCH_SIZE) for col in range(PATCH_SIZE)),
)


def record_episode(settings: EnsembleSettings, index: int) -> FloatArray:
    """Run episode `index` of an ensemble: its record (states, columns)."""
    plan = plan_episode(settings, index)
    plant = _keep_plant(settings.plant, settings.process)
    return record_path(plant, plan.path, plan.power)


def record_path(plant: Plant, path: ScanPath, power: FloatArray) -> FloatArray:
    """Drive `plant` from rest with one `power` (W) per tick: the record (ticks + 1, columns).

    Previews beyond the path's end go straight on.
    """
    plant.check_path(path)
    if not 1 <= len(power) <= len(path):
        raise BadInput(
            f"a record needs power for 1 to {len(path)} ticks along {path.name}, but got {len(power)}; "
            "make them fit."
        )
    power = np.where(path.lit[: len(power)], power, 0.0)
    values = np.empty((len(power) + 1, len(COLUMNS)))
    values[:, 0] = np.concatenate(([0.0], power))
    values[:, 1:3] = path.positions[: len(values)]
    values[:, 3:5] = path.velocities[: len(values)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        _see(plant.reset(), path, 0, values[0])
        for k in range(len(power)):
            _see(plant.step(float(power[k]), path.spot(k)), path, k + 1, values[k + 1])
    return values


def _see(surface: Surface, path: ScanPath, k: int, row: FloatArray) -> None:
    """Fill the columns that come from the surface at t_k."""
    field = surface.x, surface.y, surface.temperature
    ahead = np.ascontiguousarray(path.preview(k, PREVIEW)[1:])
    around = lattice(path.positions[k], path.headings[k], PATCH_SIZE, PATCH_SPACING)
    row[5:8] = surface.node.temperature, surface.node.x, surface.node.y
    row[8:11] = surface.peak.temperature, surface.peak.x, surface.peak.y
    row[11 : 11 + PREVIEW] = nearest(*field, ahead)
    row[11 + PREVIEW : 11 + 2 * PREVIEW] = bilinear(*field, ahead)
    row[11 + 2 * PREVIEW : 11 + 3 * PREVIEW] = smooth(*field, ahead)
    row[11 + 3 * PREVIEW :] = smooth(*field, around).astype(np.float32)


_keep_plant = lru_cache(maxsize=1)(make_plant)  # one per worker, built once; a reset makes it as new


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


def write_episode(store: EpisodeStore, index: int, values: FloatArray) -> int:
    """Write the record of an episode, then its done-flag; the digest.

    Zarr writes each file beside its place and renames it, so two processes may write the same episode.
    """
    _clear_unreadable(store, index)
    store.episodes[index] = values
    digest = digest_episode(values)
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


def _size_on_disk(store: EpisodeStore) -> int:
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


@dataclass(frozen=True, slots=True)
class _Tally:
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
) -> _Tally:
    """Make every episode that the store in `directory` lacks; stopped anywhere, the next call goes on.

    `workers`: processes of this machine, by default one per core; 1 works in this process.
    `scheduler`: the address of a dask scheduler instead, whose workers see the same folder.
    """
    check_workers(workers, scheduler)
    store, began = create_store(directory, settings), perf_counter()
    made = run_missing(
        make_episode,
        lambda: [(str(store.directory), settings.to_json(), index) for index in missing(store)],
        settings.runs,
        lost=lambda some: (
            f"workers must reach and fill {store.directory}, but episode {some[-1]} stayed missing; "
            "check that they live and share its disk."
        ),
        workers=workers,
        scheduler=scheduler,
        warm_up=lambda: record_episode(replace(settings, runs=1, states=3), 0),
        progress=progress,
    )
    seconds = perf_counter() - began
    return _Tally(store.directory, settings.runs, made, seconds, _size_on_disk(store), data_hash(store))


def make_episode(directory: str, settings: dict[str, Any], index: int) -> int:
    """Run and write one episode: the task of a worker; the digest."""
    store = _join(directory, EnsembleSettings.from_json(settings))
    return write_episode(store, index, record_episode(store.settings, index))


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
