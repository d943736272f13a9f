"""The paper's networks trained on the plant they are scored on: how much of their failure was the grid?

    python -m laserloop.arena.train graded-ms-deeponet graded-ss-ar graded-lstm --lessons out/arena/lessons

Architectures, optimiser and features as in the paper, on the lessons and in fewer epochs; T_max is the peak
between the nodes. In the loop they are asked for the middle of the window, as everybody is.
"""

from functools import partial
from pathlib import Path
from time import process_time

from laserloop.arena.entrant import Cost, Entrant, Seat
from laserloop.arena.lessons import PLANT, PROCESS, TICKS, hash_lessons, read_lessons
from laserloop.arena.shelf import SHELF
from laserloop.control.controller import Controller
from laserloop.control.mpc import plan_with
from laserloop.data.windows import Windows, cut_episode, join_windows
from laserloop.predict import model, networks, window
from laserloop.predict.model import TrainedFor, load_model
from laserloop.predict.networks import Lstm, MsDeepONet, SsAr
from laserloop.predict.training import FitSettings, fit
from laserloop.predict.window import WindowPredictor
from laserloop.process import find_process

HALVE, PATIENCE = 30, 60  # epochs without progress until the rate is halved, and until the end
Architecture = MsDeepONet | SsAr | Lstm


def make(folder: Path, seat: Seat) -> Controller:
    """By sequential QPs with a line search, as the paper's own: what fails here is not for want of search."""
    return plan_with(WindowPredictor(load_model(folder)), seat.problem, name=folder.name, search=True)


def train(architecture: Architecture, epochs: int, lessons: Path, seed: int, folder: Path) -> Cost:
    """So many epochs at most; a training that was interrupted goes on."""
    began = process_time()
    windows, episodes = cut_lessons(lessons, architecture.horizon)
    settings = FitSettings(
        seed=seed, split="episode", halve_after=HALVE, patience=PATIENCE, max_epochs=epochs
    )
    way = windows.branch[:, 0, 1:3]
    (x_low, y_low), (x_high, y_high) = way.min(axis=0), way.max(axis=0)
    made_for = TrainedFor(
        process=find_process(PROCESS),
        plant=PLANT,
        reading="peak",
        sampling="smooth",
        area=(float(x_low), float(x_high), float(y_low), float(y_high)),
        temperatures=(float(windows.target.min()), float(windows.target.max())),
    )
    origin = {"lessons": hash_lessons(lessons)}
    fit(windows, architecture, settings, out=folder, data=origin, trained_for=made_for)
    cost = Cost(core_minutes=(process_time() - began) / 60.0, plant_steps=TICKS * episodes)
    cost.write(folder)
    return cost


def cut_lessons(lessons: Path, horizon: int) -> tuple[Windows, int]:
    """All windows of the lessons, and from how many episodes."""
    parts = []
    for lesson, record in read_lessons(lessons):
        part = cut_episode(record, horizon=horizon, reading="peak", sampling="smooth")
        part.episode[:] = lesson.index
        parts.append(part)
    return join_windows(parts), len(parts)


def _enter(architecture: Architecture, epochs: int, about: str) -> Entrant:
    name = f"graded-{architecture.name}"
    return Entrant(
        name=name,
        about=about,
        make=partial(make, SHELF / name),
        learns=True,
        model=SHELF / name,
        train=partial(train, architecture, epochs),
        sources=(Path(__file__), Path(model.__file__), Path(networks.__file__), Path(window.__file__)),
    )


GRADED_MS_DEEPONET = _enter(
    MsDeepONet(), 500, "The paper's multi-step DeepONet, trained on the plant and paths it is scored on."
)
GRADED_SS_AR = _enter(
    SsAr(), 500, "The paper's single-step DeepONet, rolled out, trained on the plant it is scored on."
)
GRADED_LSTM = _enter(Lstm(), 100, "The paper's LSTM, trained on the plant and paths it is scored on.")
