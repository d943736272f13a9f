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
from laserloop.loop.disturbances import Fault
from laserloop.loop.scenario import (
    Hooks,
    LoopCase,
    Prepared,
    drive,
    find_scan,
    record_case,
    tell_process,
)
from laserloop.plant import Plant
from laserloop.store import has_case, name_case, solve_case
from laserloop.versions import hash_loop

FloatArray = NDArray[np.float64]
Record = dict[str, Any]

BLIND = Fault(kind="drop")
RUNS = "runs"


def make_case(task: Task, entrant: Entrant) -> LoopCase:
    """The settings of a run: the task's, and what the entrant declared."""
    case = task.make_case()
    return replace(
        case,
        foresight=0 if entrant.foresight == "none" else None,
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
    path = find_scan(task.make_case())
    places = np.rint(path.positions * 1e12).astype("<i8")
    return hashlib.sha256(places.tobytes() + np.asarray(path.lit, np.uint8).tobytes()).hexdigest()[:16]


@cache
def _identify(entrant: Entrant) -> Record:
    """Read its files once, not once a task."""
    return entrant.identity()


def play(task: Task, entrant: Entrant) -> Record:
    """Close the loop of an entrant on a task."""
    made, began = list[Controller](), process_time()

    def build(ready: Prepared, plant: Plant) -> Controller:
        made.append(seat_entrant(entrant, ready, plant))
        return made[-1]

    try:
        record = record_case(make_case(task, entrant), Hooks(build=None if entrant.make is None else build))
    finally:
        for controller in made:
            getattr(controller, "close", lambda: None)()
    spent = {"cpu_s": process_time() - began}  # of plant, controller and all
    return record | spent | {"task": task.name, "entrant": entrant.name, "label": entrant.name}


def seat_entrant(entrant: Entrant, ready: Prepared, plant: Plant) -> Controller:
    """The controller that an entrant makes for a task, of what it declared to need."""
    assert entrant.make is not None
    told = tell_process(ready)
    seat = Seat(
        problem=make_twin_problem(ready.problem),
        process=replace(told, speed=ready.case.process.speed),
        fastest=told.speed,
        path=ready.path if entrant.foresight == "path" else None,
        practise=Practice(ready, plant, entrant.passes) if entrant.passes else None,
        plant=plant if entrant.bound else None,
    )
    return entrant.make(seat)


class Practice:
    """Passes over a task before it counts, each with other noise; no more of them than were declared."""

    def __init__(self, ready: Prepared, plant: Plant, passes: int) -> None:
        self._ready, self._plant = ready, plant
        self._left = passes

    def __call__(self, powers: FloatArray) -> FloatArray:
        """The peaks that the camera saw under these powers, K; NaN where no image came."""
        if not self._left:
            raise BadInput("no pass is left over this task: declare more of them")
        self._left -= 1
        dice = (self._ready.case.process.camera.seed + 1 + self._left) % 2**31
        return drive(self._ready, self._plant, Playback(powers), Hooks(), dice=dice).measured


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
