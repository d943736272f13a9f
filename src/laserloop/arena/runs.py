"""Runs: an entrant on a task, as one record that is kept, scored, drawn and shown like any other run."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.arena.entrant import Entrant, Seat
from laserloop.arena.entrants import find_entrant
from laserloop.arena.playback import Playback
from laserloop.arena.tasks import Task, find_task
from laserloop.bad_input import BadInput
from laserloop.control.controller import Controller
from laserloop.control.problem import make_twin_problem
from laserloop.loop.controllers import Context
from laserloop.loop.disturbances import Fault
from laserloop.loop.scenario import Scenario, prepare
from laserloop.store import has_case, name_case, solve_case
from laserloop.versions import hash_loop

FloatArray = NDArray[np.float64]
Record = dict[str, Any]

BLIND = Fault(kind="drop")
RUNS = "runs"


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
    case = make_case(task, entrant)
    return {
        "study": "arena",
        "task": task.name,
        "way": _hash_way(task),
        "entrant": _identify(entrant),
        "case": case.settings(),
    }


@cache
def _hash_way(task: Task) -> str:
    """The path itself, to a picometre: whatever draws it, runs along it stay what they are."""
    path = task.make_case().find_path()
    places = np.rint(path.positions * 1e12).astype("<i8")
    return hashlib.sha256(places.tobytes() + np.asarray(path.lit, np.uint8).tobytes()).hexdigest()[:16]


@cache
def _identify(entrant: Entrant) -> Record:
    """Read its files once, not once a task."""
    return entrant.identity()


def play(task: Task, entrant: Entrant) -> Record:
    """Close the loop of an entrant on a task."""
    made, began, case = list[Controller](), process_time(), make_case(task, entrant)

    def make(context: Context) -> Controller:
        made.append(seat_entrant(entrant, case, context))
        return made[-1]

    try:
        record = prepare(case, None if entrant.make is None else make).run().to_json()
    finally:
        for controller in made:
            getattr(controller, "close", lambda: None)()
    spent = {"cpu_s": process_time() - began}  # of plant, controller and all
    return record | spent | {"task": task.name, "entrant": entrant.name, "label": entrant.name}


def seat_entrant(entrant: Entrant, case: Scenario, context: Context) -> Controller:
    """The controller that an entrant makes for a task, of what it declared to need."""
    assert entrant.make is not None
    assert context.process is not None
    seat = Seat(
        problem=make_twin_problem(context.problem),
        process=replace(context.process, speed=case.process.speed),
        fastest=context.process.speed,
        path=context.path if entrant.foresight == "path" else None,
        practise=Practice(context, case.process.camera.seed, entrant.passes) if entrant.passes else None,
        plant=context.plant if entrant.bound else None,
    )
    return entrant.make(seat)


class Practice:
    """Passes over a task before it counts, each with other noise; no more of them than were declared."""

    def __init__(self, context: Context, seed: int, passes: int) -> None:
        self._context, self._seed = context, seed
        self._left = passes

    def __call__(self, powers: FloatArray) -> FloatArray:
        """The peaks that the camera saw under these powers, K; NaN where no image came."""
        if not self._left:
            raise BadInput("no pass is left over this task: declare more of them")
        self._left -= 1
        assert self._context.practise is not None
        return self._context.practise(Playback(powers), (self._seed + 1 + self._left) % 2**31).measured


def keep_run(task: str, entrant: str, out: Path) -> Record:
    """The record of an entrant on a task, both by name, from disk if it is there."""
    found, player = find_task(task), find_entrant(entrant)
    settings = settings_of(found, player)
    return solve_case(out / RUNS, settings, lambda: play(found, player), code=hash_loop())


def has_run(settings: Mapping[str, Any], out: Path) -> bool:
    """Whether it is on disk."""
    return has_case(out / RUNS, settings, code=hash_loop())


def name_run(settings: Mapping[str, Any]) -> str:
    """The folder of a run, below that of all runs."""
    return name_case(settings, code=hash_loop())
