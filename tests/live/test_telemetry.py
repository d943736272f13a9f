"""The teller: how often a page hears of a run, whatever a tick takes."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from laserloop.live import telemetry as room
from laserloop.live.telemetry import Telemetry, unpack


@pytest.mark.parametrize(("tick_s", "least", "most"), [(0.001, 38, 42), (0.0167, 38, 42), (0.04, 25, 25)])
def test_forty_messages_a_second_or_one_a_tick(
    tick_s: float, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, sent = [100.0], list[bytes]()
    monkeypatch.setattr(room, "monotonic", lambda: clock[0])
    monkeypatch.setattr(Telemetry, "_see", lambda *_: np.zeros((2, 2), np.uint8))
    monkeypatch.setattr(Telemetry, "_read", lambda *_: (0.0,))
    setup: Any = SimpleNamespace(scenario=SimpleNamespace(process=SimpleNamespace(ambient=300.0)))
    tick: Any = SimpleNamespace(action=SimpleNamespace(predicted=np.zeros(3)))
    teller = Telemetry(sent.append, setup, subgrid=True)
    for k in range(round(1.0 / tick_s)):
        clock[0] += tick_s
        teller.add(k, tick)
    assert least <= len(sent) <= most
    teller.flush()
    assert sum(len(unpack(message)[1]["rows"]) for message in sent) == round(1.0 / tick_s)
