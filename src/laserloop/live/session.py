"""A session with one page over a WebSocket: commands come in, frames and news of the runs go out.

Nothing is queued for a page: it gets what it does not have yet as fast as it takes it, so a slow one gets
fewer images and larger pieces, and costs no memory.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from starlette.websockets import WebSocket, WebSocketDisconnect

from laserloop.bad_input import BadInput, show
from laserloop.live.live_run import LiveRun
from laserloop.live.request import ABSORBED, Uploaded, read_controllers, read_number
from laserloop.live.telemetry import Words
from laserloop.live.workers import WorkerPool, place_files

PERIOD = 1.0 / 60.0  # s, between two looks at what is new
PAUSE = 0.01  # s, after each command
TAKE_S = 20.0  # for a page to take a message
MOST_ROWS = 4096  # ticks in a message
MOST_WATCHED = 4  # runs
MOST_BAD = 50  # commands that mean nothing, until we hang up
PLAIN = ("pause", "resume", "stop")


@dataclass(slots=True, eq=False)
class Watched:
    """How much of a run the page has."""

    run: LiveRun
    opened: bool = False
    rows: int = 0
    newest: bytes = b""


@dataclass(slots=True, eq=False)
class Session:
    """One page."""

    socket: WebSocket
    pool: WorkerPool
    files: Uploaded
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
                    words = _read_command(message.get("text"))
                    verb = words["do"]
                    await self._obey(words)
                except BadInput as refusal:
                    self._bad += 1
                    await self._tell({"kind": "refused", "do": verb, "text": str(refusal)})
                await asyncio.sleep(PAUSE)

    async def _speak(self) -> None:
        with suppress(WebSocketDisconnect, ConnectionError, RuntimeError, TimeoutError):
            while True:
                began, changed = monotonic(), self.pool.changed
                news, known = self._read_news(), set(self.pool.runs)
                for watched in list(self.watched.values()):
                    await self._show(watched)
                if set(self.pool.runs) == known:  # otherwise there is newer news, without any wait
                    await self._send_news(news)
                await changed.wait()
                await asyncio.sleep(max(0.0, PERIOD - (monotonic() - began)))

    def _read_news(self) -> str:
        """The list of runs; counts of ticks are in the frames.

        It is read before the ticks are shown and told after them: whoever hears that a run is paused has all
        of its ticks.
        """
        runs = [
            {key: value for key, value in run.tell().items() if key != "count"}
            for run in self.pool.runs.values()
        ]
        return json.dumps({"kind": "runs", "runs": runs})

    async def _send_news(self, news: str) -> None:
        """Where it has changed."""
        if news != self._news:
            self._news = news
            await asyncio.wait_for(self.socket.send_text(news), TAKE_S)

    async def _show(self, watched: Watched) -> None:
        """What the page does not have yet of a run."""
        run = watched.run
        if not run.head:
            return
        if not watched.opened:
            watched.opened = True
            await self._send(run.head)
        while watched.rows < run.count:
            message = run.pack_rows(watched.rows, MOST_ROWS)
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
                    self.pool.runs.pop(run.name, None)
                    self.pool.wake()
            case "step":
                ticks = words.get("ticks", 1)
                if not (isinstance(ticks, int) and 1 <= ticks <= 1000):
                    raise BadInput(f"a step has 1 to 1000 ticks, got {show(ticks)}: change it")
                self.pool.command(self._find(words), {"do": "step", "ticks": ticks})
            case "change":
                self.pool.command(self._find(words), _read_change(words))
            case verb if verb in PLAIN:
                self.pool.command(self._find(words), {"do": verb})
            case verb:
                raise BadInput(
                    f"a command must be one that this page knows, got {show(verb)}: reload the page"
                )

    async def _start(self, request: object) -> None:
        if not isinstance(request, dict):
            raise BadInput(f"an order must be keys with values, got {show(request)}: reload the page")
        names, files = read_controllers(request.get("controllers", ["twin"])), place_files(self.files)
        begun = [await self.pool.begin(request, name, files) for name in names]
        self.watched = {run.name: Watched(run) for run in begun}
        await self._tell({"kind": "started", "runs": [run.name for run in begun]})
        self.pool.wake()

    def _watch(self, names: object) -> None:
        if not isinstance(names, list) or len(names) > MOST_WATCHED:
            raise BadInput(f"at most {MOST_WATCHED} runs are watched, got {show(names)}: choose fewer")
        known = {
            name: self.pool.runs[name] for name in names if isinstance(name, str) and name in self.pool.runs
        }
        self.watched = {name: self.watched.get(name) or Watched(run) for name, run in known.items()}
        self.pool.wake()

    def _find(self, words: Words) -> LiveRun:
        run = self.pool.runs.get(str(words.get("run")))
        if run is None:
            raise BadInput("this run is gone: start it again")
        return run

    async def _tell(self, words: Words) -> None:
        await asyncio.wait_for(self.socket.send_text(json.dumps(words)), TAKE_S)

    async def _send(self, message: bytes) -> None:
        await asyncio.wait_for(self.socket.send_bytes(message), TAKE_S)


def _read_command(text: object) -> Words:
    """A JSON object with a verb."""
    try:
        words = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, dict) or not isinstance(words.get("do"), str):
        raise BadInput("a command must be a JSON object with the key do: correct it")
    return words


def _read_change(words: Words) -> Words:
    """Another window or absorptivity for a run on its way."""
    change: Words = {"do": "change"}
    if "window_k" in words:
        values = words["window_k"] if isinstance(words["window_k"], list) else []
        window = [read_number("window_k", value, (1.0, 1e4)) for value in values[:3]]
        if len(window) != 2 or not window[0] < window[1]:
            raise BadInput("a window must be two temperatures from 1 to 10000 K, low before high: correct it")
        change["window_k"] = window
    if "absorbed" in words:
        change["absorbed"] = read_number("absorptivity over the start", words["absorbed"], ABSORBED)
    return change
