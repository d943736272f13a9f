"""Timing: forecasts, solvers, deadlines; one thing at a time, with nothing of ours beside it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from laserloop.bench.mpc import run_mpc_bench
from laserloop.bench.plant import one_core
from laserloop.bench.questions import collect_questions
from laserloop.data.ensemble import Excitation
from laserloop.data.windows import cut_episode
from laserloop.evaluation import measure_latency
from laserloop.loop.scenario import Scenario, keep_case
from laserloop.predict.model import find_model
from laserloop.store import has_case, solve_case
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.size import DEPLOYED
from laserloop.studies.halilovic.stage import Stage, Task
from laserloop.studies.halilovic.stages.calibration import find_margin
from laserloop.studies.halilovic.stages.offline import find_trajectories
from laserloop.studies.halilovic.study.loop_tables import list_scenarios
from laserloop.studies.halilovic.study.timing import time_forward, time_solvers

RACERS = {"ms-deeponet": "corner-nh5-seed0", "lstm": "corner-lstm"}


def time_one(folder: Folder, what: str) -> dict[str, Any]:
    """One measurement, from disk if it was taken before."""
    return solve_case(folder.cases / "timing", _name(folder, what), partial(MEASUREMENTS[what], folder))


def _name(folder: Folder, what: str) -> dict[str, Any]:
    model = find_model(folder.model(DEPLOYED["corner"]))
    return {
        "study": "timing",
        "what": what,
        "model": model.provenance["identity"],
        "problems": folder.size.problems,
    }


def _time_forward(folder: Folder) -> dict[str, Any]:
    with one_core():
        return dict(time_forward(find_model(_corner(folder)), repeats=folder.size.repeats))


def _time_solvers(folder: Folder) -> dict[str, Any]:
    model = find_model(_corner(folder))
    questions = collect_questions(_corner(folder), ("diagonal",), folder.size.ticks)
    with one_core():
        return dict(time_solvers(model, questions))


def _race(folder: Folder) -> dict[str, Any]:
    racers = {net: find_model(folder.model(name)) for net, name in RACERS.items()}
    record = find_trajectories(folder).get("spiral", Excitation.PERSISTENT, 0)
    with one_core():
        return dict(measure_latency(racers, cut_episode(record)))


def _bench(folder: Folder) -> dict[str, Any]:
    return run_mpc_bench(problems=folder.size.problems, model=_corner(folder))


def _meet_deadlines(folder: Folder) -> dict[str, Any]:
    """Answers are charged with times that the same loops take here, where nothing runs beside them."""
    usual: dict[str, Any] = {
        "model": _corner(folder),
        "delta_k": find_margin(folder),
        "ticks": folder.size.ticks,
    }
    free = {one.label: one.case for one in list_scenarios(**usual)}
    slow = _take_times(free["IPOPT, not charged"], folder, "tick_ms")
    quick, alone = (_take_times(free["8 kHz, no delay"], folder, what) for what in ("tick_ms", "solve_ms"))
    scenarios = list_scenarios(slow, quick, alone, **usual)
    found = [{"label": one.label, **_run(one.case, folder)} for one in scenarios]
    return {"runs": [{k: v for k, v in run.items() if k not in ("series", "model")} for run in found]}


def _run(case: Scenario, folder: Folder) -> dict[str, Any]:
    """Not the run of the tables: this one has the machine to itself."""
    return keep_case(case, folder.cases / "scenarios")


def _take_times(case: Scenario, folder: Folder, what: str) -> tuple[float, ...]:
    """Seconds of each tick, or of each call, but the first of a run that is not charged."""
    return tuple(1e-3 * t for t in _run(case, folder)["series"][what][1:])


def _corner(folder: Folder) -> str:
    return folder.model(DEPLOYED["corner"])


MEASUREMENTS: dict[str, Callable[[Folder], dict[str, Any]]] = {
    "forward": _time_forward,
    "latency": _race,
    "solvers": _time_solvers,
    "bench": _bench,
    "deadlines": _meet_deadlines,
}


def list_tasks(folder: Folder) -> list[Task]:
    """One measurement each."""
    return [
        Task(time_one, (folder, what), has_case(folder.cases / "timing", _name(folder, what)))
        for what in MEASUREMENTS
    ]


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """Everything that a clock said."""
    found = {what: time_one(folder, what) for what in MEASUREMENTS}
    return {
        "clock/timing": {
            **{what: found[what] for what in ("forward", "latency", "solvers", "bench")},
            "scenarios": found["deadlines"]["runs"],
            "loops": folder.read("clock/loops").get("loops", []),
        }
    }


STAGE = Stage(name="timing", title="Time the solvers", list_tasks=list_tasks, conclude=conclude, quiet=True)
