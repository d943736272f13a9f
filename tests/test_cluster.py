"""The workers: all comes in, and waiting costs nothing."""

import asyncio
import time
from typing import Any

import pytest

from laserloop import cluster
from laserloop.cluster import open_cluster, share_out


def test_all_results_come_in_and_waiting_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "REPORT_EVERY", 0.01)
    waiting = list[int]()
    naps = [1.5, *[0.01] * 30]
    with open_cluster(2) as client:
        loop: Any = client.loop

        def count() -> None:
            waiting.append(len(asyncio.all_tasks(loop.asyncio_loop)))

        found = list(share_out(client, time.sleep, [(seconds,) for seconds in naps], on_wait=count))
    assert found == [None] * len(naps)
    assert len(waiting) > 60
    assert max(waiting[len(waiting) // 2 :]) <= max(waiting[:10])
