"""A written file on the plant, planned against what happens; planned again until it holds; many side by side.

Layers follow each other on one plate: it cools while the next one is coated, and its surface rises.
Refinement is iterative learning with the plant `graded` as the machine. Offline there is time for it, and a
plan that was simulated knows what no gain of a straight line can tell: turns, starts, and alloys whose
diffusivity varies. Several files are parts, each on a plate of its own; each travels with its content, so
that a worker needs nothing of this machine's disks.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput
from laserloop.data.episode import simulate
from laserloop.jobs import check_workers, open_cluster, share_out
from laserloop.paths import ScanPath
from laserloop.planning.job import FilePlan, Job, Learned, find_rises, plan_job
from laserloop.planning.plan import LayerCache, LayerPlan, Progress, write_arrays
from laserloop.planning.scores import LayerResult, count_ticks, measure_miss, score_layers
from laserloop.plant import Plant, Snapshot, make_plant

FloatArray = NDArray[np.float64]
FIELDS = ("temperature", "above", "below")  # of a simulated layer

MOST_TICKS = 50_000  # that are simulated unless more are asked for: a minute or two for each round
ROUNDS = 10  # of refinement, most of them, unless their number is given
HELPS = 0.95  # of what the nearest plan left that the next one may leave, if it is to count as a help,
PATIENCE = 3  # rounds in a row that may be none,
SHORTER = 0.5  # each going so far from the nearest plan as the one before
LEARNS = 1.25  # times what the twin itself expects to miss that the plant must miss, if it is to teach


class _Plates:
    """One small file for each layer, one with the plate, and a checkpoint of the layer under way."""

    def __init__(self, cache: LayerCache) -> None:
        self._cache = cache
        self._plate = cache.place("plate.npz")

    def load(self, plant: Plant) -> list[LayerResult]:
        """The layers that are done; the plant is then as the last of them left it."""
        if not self._plate.exists():
            return []
        try:
            with np.load(self._plate) as kept:
                arrays = dict(kept)
            done = [self._read(self._layer(k)) for k in range(int(arrays["layers"]))]
            plate = Snapshot.from_arrays(arrays)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            raise BadInput(
                f"{self._plate} and the layers beside it must be of this job, but cannot be read; delete."
            ) from None
        plant.restore(plate)
        return done

    def keep(self, layer: int, done: LayerResult, plant: Plant) -> None:
        """A layer, counted from 0, then the plate after it: stopped in between, the layer is taken again."""
        write_arrays(self._layer(layer), {name: getattr(done, name) for name in FIELDS})
        write_arrays(self._plate, {"layers": np.array(layer + 1), **plant.snapshot().to_arrays()})
        shutil.rmtree(self.checkpoint(layer, len(done.temperature)), ignore_errors=True)

    def checkpoint(self, layer: int, ticks: int) -> Path:
        """The folder of a layer under way, of so many ticks; each its own, as two layers may be the same."""
        return self._cache.place(f"under-way-{layer + 1:05d}-{ticks}")

    def _layer(self, layer: int) -> Path:
        return self._cache.place(f"simulated-{layer + 1:05d}.npz")

    @staticmethod
    def _read(file: Path) -> LayerResult:
        with np.load(file) as kept:
            return LayerResult(*(kept[name] for name in FIELDS))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Layer:
    """One layer of a written file, and what comes before it."""

    path: ScanPath
    pause: float  # s
    rise: float  # m, of the surface

    def begin(self, plant: Plant) -> None:
        """Bring a plate from the end of the layer before to the start of this one."""
        if self.pause > 0:
            plant.rest(self.pause)
        if self.rise > 0:
            plant.add_layer(self.rise)


def simulate_job(
    job: Job, *, most: int | None = None, progress: Progress | None = None
) -> tuple[LayerResult, ...]:
    """Drive the graded plant with the powers of a job's own file, layer after layer, for `most` ticks or all.

    With a folder, what is done is kept there, and the same job begun again goes on from it.
    """
    layers = _cut(_find_layers(job), most)
    plant = make_plant("graded", job.process)
    for layer in layers:
        plant.check_path(layer.path)
    cache = job.find_cache()
    plates = None if cache is None else _Plates(cache)
    done = [] if plates is None else _take_up(plates.load(plant), layers)
    total = sum(len(layer.path) for layer in layers)
    for k in range(len(done), len(layers)):
        if k:
            layers[k].begin(plant)
        folder = None if plates is None else plates.checkpoint(k, len(layers[k].path))
        start = plant.snapshot() if k else None
        before = sum(len(layer.path) for layer in layers[:k])
        say = None if progress is None else partial(_add, progress, before, total)
        done.append(_simulate_layer(job, layers[k].path, plant, start, folder, say))
        if plates is not None:
            plates.keep(k, done[-1], plant)
    return tuple(done)


def _take_up(kept: list[LayerResult], layers: list[_Layer]) -> list[LayerResult]:
    """The layers that are done, unless they were cut elsewhere."""
    same = all(len(done.temperature) == len(layer.path) for done, layer in zip(kept, layers, strict=False))
    return kept[: len(layers)] if same else []


def _add(progress: Progress, before: int, total: int, ticks: int, _: int) -> None:
    progress("simulating", before + ticks, total)


def _find_layers(job: Job) -> list[_Layer]:
    layers, tracks = list[_Layer](), job.read()
    for track, rise in zip(tracks, find_rises(tracks), strict=True):
        path = job.lay(track).path
        if path.power is None:
            raise BadInput(f"{path.name} must command powers to be simulated, but does not; plan it first.")
        layers.append(_Layer(path=path, pause=job.recoating, rise=rise))
    return layers


def _cut(layers: list[_Layer], most: int | None) -> list[_Layer]:
    """The layers up to so many ticks, the last one of them perhaps in part."""
    kept, left = list[_Layer](), most
    for layer in layers:
        if left is None:
            kept.append(layer)
        elif left > 0:
            path = layer.path if len(layer.path) <= left else _truncate(layer.path, left)
            kept.append(_Layer(path=path, pause=layer.pause, rise=layer.rise))
            left -= len(path)
    return kept


def _truncate(path: ScanPath, ticks: int) -> ScanPath:
    """The first ticks, and on to the first lit one, without which there is nothing to judge."""
    return path.truncated(max(ticks, int(np.argmax(path.lit)) + 1))


def _simulate_layer(
    job: Job,
    path: ScanPath,
    plant: Plant,
    start: Snapshot | None,
    folder: Path | None,
    progress: "partial[None] | None",
) -> LayerResult:
    """One layer from a start, the first from rest."""
    power = np.zeros(len(path)) if path.power is None else path.power
    episode = simulate(plant, path, power, start=start, folder=folder, progress=progress)
    return LayerResult(episode.temperature, *count_ticks(job.process, path, power))


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """How far a plan is simulated, and how often it may be made anew."""

    simulate: bool = True
    refine: int | None = None  # times; None: until it holds or refining stops helping
    ticks: int = MOST_TICKS  # that are simulated, from the file's first on


def plan_refined(job: Job, checking: Checking | None = None, *, progress: Progress | None = None) -> FilePlan:
    """Plan all layers of a file, simulate what would be written, and plan again until the plant holds it."""
    checking = checking or Checking()
    planned = plan_job(job, progress=progress)
    for _ in range(checking.refine or 0):
        planned = replan(simulate_plan(planned, checking.ticks, progress=progress), progress=progress)
    if not checking.simulate:
        return planned
    planned = simulate_plan(planned, checking.ticks, progress=progress)
    if checking.refine is not None:
        return planned
    return _refine(planned, checking.ticks, progress)


def _refine(planned: FilePlan, most: int, progress: Progress | None) -> FilePlan:
    """Until a plan holds, or until planning anew, from the nearest plan so far, brings it no nearer.

    Near is what is left on the whole. That falls from round to round where the share of ticks outside the
    window goes up and down by chance, since a plate that melts ripples by as much as the window is wide.
    """
    best = nearest = planned
    idle = 0
    for _ in range(ROUNDS):
        if best.verdict.holds or idle == PATIENCE or not _can_help(nearest):
            break
        again = replan(nearest, SHORTER**idle, progress=progress)
        planned = simulate_plan(again, most, progress=progress)
        best = min(best, planned, key=lambda plan: plan.verdict.miss)
        idle = 0 if _measure_rest(planned) <= HELPS * _measure_rest(nearest) else idle + 1
        nearest = min(nearest, planned, key=_measure_rest)
    return best


def _measure_rest(planned: FilePlan) -> float:
    """The root mean square of what ticks that count are away from the window's middle, K."""
    middle, squares = 0.5 * sum(planned.job.process.window), list[FloatArray]()
    for layer in planned.results or ():
        off = layer.temperature - middle
        squares.append(off[(layer.above & (off > 0)) | layer.below] ** 2)
    return float(np.sqrt(np.mean(np.concatenate(squares)))) if squares else float("inf")


