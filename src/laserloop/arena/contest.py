"""A contest: which entrants meet which tasks, what is missing on disk, and who runs it.

Killed at any moment, the same contest goes on with the runs that are not there; whoever ran them, the
tables are the same but for what a clock said.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from laserloop.arena.booth import try_out
from laserloop.arena.entrants import ENTRANTS, find_entrant
from laserloop.arena.runs import Record, has_run, keep_run, name_run, play, settings_of
from laserloop.arena.tasks import Task, find_task
from laserloop.bad_input import BadInput
from laserloop.jobs import run_missing
from laserloop.loop.controllers import is_own

Progress = Callable[[int, int], None]  # runs there, runs in all

QUICK_PATHS, QUICK_TICKS = 10, 80
QUICK_LEVELS = ("nominal",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Tasks and entrants, both by name; an entrant may be FILE.py:NAME."""

    tasks: tuple[str, ...]
    entrants: tuple[str, ...]
    but: frozenset[tuple[str, str]] = frozenset()  # bouts that are not wanted

    @property
    def bouts(self) -> list[tuple[str, str]]:
        """Task and entrant of every run, task by task."""
        every = ((task, entrant) for task in self.tasks for entrant in self.entrants)
        return [bout for bout in every if bout not in self.but]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A run on disk."""

    folder: str  # below the folder of runs
    record: Record


def make_contest(tasks: Iterable[Task], entrants: Sequence[str] = (), *, own: str | None = None) -> Contest:
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
        found = find_entrant(name)
        if is_own(name) and tasks:
            try_out(found, tasks[0].find_process())
    return Contest(tasks=tuple(task.name for task in tasks), entrants=tuple(dict.fromkeys(names)))


def hold(
    contest: Contest,
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
        do_bout,
        lambda: [(*bout, out.resolve()) for bout in find_missing(contest, out)],
        len(contest.bouts),
        lost=lambda bout: (
            f"workers must reach and fill {out}, but {' and '.join(bout[:2])} stayed without a run: "
            "check that they live and share its disk"
        ),
        workers=workers,
        scheduler=scheduler,
        warm_up=lambda: play(Task(family="raster", seed=10_000, ticks=3), find_entrant("twin")),
        progress=progress,
        until=until,
    )


def find_missing(contest: Contest, out: Path) -> list[tuple[str, str]]:
    """The bouts without a run on disk."""
    entrants = {name: find_entrant(name) for name in contest.entrants}
    tasks = {name: find_task(name) for name in contest.tasks}
    return [
        bout for bout in contest.bouts if not has_run(settings_of(tasks[bout[0]], entrants[bout[1]]), out)
    ]


def read_runs(contest: Contest, out: Path) -> Iterator[Kept]:
    """Those that are on disk, in the order of the contest."""
    entrants = {name: find_entrant(name) for name in contest.entrants}
    for task, name in contest.bouts:
        settings = settings_of(find_task(task), entrants[name])
        if has_run(settings, out):
            yield Kept(name_run(settings), keep_run(task, name, out))


def do_bout(task: str, entrant: str, out: Path) -> tuple[str, str]:
    """What a worker does: the run stays on disk."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        keep_run(task, entrant, out)
    return task, entrant
