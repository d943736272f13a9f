"""The twin with a small learned correction, trained on what it did itself.

    python -m laserloop.arena.train twin-corrected --lessons out/arena/lessons

First on the lessons near the window, then by rounds of aggregation: it closes the loop on public paths with
an exact camera, what it met there is added to all before, and it is fitted anew.
"""

import io
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from laserloop.arena.entrant import Cost, Entrant, Seat
from laserloop.arena.lessons import NEAR, PROCESS, TICKS, hash_lessons, read_lessons
from laserloop.arena.shelf import SHELF
from laserloop.arena.tasks import SPLITS, Task
from laserloop.control.controller import Controller
from laserloop.control.mpc import plan_with
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.data.store import COLUMNS
from laserloop.loop.controllers import Context
from laserloop.loop.scenario import prepare
from laserloop.paths.shapes import FAMILIES
from laserloop.predict import correction as learned
from laserloop.predict import model
from laserloop.predict.correction import (
    HeatCorrection,
    HeatSamples,
    fit_correction,
    gather_samples,
    join_samples,
    load_correction,
    save_correction,
)
from laserloop.predict.twin import TwinPredictor, TwinSettings
from laserloop.predict.twin.gain import GainSettings
from laserloop.process import Process, find_process
from laserloop.store import write_bytes

NAME = "twin-corrected"
RIDGE = 1e-3  # of all between 1e-2 and 1e-5 about the same on lessons left out
ROUNDS, LAPS = 2, 2  # of aggregation; runs on every family in each of them
FIRST = 200  # public seeds before those of the rounds; each training seed has its own
LEARNED = ("material", "window_k", "ambient_k", "beam.sigma_um", "tick_us")  # elsewhere it knows nothing
# Turns are foreseen now, so that less of a noisy reading has to be followed; chosen on validation paths.
CALM = GainSettings(walk=0.0005)


def make(seat: Seat, folder: Path = SHELF / NAME) -> Controller:
    """The corrected twin in NumPy; on another process than it learned from, the bare one."""
    correction, _ = load_correction(folder)
    changed = set(find_process(PROCESS).differences(seat.process))
    known = correction if changed.isdisjoint(LEARNED) else None
    return build(replace(seat.process, speed=seat.fastest), seat.problem, known)


def build(process: Process, problem: MpcProblem, correction: HeatCorrection | None) -> Controller:
    """The twin by the generic solver, one or two QPs a tick."""
    calm = correction is not None and process.camera.noise > 0.0
    twin = TwinPredictor(process, TwinSettings(gain=CALM if calm else None), correction)
    return plan_with(twin, problem, name=NAME)


def train(lessons: Path, seed: int, folder: Path) -> Cost:
    """Fit, run, add and fit again; what was gathered is kept, so that a stopped training goes on."""
    began, process = process_time(), find_process(PROCESS)
    kept = lessons.parent / "samples" / f"{NAME}-{seed}"
    peak = COLUMNS.index("t_peak_k")
    samples = [
        gather_samples(process, lesson.find_path(process), record[1:, 0], record[1:, peak])
        for lesson, record in read_lessons(lessons)
        if lesson.shake == NEAR
    ]
    steps = TICKS * len(samples)
    errors = []
    for lap in range(ROUNDS):
        correction = _fit(samples)
        tasks = _list_tasks(seed, lap)
        fresh = [_practise(task, correction, kept / f"{lap}-{k:02d}.npz") for k, task in enumerate(tasks)]
        errors.append(_measure(join_samples(fresh), correction))
        samples += fresh
        steps += sum(task.ticks for task in tasks)
    cost = Cost(core_minutes=(process_time() - began) / 60.0, plant_steps=steps)
    page = {
        "trained_for": {"plant": "graded", "process": PROCESS},
        "data": {"lessons": hash_lessons(lessons), "near_only": True, "seed": seed, "rounds": ROUNDS},
        "metrics": {"rms_of_ln_u_before_each_round": errors, "samples": sum(len(s.ratio) for s in samples)},
    }
    save_correction(_fit(samples), folder, page)
    cost.write(folder)
    return cost


def _fit(samples: list[HeatSamples]) -> HeatCorrection:
    given = join_samples(samples)
    return fit_correction(given.features, given.ratio, given.weight, ridge=RIDGE)


def _measure(samples: HeatSamples, correction: HeatCorrection) -> float:
    """Root mean square of ln u, true over predicted, on runs that were not yet learned from."""
    missed = np.log(samples.ratio) - correction.log_factors(samples.features)
    return float(np.sqrt(np.average(missed**2, weights=samples.weight)))


def _list_tasks(seed: int, lap: int) -> list[Task]:
    """Public paths that no other round or training seed has."""
    start = SPLITS["public"].start + FIRST + LAPS * (ROUNDS * seed + lap)
    return [Task(family=family, seed=start + k) for k in range(LAPS) for family in FAMILIES]


def _practise(task: Task, correction: HeatCorrection, file: Path) -> HeatSamples:
    """What it met on a path; from disk if it was there before."""
    if not file.exists():
        case = task.make_case()
        run = prepare(replace(case, controller=NAME), partial(_build, correction)).run()
        found = gather_samples(case.process, case.find_path(), run.power, run.t_peak)
        stream = io.BytesIO()
        np.savez(stream, **{name: getattr(found, name) for name in HeatSamples.__slots__})
        write_bytes(file, stream.getvalue())
    with np.load(file, allow_pickle=False) as stored:
        return HeatSamples(*(stored[name] for name in HeatSamples.__slots__))


def _build(correction: HeatCorrection, context: Context) -> Controller:
    assert context.process is not None
    return build(context.process, make_twin_problem(context.problem), correction)


TWIN_CORRECTED = Entrant(
    name=NAME,
    about="The twin times a learned factor: how one diffusivity errs, by what the peak's heat is made of.",
    make=make,
    learns=True,
    model=SHELF / NAME,
    train=train,
    sources=(Path(__file__), Path(learned.__file__), Path(model.__file__)),
)
