"""Runs past the first sharp turn of the diagonal, as the figures of the story get them."""

from typing import Any

import pytest

from laserloop.loop.scenario import LoopCase, record_case


@pytest.fixture(scope="session")
def mpc() -> dict[str, Any]:
    """It keeps the bound."""
    return record_case(LoopCase(path="diagonal", controller="realtime", ticks=60, delta_k=None))


@pytest.fixture(scope="session")
def constant() -> dict[str, Any]:
    """It exceeds the bound by far after the corner."""
    found = record_case(LoopCase(path="diagonal", controller="constant", ticks=60))
    assert found["overshoot_k"] > 50
    return found
