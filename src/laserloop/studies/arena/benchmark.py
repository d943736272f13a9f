"""A benchmark: which entrants meet which tasks, what is missing on disk, and who runs it.

A trial is an entrant on a task: one record that is kept, scored, drawn and shown like any other run. Killed
at any moment, the same benchmark goes on with the trials that are not there; whoever ran them, the tables are
the same but for what a clock said.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control import Action, Controller, Preview, Status, make_twin_problem
from laserloop.jobs import run_missing
from laserloop.loop import Context, DeadlineController, Fault, Scenario, is_own, make_named, prepare
from laserloop.plant import Image
from laserloop.store import has_case, name_case, solve_case
from laserloop.studies.arena.entrant import Entrant, FloatArray, OpenLoopController, TaskContext, TrialPass
from laserloop.studies.arena.entrants import ENTRANTS, find_entrant
from laserloop.studies.arena.machine import misplace
from laserloop.studies.arena.sandbox import try_out
from laserloop.studies.arena.scores import measure_record
from laserloop.studies.arena.tasks import Task, find_task
from laserloop.versions import hash_loop

Progress = Callable[[int, int], None]  # runs there, runs in all
Record = dict[str, Any]

BLIND = Fault(kind="drop")
RUNS = "runs"
DECISIONS = Path(__file__).parent / "decisions.json"  # benchmarks/arena.py --decisions writes it
QUICK_PATHS, QUICK_TICKS = 10, 80
QUICK_LEVELS = ("nominal",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """Tasks and entrants, both by name; an entrant may be FILE.py:NAME."""

    tasks: tuple[str, ...]
    entrants: tuple[str, ...]
    but: frozenset[tuple[str, str]] = frozenset()  # trials that are not wanted

    @property
    def trials(self) -> list[tuple[str, str]]:
        """Task and entrant of every run, task by task."""
        every = ((task, entrant) for task in self.tasks for entrant in self.entrants)
        return [trial for trial in every if trial not in self.but]


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun:
    """A run on disk."""

    folder: str  # below the folder of runs
    record: Record


def make_benchmark(
    tasks: Iterable[Task], entrants: Sequence[str] = (), *, own: str | None = None
) -> Benchmark:
    """Everybody, or some by name, on some tasks; `own` is FILE.py:NAME, and is built once here."""
    tasks = list(tasks)
    names = list(entrants) or [entrant.name for entrant in ENTRANTS]
    if own is not None:
        if not is_own(own):
            raise BadInput(
                f"an own controller must read FILE.py:NAME, got {own!r}: add the name of its class"
            )
        file, _, name = own.rpartition(":")
        names.append(f"{Path(file).resolve()}:{name}")
    for name in names:
        entrant = find_entrant(name)
        if is_own(name) and tasks:
            try_out(entrant, tasks[0].find_process())
    return Benchmark(tasks=tuple(task.name for task in tasks), entrants=tuple(dict.fromkeys(names)))


def run_benchmark(
    benchmark: Benchmark,
    out: Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    until: Callable[[], bool] = lambda: False,
) -> int:
    """Run what is missing, here or by the workers of a cluster; how many runs that were.

    `until`: asked after each run, true when no more shall be begun.
    """
    return run_missing(
        run_trial,
        lambda: [(*trial, out.resolve()) for trial in find_missing(benchmark, out)],
        len(benchmark.trials),
        lost=lambda trial: (
            f"workers must reach and fill {out}, but {' and '.join(trial[:2])} stayed without a run: "
            "check that they live and share its disk"
        ),
        workers=workers,
        scheduler=scheduler,
        warm_up=lambda: run_entrant(Task(family="raster", seed=10_000, ticks=3), find_entrant("twin")),
        progress=progress,
        until=until,
    )


def find_missing(benchmark: Benchmark, out: Path) -> list[tuple[str, str]]:
    """The trials without a run on disk."""
    return [trial for trial, settings in _list_settings(benchmark) if not _is_kept(settings, out)]


def read_runs(benchmark: Benchmark, out: Path) -> Iterator[StoredRun]:
    """Those that are on disk, in the order of the benchmark."""
    for trial, settings in _list_settings(benchmark):
        if _is_kept(settings, out):
            yield StoredRun(name_run(settings), keep_run(*trial, out))


def _list_settings(benchmark: Benchmark) -> Iterator[tuple[tuple[str, str], Record]]:
    entrants = {name: find_entrant(name) for name in benchmark.entrants}
    for task, name in benchmark.trials:
        yield (task, name), settings_of(find_task(task), entrants[name])


def run_trial(task: str, entrant: str, out: Path) -> tuple[str, str]:
    """What a worker does: the run stays on disk."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        keep_run(task, entrant, out)
    return task, entrant


def keep_run(task: str, entrant: str, out: Path) -> Record:
    """The record of an entrant on a task, both by name, from disk if it is there."""
    found, player = find_task(task), find_entrant(entrant)
    settings = settings_of(found, player)
    return solve_case(out / RUNS, settings, lambda: run_entrant(found, player), code=hash_loop())


def _is_kept(settings: Record, out: Path) -> bool:
    return has_case(out / RUNS, settings, code=hash_loop())


def name_run(settings: Record) -> str:
    """The folder of a run, below that of all runs."""
    return name_case(settings, code=hash_loop())


