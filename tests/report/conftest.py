from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from laserloop.control.controller import Status
from laserloop.data.ensemble import draw_power
from laserloop.data.episode import Episode, simulate
from laserloop.loop.record import COMPLETED, Run, score, series_of
from laserloop.paths import find_path
from laserloop.paths.path import find_settled, mark_settled
from laserloop.plant import make_plant
from laserloop.predict.twin import Counted
from laserloop.process import Process

TICKS = 60  # beyond the first corner of the diagonal, at tick 39
WINDOW = (760.0, 800.0)  # K
Record = dict[str, Any]
MakeRecord = Callable[..., Record]


def simulate_diagonal(plant: str) -> Episode:
    path = find_path("diagonal", ticks=TICKS)
    return simulate(make_plant(plant), path, np.full(TICKS, 14.0))


@pytest.fixture(scope="session")
def paper() -> Episode:
    return simulate_diagonal("paper")


@pytest.fixture(scope="session")
def graded() -> Episode:
    return simulate_diagonal("graded")


@pytest.fixture(scope="session")
def shaken() -> Episode:
    """Under random power."""
    path = find_path("spiral", ticks=30)
    return simulate(make_plant("paper"), path, draw_power("persistent", 30, np.random.default_rng(1)))


@pytest.fixture(scope="session")
def cold() -> Episode:
    """Under no power at all."""
    path = find_path("horizontal", ticks=3)
    return simulate(make_plant("paper"), path, np.zeros(3))


@pytest.fixture(scope="session")
def make_record() -> MakeRecord:
    """Closed loops that never ran: a corner of 135° at tick 40, about `excess` K above 800 K after it."""

    def make(
        controller: str = "realtime",
        *,
        excess: float = -5.0,
        predicted: bool = True,
        ticks: int = 90,
        ending: str = COMPLETED,
        troubles: dict[int, Status] | None = None,
        subgrid: bool = False,
        dark: slice | None = None,
        **facts: object,
    ) -> Record:
        k = np.arange(ticks, dtype=np.float64)
        lit = np.ones(ticks, np.bool_)
        if dark is not None:
            lit[dark] = False
        since = np.clip(k - 40, 0, None)
        bump = since / 4 * np.exp(1 - since / 4) * (k > 40)  # 1 at its highest, 4 ticks after the corner
        truth = 775 - 475 * np.exp(-(k + 1) / 1.5) + 8 * np.sin(2.1 * k) * (1 - bump)
        truth += (25 + excess) * bump
        leg = 38e-6 * np.minimum(k + 1, 41)
        back = 38e-6 * np.clip(k - 40, 0, None) * np.sqrt(0.5)
        tick_s = np.where(k % 7 == 0, 2e-4, 6e-5) if predicted else np.full(ticks, 3e-5)
        statuses = dict.fromkeys(range(ticks), Status.SOLVED) | (troubles or {})
        run = Run(
            path="diagonal",
            controller=controller,
            plant="graded" if subgrid else "paper",
            process=Process(),
            subgrid=subgrid,
            lit=lit,
            counted=Counted(lit, find_settled(lit, 3)) if subgrid else Counted(*[mark_settled(lit)] * 2),
            t=125e-6 * (k + 1),
            positions=np.column_stack((back - 1.5e-3, back - leg)),
            power=14 - 4 * bump + 0.3 * np.cos(2.1 * k),
            t_node=truth - 9.0 * subgrid,
            t_peak=truth + 9.0 * (not subgrid),
            measured=truth,
            predicted=truth + 3 * np.cos(k) - 30 * bump if predicted else np.full(ticks, np.nan),
            statuses=tuple(statuses.values()),
            iterations=np.full(ticks, 4 if predicted else 0),
            solve_s=0.8 * tick_s if predicted else np.zeros(ticks),
            wall_s=tick_s,
            ending=ending,
        )
        return {
            **score(run, WINDOW),
            "model": "paper-corner" if predicted else None,
            "delta_k": 13.0 if predicted else None,
            "window_k": list(WINDOW),
            "series": series_of(run),
            **facts,
        }

    return make


@pytest.fixture(scope="session")
def mpc(make_record: MakeRecord) -> Record:
    """It keeps the bound."""
    return make_record()


@pytest.fixture(scope="session")
def pi(make_record: MakeRecord) -> Record:
    """It exceeds the bound after the corner."""
    return make_record("pi", excess=50.0, predicted=False)


@pytest.fixture(scope="session")
def constant(make_record: MakeRecord) -> Record:
    """It exceeds the bound by far after the corner."""
    return make_record("constant", excess=80.0, predicted=False)
