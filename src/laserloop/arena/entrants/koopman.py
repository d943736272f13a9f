"""Regional Koopman: a lifted linear model by regression, so that every tick is one QP.

    python -m laserloop.arena.train koopman --lessons out/arena/lessons

A seed chooses with which episodes it is fitted: as many as there are, drawn with replacement.
"""

from pathlib import Path
from time import process_time

import numpy as np

from laserloop.arena.entrant import Cost, Entrant, Seat
from laserloop.arena.lessons import PROCESS, TICKS, hash_lessons, read_lessons
from laserloop.arena.shelf import SHELF
from laserloop.control.controller import Controller
from laserloop.control.mpc import plan_with
from laserloop.predict import koopman, model
from laserloop.predict.koopman import KoopmanPredictor, fit_koopman, load_koopman, save_koopman
from laserloop.process import find_process

NAME = "koopman"


def make(seat: Seat, folder: Path = SHELF / NAME) -> Controller:
    """One QP a tick."""
    return plan_with(KoopmanPredictor(load_koopman(folder), seat.process), seat.problem)


def train(lessons: Path, seed: int, folder: Path) -> Cost:
    """By two regressions; there is nothing to resume."""
    began = process_time()
    records = [record for _, record in read_lessons(lessons)]
    drawn = np.random.default_rng(seed).integers(len(records), size=len(records))
    fitted = fit_koopman([records[k] for k in drawn] if seed else records, find_process(PROCESS))
    page = {
        "trained_for": {"plant": "graded", "process": PROCESS},
        "data": {"lessons": hash_lessons(lessons), "seed": seed},
    }
    save_koopman(fitted, folder, page)
    cost = Cost(core_minutes=(process_time() - began) / 60.0, plant_steps=TICKS * len(records))
    cost.write(folder)
    return cost


KOOPMAN = Entrant(
    name=NAME,
    about="Heat around the beam as a lifted state that moves on linearly, one matrix for each kind of turn.",
    make=make,
    learns=True,
    model=SHELF / NAME,
    train=train,
    sources=(Path(__file__), Path(koopman.__file__), Path(model.__file__)),
)