def _can_help(planned: FilePlan) -> bool:
    """Whether the plant misses the window by more than the twin expects: only that can be learned."""
    process = planned.job.process
    expected = score_layers([layer.result for layer in planned.layers], process.window)
    miss = planned.verdict.miss
    return bool(planned.results) and np.isfinite(miss) and miss > LEARNS * measure_miss(expected, process)


def replan(planned: FilePlan, part: float = 1.0, *, progress: Progress | None = None) -> FilePlan:
    """The plan of the same file by a twin that knows, or in part, what the plant did with the last one."""
    learned = learn(planned.layers, planned.results or (), part)
    again = plan_job(planned.job, planner=planned.planner, learned=learned, progress=progress)
    return replace(again, refined=planned.refined + 1)


def simulate_plan(
    planned: FilePlan, most: int | None = None, *, progress: Progress | None = None
) -> FilePlan:
    """The same plan with what the plant does with it as it would be written."""
    try:
        results = simulate_job(planned.job.again(planned.content), most=most, progress=progress)
    except BadInput as problem:  # such as a surface that boils
        return replace(planned, results=(), problem=str(problem))
    return replace(planned, results=results)


def learn(layers: Sequence[LayerPlan], found: Sequence[LayerResult], part: float = 1.0) -> list[Learned]:
    """What each layer teaches; of what was not simulated the same is assumed as of the last that was."""
    learned, usual = list[Learned](), 1.0
    for k, planned in enumerate(layers):
        path, expected, correction = planned.route.path, planned.course.temperature, planned.correction
        n = min(len(path), len(found[k].temperature)) if k < len(found) else 0
        if n:
            seen = np.concatenate((found[k].temperature[:n], expected[n:]))
            correction = correction.improve(expected, seen, path.lit, part)
            judged = found[k].below[:n] & path.lit[:n]
            usual = float(np.median(correction.factor[:n][judged])) if judged.any() else usual
        if n < len(path) - 1:
            rest = np.where(path.lit[n:], usual, 1.0)
            factor = np.concatenate((correction.factor[:n], rest))
            correction = replace(correction, factor=factor)
        learned.append(Learned(correction, planned.kept.speeds))
    return learned


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file to be planned."""

    path: str  # as people call it
    job: Job
    checking: Checking = field(default_factory=Checking)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPart:
    """What came of a part: a file and its account, or a sentence why there is none."""

    path: str
    content: bytes = b""
    record: dict[str, Any] | None = None
    problem: str = ""


def plan_parts(
    parts: Sequence[Part], *, workers: int | None = None, scheduler: str | None = None
) -> Iterator[PlannedPart]:
    """Plan parts that do not heat each other, as they get done; one that cannot be planned stops no other."""
    count = min(check_workers(workers, scheduler), len(parts))
    if scheduler is None and count == 1:
        yield from map(plan_part, parts)
        return
    lost = {part.path for part in parts}
    with ExitStack() as stack:
        client = stack.enter_context(open_cluster(count, scheduler))
        for done in share_out(client, plan_part, [(part,) for part in parts]):
            lost.discard(done.path)
            yield done
    for path in sorted(lost):
        yield PlannedPart(path=path, problem=f"{path}: its worker died again and again; plan it alone.")


def plan_part(part: Part) -> PlannedPart:
    """Plan one part, and simulate it if that is wanted; runs on a worker."""
    try:
        planned = plan_refined(part.job, part.checking)
        content, record = planned.write(), planned.tell()
    except BadInput as problem:
        return PlannedPart(path=part.path, problem=str(problem))
    return PlannedPart(path=part.path, content=content, record=record | {"path": part.path})
