"""A session: in which order a page hears of ticks, states and runs, whatever happens meanwhile."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from laserloop.live.live_run import LiveRun
from laserloop.live.session import Session, Watched
from laserloop.live.telemetry import pack, unpack
from laserloop.live.workers import WorkerPool

Words = dict[str, Any]


class Page:
    """Takes messages; while it takes the first of a kind, something happens."""

    def __init__(self, kind: str, meanwhile: Callable[[], None]) -> None:
        self.heard: list[Words] = []
        self._kind = kind
        self._meanwhile: Callable[[], None] | None = meanwhile

    async def send_text(self, text: str) -> None:
        self.heard.append(json.loads(text))

    async def send_bytes(self, message: bytes) -> None:
        words, arrays = unpack(message)
        self.heard.append(words | {"count": len(arrays.get("rows", ()))})
        await asyncio.sleep(0)
        if words["kind"] == self._kind and self._meanwhile is not None:
            happen, self._meanwhile = self._meanwhile, None
            happen()


def begin(name: str) -> LiveRun:
    run = LiveRun(name, "twin", {})
    arrays = {"x_mm": np.zeros(9, np.float32)}
    run.on_message(*unpack(pack({"kind": "began", "ticks": 9, "columns": ["t_k"], "notes": []}, arrays)))
    return run


def tick(run: LiveRun, count: int = 1) -> None:
    words = {"kind": "ticks", "first": run.count, "k": run.count, "low_k": 300, "high_k": 900, "reach": 16}
    image = np.zeros((2, 2), np.uint8)
    run.on_message(
        words, {"rows": np.ones((count, 1), np.float32), "image": image, "fan": image.astype("f4")}
    )


def listen(pool: WorkerPool, run: LiveRun, kind: str, meanwhile: Callable[[], None]) -> list[Words]:
    """What a page hears that watches a run, until nothing is new."""

    async def hold() -> list[Words]:
        page = Page(kind, meanwhile)
        session = Session(page, pool, {})  # type: ignore[arg-type]  # all that is used of a WebSocket
        session.watched[run.name] = Watched(run)
        speaking = asyncio.create_task(session._speak())
        await asyncio.sleep(0.3)
        speaking.cancel()
        return page.heard

    with ThreadPoolExecutor(1) as thread:  # in this one the browser's loop may run
        return thread.submit(lambda: asyncio.run(hold())).result()


@pytest.mark.parametrize("kind", ["began", "ticks", "frame"])
def test_a_page_that_hears_of_a_pause_has_all_ticks_before_it(kind: str) -> None:
    pool, run = WorkerPool(), begin("a")
    pool.runs["a"] = run
    tick(run, 2)

    def pause() -> None:
        tick(run, 3)
        run.on_message({"kind": "state", "state": "paused"}, {})
        pool.wake()

    heard = listen(pool, run, kind, pause)
    told = [i for i, words in enumerate(heard) if words["kind"] == "runs"]
    states = [heard[i]["runs"][0]["state"] for i in told]
    assert states == ["running", "paused"]
    assert sum(words["count"] for words in heard[: told[1]] if words["kind"] == "ticks") == 5


def test_news_that_is_too_old_is_not_told() -> None:
    pool, run = WorkerPool(), begin("a")
    pool.runs["a"] = run
    tick(run)

    def start() -> None:
        pool.runs["b"] = begin("b")
        pool.wake()

    heard = listen(pool, run, "ticks", start)
    assert [len(words["runs"]) for words in heard if words["kind"] == "runs"] == [2]
