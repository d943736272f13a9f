"""Energy balance over a whole episode: stored heat = absorbed − lost through the bottom."""

import pytest

from laserloop.paths import find_path
from laserloop.plant import PLANTS, make_plant

TICKS = 400


@pytest.mark.parametrize("name", PLANTS)
def test_an_episode_balances_its_books_to_a_billionth(name: str) -> None:
    plant = make_plant(name)
    path = find_path("diagonal", ticks=TICKS)
    for k in range(TICKS):
        plant.step(14.0, path.spot(k))
    books = plant.books
    assert abs(books["stored"] + books["lost"] - books["absorbed"]) < 1e-9 * books["absorbed"]
