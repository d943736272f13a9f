"""Energy balance over a whole episode: stored heat = absorbed − lost through the bottom."""

from collections.abc import Callable

import pytest

from laserloop.paths import find_path
from laserloop.plant import Plant, PlantSettings, graded_settings, paper_settings

TICKS = 400


def imbalance(settings: PlantSettings, ticks: int = TICKS) -> float:
    plant = Plant(settings)
    path = find_path("diagonal", ticks=ticks)
    for k in range(ticks):
        plant.step(14.0, path.spot(k))
    books = plant.books
    return abs(books["stored"] + books["lost"] - books["absorbed"]) / books["absorbed"]


@pytest.mark.parametrize("make_settings", [paper_settings, graded_settings])
def test_an_episode_balances_its_books_to_a_millionth_and_better_with_tighter_tolerance(
    make_settings: Callable[..., PlantSettings],
) -> None:
    default = imbalance(make_settings())
    tight = imbalance(make_settings(tolerance=1e-7, edge=1e-4), ticks=100)
    loose = imbalance(make_settings(tolerance=1e-2, edge=1e-4), ticks=100)
    assert default < 1e-6
    assert tight < 0.1 * loose
    assert tight < 1e-9
