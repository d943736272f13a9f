"""Runs past the first sharp turn of the diagonal, as the figures of the story get them."""

from typing import Any

import pytest

from laserloop.loop.scenario import Scenario, prepare


@pytest.fixture(scope="session")
def mpc() -> dict[str, Any]:
    """It keeps the bound."""
    return prepare(Scenario(path="diagonal", controller="realtime", ticks=60, delta_k=None)).run().to_json()


@pytest.fixture(scope="session")
def constant() -> dict[str, Any]:
    """It exceeds the bound by far after the corner."""
    found = prepare(Scenario(path="diagonal", controller="constant", ticks=60)).run().to_json()
    assert found["overshoot_k"] > 50
    return found