def make_case(task: Task, entrant: Entrant) -> Scenario:
    """The settings of a run: the task's, and what the entrant declared."""
    case = task.make_case()
    return replace(
        case,
        preview_ticks=0 if entrant.foresight == "none" else None,
        faults=case.faults if entrant.camera else (BLIND,),
        **({"controller": entrant.name} | dict(entrant.settings)),
    )


def settings_of(task: Task, entrant: Entrant) -> Record:
    """What names a run."""
    return {
        "study": "arena",
        "task": task.name,
        "path": _hash_path(task),
        "entrant": _identify(entrant),
        "decision_us": find_decision_us(entrant.name),
        "case": make_case(task, entrant).settings(),
    }


@cache
def _hash_path(task: Task) -> str:
    """The path itself, to a picometre: whatever draws it, runs along it stay what they are."""
    path = task.make_case().find_path()
    places = np.rint(path.positions * 1e12).astype("<i8")
    return hashlib.sha256(places.tobytes() + np.asarray(path.lit, np.uint8).tobytes()).hexdigest()[:16]


@cache
def _identify(entrant: Entrant) -> Record:
    """Read its files once, not once a task."""
    return entrant.identity()


def run_entrant(task: Task, entrant: Entrant) -> Record:
    """Close the loop of an entrant on a task."""
    began = process_time()
    record = close_loop(task, entrant)
    lit = np.array(record["series"]["lit"], dtype=bool)
    measured = 1e3 * float(np.median(np.array(record["series"]["tick_ms"])[lit])) if lit.any() else 0.0
    declared = find_decision_us(entrant.name)
    decision_us = measured if declared is None else declared
    late = decision_us > record["process"]["tick_us"]
    charged = measure_record(close_loop(task, entrant, decision_us) if late else record)
    spent = {"cpu_s": process_time() - began}  # of plant, controller and all
    return record | spent | {"decision_us": decision_us, "charged": charged}


def close_loop(task: Task, entrant: Entrant, decision_us: float = 0.0) -> Record:
    """The record of a loop; every decision is charged with a time but the first, which is made in advance."""
    made, case = list[Controller](), make_case(task, entrant)

    def make(context: Context) -> Controller:
        made.append(
            make_named(str(case.controller), context)
            if entrant.make is None
            else make_controller(entrant, case, context)
        )
        held: Controller = HoldingController(made[0])
        return charge_decisions(held, 1e-6 * decision_us) if decision_us else held

    try:
        record = misplace(prepare(case, make), task.misplace()).run().to_json()
    finally:
        for controller in made:
            getattr(controller, "close", lambda: None)()
    return record | {"task": task.name, "entrant": entrant.name, "label": entrant.name}


class HoldingController:
    """Any controller, but where it has nothing to plan with the last power is held: no fallback is scored."""

    def __init__(self, controller: Controller) -> None:
        self.name, self.horizon, self.memory = controller.name, controller.horizon, controller.memory
        self._controller = controller
        self._last: float | None = None  # W, of the newest lit tick

    def __getattr__(self, name: str) -> Any:
        return getattr(self._controller, name)

    def reset(self) -> None:
        """Forget everything; the next tick is the first."""
        self._last = None
        self._controller.reset()

    def act(self, image: Image | None, preview: Preview) -> Action:
        """Its answer, or the last power."""
        action = self._controller.act(image, preview)
        if not preview.lit[0]:
            return action
        if self._last is not None and action.status is Status.EXHAUSTED:
            return replace(action, power=self._last, status=Status.FOLLOWED)
        self._last = action.power
        return action


def charge_decisions(controller: Controller, seconds: float) -> Controller:
    """A controller whose answers come so late; none is asked for while it decides."""
    costs = chain((0.0,), repeat(seconds))
    return DeadlineController(controller, charge=lambda _: next(costs))


@cache
def _read_decisions() -> dict[str, float]:
    """What a decision of each entrant takes, µs of a processor that has nothing else to do."""
    found: dict[str, float] = json.loads(DECISIONS.read_text(encoding="utf-8"))["decision_us"]
    return found


def find_decision_us(name: str) -> float | None:
    """What a decision is charged with, whatever this machine does meanwhile; None: as it is measured here."""
    return _read_decisions().get(name.partition("@")[0])


def make_controller(entrant: Entrant, case: Scenario, context: Context) -> Controller:
    """The controller that an entrant makes for a task, of what it declared to need."""
    assert entrant.make is not None
    assert context.process is not None
    return entrant.make(
        TaskContext(
            problem=make_twin_problem(context.problem),
            process=replace(context.process, speed=case.process.speed),
            fastest=context.process.speed,
            path=context.path if entrant.foresight == "path" else None,
            trial_pass=_allow_passes(context, case, entrant.passes) if entrant.passes else None,
            plant=context.plant if entrant.bound else None,
        )
    )


def _allow_passes(context: Context, case: Scenario, passes: int) -> TrialPass:
    """Passes over a task before it counts, each with other noise; no more of them than were declared."""
    left = passes

    def run_pass(powers: FloatArray) -> FloatArray:
        nonlocal left
        if not left:
            raise BadInput("no pass is left over this task: declare more of them")
        left -= 1
        assert context.practise is not None
        seed = (case.process.camera.seed + 1 + left) % 2**31
        return context.practise(OpenLoopController(powers), seed).measured

    return run_pass
