import numpy as np
import pytest

from laserloop.episode import Episode, make_plant, simulate
from laserloop.excitation import draw_power
from laserloop.paths import find_path

TICKS = 60  # beyond the first corner of the diagonal, at tick 39


def simulate_diagonal(plant: str) -> Episode:
    path = find_path("diagonal", ticks=TICKS)
    return simulate(make_plant(plant, path), path, np.full(TICKS, 14.0))


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
    return simulate(make_plant("paper", path), path, draw_power("persistent", 30, np.random.default_rng(1)))


@pytest.fixture(scope="session")
def cold() -> Episode:
    """Under no power at all."""
    path = find_path("horizontal", ticks=3)
    return simulate(make_plant("paper", path), path, np.zeros(3))
