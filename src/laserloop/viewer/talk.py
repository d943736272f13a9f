"""A talk with one page over a WebSocket: commands come in, frames and news of the runs go out.

Nothing is queued for a page: it gets what it does not have yet as fast as it takes it, so a slow one gets
fewer images and larger pieces, and costs no memory.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from time import monotonic
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from laserloop.bad_input import BadInput, show
from laserloop.live.crew import Crew, place_files
from laserloop.live.live_run import LiveRun
from laserloop.live.order import Files

PERIOD = 1.0 / 60.0  # s, between two looks at what is new
BREATH = 0.01  # s, after each command
PATIENCE_S = 20.0  # s, for a page to take a message
MOST_ROWS = 4096  # ticks in a message
MOST_WATCHED = 4  # runs
MOST_BAD = 50  # commands that mean nothing, until we hang up
MOST_CONTROLLERS = 2
PLAIN = ("pause", "resume", "stop")

Words = dict[str, Any]


@dataclass(slots=True, eq=False)
class Watched:
    """How much of a run the page has."""

    run: LiveRun
    opened: bool = False
    rows: int = 0
    newest: bytes = b""


@dataclass(slots=True, eq=False)
class Talk:
    """One page."""

    socket: WebSocket
    crew: Crew
    files: Files
    watched: dict[str, Watched] = field(default_factory=dict)
    _news: str = ""
    _bad: int = 0

    async def hold(self) -> None:
        """Until one of the two has gone."""
        await self.socket.accept()
        tasks = {asyncio.create_task(self._listen()), asyncio.create_task(self._speak())}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(RuntimeError, WebSocketDisconnect, ConnectionError, TimeoutError):
                await asyncio.wait_for(self.socket.close(1008), 1.0)

    async def _listen(self) -> None:
        with suppress(WebSocketDisconnect, ConnectionError, RuntimeError):
            while self._bad < MOST_BAD:
                message = await self.socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                verb = ""
                try:
                    words = read_command(message.get("text"))
                    verb = words["do"]
                    await self._obey(words)
                except BadInput as refusal:
                    self._bad += 1
                    await self._tell({"kind": "refused", "do": verb, "text": str(refusal)})
                await asyncio.sleep(BREATH)

    async def _speak(self) -> None:
        with suppress(WebSocketDisconnect, ConnectionError, RuntimeError, TimeoutError):
            while True:
                began, changed = monotonic(), self.crew.changed
                news, known = self._read_news(), set(self.crew.runs)
                for watched in list(self.watched.values()):
                    await self._show(watched)
                if set(self.crew.runs) == known:  # otherwise there is newer news, without any wait
                    await self._tell_news(news)
                await changed.wait()
                await asyncio.sleep(max(0.0, PERIOD - (monotonic() - began)))

    def _read_news(self) -> str:
        """The list of runs; counts of ticks are in the frames.

        It is read before the ticks are shown and told after them: whoever hears that a run is paused has all
        of its ticks.
        """
        runs = [
            {key: value for key, value in run.tell().items() if key != "count"}
            for run in self.crew.runs.values()
        ]
        return json.dumps({"kind": "runs", "runs": runs})

    async def _tell_news(self, news: str) -> None:
        """Where it has changed."""
        if news != self._news:
            self._news = news
            await asyncio.wait_for(self.socket.send_text(news), PATIENCE_S)

    async def _show(self, watched: Watched) -> None:
        """What the page does not have yet of a run."""
        run = watched.run
        if not run.head:
            return
        if not watched.opened:
            watched.opened = True
            await self._send(run.head)
        while watched.rows < run.count:
            message = run.tell_rows(watched.rows, MOST_ROWS)
            watched.rows = min(run.count, watched.rows + MOST_ROWS)
            await self._send(message)
        if watched.newest is not run.newest:
            watched.newest = run.newest
            await self._send(run.newest)

    async def _obey(self, words: Words) -> None:
        match words["do"]:
            case "start":
                await self._start(words.get("order"))
            case "watch":
                self._watch(words.get("runs"))
            case "forget":
                run = self._find(words)
                if run.ended:
                    self.crew.runs.pop(run.name, None)
                    self.crew.wake()
            case "step":
                ticks = words.get("ticks", 1)
                if not (isinstance(ticks, int) and 1 <= ticks <= 1000):
                    raise BadInput(f"a step has 1 to 1000 ticks, got {show(ticks)}: change it")
                self.crew.command(self._find(words), {"do": "step", "ticks": ticks})
            case "change":
                self.crew.command(self._find(words), read_change(words))
            case verb if verb in PLAIN:
                self.crew.command(self._find(words), {"do": verb})
            case verb:
                raise BadInput(
                    f"a command must be one that this page knows, got {show(verb)}: reload the page"
                )

    async def _start(self, order: object) -> None:
        if not isinstance(order, dict):
            raise BadInput(f"an order must be keys with values, got {show(order)}: reload the page")
        names = order.get("controllers", ["twin"])
        fine = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not fine or not 1 <= len(names) <= MOST_CONTROLLERS:
            raise BadInput(
                f"a run has one or {MOST_CONTROLLERS} controllers, got {show(names)}: choose fewer"
            )
        begun = [await self.crew.begin(order, name, place_files(self.files)) for name in names]
        self.watched = {run.name: Watched(run) for run in begun}
        await self._tell({"kind": "started", "runs": [run.name for run in begun]})
        self.crew.wake()

    def _watch(self, names: object) -> None:
        if not isinstance(names, list) or len(names) > MOST_WATCHED:
            raise BadInput(f"at most {MOST_WATCHED} runs are watched, got {show(names)}: choose fewer")
        known = {
            name: self.crew.runs[name] for name in names if isinstance(name, str) and name in self.crew.runs
        }
        self.watched = {name: self.watched.get(name) or Watched(run) for name, run in known.items()}
        self.crew.wake()

    def _find(self, words: Words) -> LiveRun:
        run = self.crew.runs.get(str(words.get("run")))
        if run is None:
            raise BadInput("this run is gone: start it again")
        return run

    async def _tell(self, words: Words) -> None:
        await asyncio.wait_for(self.socket.send_text(json.dumps(words)), PATIENCE_S)

    async def _send(self, message: bytes) -> None:
        await asyncio.wait_for(self.socket.send_bytes(message), PATIENCE_S)


def read_command(text: object) -> Words:
    """A JSON object with a verb."""
    try:
        words = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, dict) or not isinstance(words.get("do"), str):
        raise BadInput("a command must be a JSON object with the key do: correct it")
    return words


def read_change(words: Words) -> Words:
    """Another window or absorptivity for a run on its way."""
    change: Words = {"do": "change"}
    if "window_k" in words:
        window = words["window_k"]
        fine = isinstance(window, list) and len(window) == 2 and all(map(is_number, window))
        if not fine or not 1.0 <= window[0] < window[1] <= 1e4:
            raise BadInput("a window must be two temperatures from 1 to 10000 K, low before high: correct it")
        change["window_k"] = window
    if "absorbed" in words:
        factor = words["absorbed"]
        if not is_number(factor) or not 0.2 <= factor <= 5.0:
            raise BadInput(f"absorptivity may change by a factor of 0.2 to 5, got {show(factor)}: change it")
        change["absorbed"] = factor
    return change


def is_number(value: object) -> bool:
    """Finite, and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
