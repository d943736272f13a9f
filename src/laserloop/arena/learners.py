"""How a network with a history takes part: trained on the lessons, planned with by the generic solver."""

from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from laserloop.arena.entrant import Cost, Entrant, Seat
from laserloop.arena.lessons import PROCESS, TICKS, hash_lessons, read_lessons
from laserloop.arena.shelf import SHELF
from laserloop.control.controller import Controller
from laserloop.control.mpc import plan_with
from laserloop.predict import model, networks, sequence
from laserloop.predict.model import load_model
from laserloop.predict.networks import SequenceNetwork
from laserloop.predict.sequence import SequencePredictor, Sequences, join_sequences, read_record
from laserloop.predict.training import FitSettings, fit_sequences
from laserloop.process import find_process

SOURCES = Path(model.__file__), Path(networks.__file__), Path(sequence.__file__)
RANGE = (500.0, 1100.0)  # K, within which a window must stay to be learned from
RATE, BATCH, HALVE = 2e-3, 512, 4  # of Adam; epochs without progress until the rate is halved


def make_sequence_network(folder: Path, seat: Seat) -> Controller:
    """The network of a folder."""
    return plan_with(SequencePredictor(load_model(folder), seat.process), seat.problem)


def train_sequence_network(net: SequenceNetwork, epochs: int, lessons: Path, seed: int, folder: Path) -> Cost:
    """So many epochs; a training that was interrupted goes on."""
    began = process_time()
    table, episodes = read_table(lessons)
    settings = FitSettings(
        learning_rate=RATE, batch=BATCH, halve_after=HALVE, patience=epochs, max_epochs=epochs, seed=seed
    )
    data = {"lessons": hash_lessons(lessons), "plant": "graded", "process": PROCESS, "range_k": RANGE}
    fit_sequences(table, net, settings, out=folder, data=data)
    cost = Cost(core_minutes=(process_time() - began) / 60.0, plant_steps=TICKS * episodes)
    cost.write(folder)
    return cost


def read_table(lessons: Path) -> tuple[Sequences, int]:
    """All windows of the lessons that stay within the range, and from how many episodes."""
    sigma = find_process(PROCESS).beam.sigma
    parts = [read_record(record, sigma, episode=lesson.index) for lesson, record in read_lessons(lessons)]
    table = join_sequences(parts)
    heat = np.column_stack((table.features[:, 0], table.target))
    inside = np.flatnonzero(((heat >= RANGE[0]) & (heat <= RANGE[1])).all(axis=1))
    return table.take(inside), len(parts)


def enter_sequence_network(net: SequenceNetwork, *, epochs: int, about: str, source: Path) -> Entrant:
    """The entrant of a network with a history."""
    folder = SHELF / net.name
    return Entrant(
        name=net.name,
        about=about,
        make=partial(make_sequence_network, folder),
        learns=True,
        model=folder,
        train=partial(train_sequence_network, net, epochs),
        sources=(source, Path(__file__), *SOURCES),
    )
