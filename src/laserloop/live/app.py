"""The live bench over HTTP: its page, what is read, dropped, kept and planned, and the WebSocket."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.resources import files
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from laserloop.bad_input import BadInput
from laserloop.live.index import RunIndex
from laserloop.live.live_run import LiveRun
from laserloop.live.request import describe_form, describe_process
from laserloop.live.session import Session
from laserloop.live.telemetry import Words, pack
from laserloop.live.uploads import MOST_BYTES, Uploads, keep_record
from laserloop.live.workers import LOOK_S, PLAN_S, WorkerPool, place_files

MOST_SESSIONS = 32  # pages at once
MOST_WORDS = 65_536  # bytes of a command or an order
MOST_NAMED = 4  # damaged files, the others are counted
UPLOAD_S = 30.0  # for a dropped file to arrive
LONGEST_TICK = 9  # digits
FRESH = 0.5  # s, in which the folder is not looked at again
JSON, BYTES = "application/json", "application/octet-stream"
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class StoredRuns:
    """The list of stored runs; the folder is looked at twice a second at most."""

    def __init__(self, index: RunIndex) -> None:
        self.index = index
        self._lock = Lock()
        self._looked = -FRESH
        self._list = b""

    def list(self) -> bytes:
        """All runs without their series, as JSON."""
        with self._lock:
            if not self._list or monotonic() - self._looked > FRESH:
                if self.index.look() or not self._list:
                    damaged = self.index.damaged
                    content = {
                        "folder": str(self.index.root),
                        "left_out": self.index.left_out,
                        "damaged": {"count": len(damaged), "files": damaged[:MOST_NAMED]},
                        "runs": self.index.list(),
                    }
                    self._list = dump(content)
                self._looked = monotonic()
            return self._list


@dataclass(slots=True, eq=False)
class App:
    """All that the routes need."""

    stored: StoredRuns
    pool: WorkerPool = field(default_factory=WorkerPool)
    uploads: Uploads = field(default_factory=Uploads)
    sessions: int = 0

    async def runs(self, request: Request) -> Response:
        """The stored runs; nothing at all for who knows the tag. The folder is looked at in a thread."""
        content = await asyncio.to_thread(self.stored.list)
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        known = request.headers.get("If-None-Match") == tag
        return Response(b"" if known else content, 304 if known else 200, {"ETag": tag}, JSON)

    async def run(self, request: Request) -> Response:
        """A stored run with its series."""
        opened = await asyncio.to_thread(self.stored.index.open, request.path_params["name"])
        if opened is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return _respond(opened)

    async def stored_frame(self, request: Request) -> Response:
        """The thermal image of a tick of one, or of the last one before it that is kept."""
        name = request.path_params["name"]
        frame = await asyncio.to_thread(self.stored.index.find_frame, name, _read_tick(request))
        if frame is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(frame, media_type=BYTES)

    async def form(self, request: Request) -> Response:
        """What can be chosen, and which dropped files are still there."""
        form = await asyncio.to_thread(describe_form)
        return _respond(form | {"files": list(self.uploads.files)})

    async def drop(self, request: Request) -> Response:
        """A path or process file; kept under its name until the server ends."""
        content = await read_body(request, MOST_BYTES)
        key = self.uploads.put(request.query_params.get("name", ""), content)
        return _respond({"file": key, "name": self.uploads.files[key][0]})

    async def look(self, request: Request) -> Response:
        """Where the path of an order goes."""
        words, arrays = await self._ask("look", await read_json(request), LOOK_S)
        return Response(pack(words, arrays), media_type=BYTES)

    async def process(self, request: Request) -> Response:
        """The values of an order's process."""
        words, _ = await self._ask("describe", await read_json(request), LOOK_S)
        return _respond(describe_process(words["process"]))

    async def plan(self, request: Request) -> Response:
        """The file of an order with planned powers; the answer says where to fetch it."""
        order = await read_json(request)
        name, place = self.uploads.reserve(self.uploads.name_planned(order.get("path", "path")))
        words, _ = await self._ask("plan", order, PLAN_S, out=str(place))
        return _respond({"file": name, "name": self.uploads.files[name][0], **words})

    async def fetch(self, request: Request) -> Response:
        """A planned file."""
        file = self.uploads.files.get(request.path_params["key"])
        if file is None or not file[1].is_file():
            raise BadInput("this file is gone: plan it again")
        return _attach(file[1].read_bytes(), BYTES, file[0])

    async def record(self, request: Request) -> Response:
        """A run that has ended, as `laserloop control --json` writes it."""
        run = self._find_ended(request.path_params["name"])
        return _attach(dump(run.label_record()), JSON, f"{run.about['path']}-{run.controller}.json")

    async def frame(self, request: Request) -> Response:
        """The thermal image of a tick of a live run, or of the last one before it that is kept."""
        run = self.pool.runs.get(request.path_params["name"])
        image = None if run is None else run.frames.find(_read_tick(request))
        if image is None:
            raise BadInput("there is no image of this tick: choose another")
        return Response(image, media_type=BYTES)

    async def keep(self, request: Request) -> Response:
        """Write a run that has ended into the folder, under a person's name for it."""
        words = await read_json(request)
        run, label = self._find_ended(str(words.get("run"))), words.get("label", "")
        if not isinstance(label, str) or not label.isprintable() or len(label) > 80:
            raise BadInput("a name must be at most 80 printable characters: shorten it")
        run.label = " ".join(label.split())
        named = run.label or f"{run.about['path']} {run.controller}"
        frames, root = await asyncio.to_thread(run.frames.write), self.stored.index.root
        name = await asyncio.to_thread(keep_record, root, named, dump(run.label_record()), frames)
        self.pool.wake()
        return _respond({"file": name})

    async def talk(self, websocket: WebSocket) -> None:
        """Frames and commands; more pages than we can serve are turned away."""
        if self.sessions >= MOST_SESSIONS:
            await websocket.close(1013)
            return
        self.sessions += 1
        try:
            await Session(websocket, self.pool, self.uploads.files).hold()
        finally:
            self.sessions -= 1

    async def _ask(self, job: str, order: Words, seconds: float, **more: str) -> tuple[Words, Any]:
        """The answer of a worker."""
        words = {"job": job, "order": order, "files": place_files(self.uploads.files), **more}
        return await self.pool.ask(words, seconds)

    def _find_ended(self, name: str) -> LiveRun:
        """A run with its record."""
        run = self.pool.runs.get(name)
        if run is not None and run.ended and not run.record:
            raise BadInput(f"nothing was recorded of this run ({run.ending}): start it again")
        if run is None or not run.record:
            raise BadInput("a run must have ended before it is kept or downloaded: stop it, or wait")
        return run

    @asynccontextmanager
    async def live(self, _: Starlette) -> AsyncIterator[None]:
        """Workers while the server runs."""
        self.pool.begin_to_warm_up()
        try:
            yield
        finally:
            await self.pool.close()
            self.uploads.close()

    def make(self) -> Starlette:
        """All routes."""
        routes = [
            WebSocketRoute("/socket", self.talk),
            Route("/runs", self.runs),
            Route("/runs/{name:str}", self.run),
            Route("/runs/{name:str}/frames/{tick:str}", self.stored_frame),
            Route("/bench", self.form),
            Route("/files", self.drop, methods=["POST"]),
            Route("/look", self.look, methods=["POST"]),
            Route("/process", self.process, methods=["POST"]),
            Route("/plan", self.plan, methods=["POST"]),
            Route("/keep", self.keep, methods=["POST"]),
            Route("/planned/{key:str}", self.fetch),
            Route("/live/{name:str}/record.json", self.record),
            Route("/live/{name:str}/frames/{tick:str}", self.frame),
            *_list_page(),
        ]
        refuse: dict[Any, Callable[..., Any]] = {
            BadInput: _refuse,
            ClientDisconnect: _hang_up,
            HTTPException: _answer_error,
        }
        app = Starlette(routes=routes, exception_handlers=refuse, lifespan=self.live)
        app.router.redirect_slashes = False
        return app


def _list_page() -> list[Route]:
    """The files of the page, each under its exact name: no address leads through a folder."""
    routes = []
    for file in files("laserloop.live").joinpath("page").iterdir():
        kind = TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:
            place = "/" if file.name == "index.html" else f"/{file.name}"
            routes.append(Route(place, Response(file.read_bytes(), media_type=kind), methods=["GET"]))
    return routes


def _read_tick(request: Request) -> int:
    """Which tick is asked for."""
    text: str = request.path_params["tick"]
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_TICK):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return int(text)


async def read_body(request: Request, most: int) -> bytes:
    """The body of a request, if it is short enough and comes soon enough."""
    if "content-encoding" in request.headers:
        raise BadInput("what is sent must not be compressed: send it as it is")
    parts, size = [], 0
    try:
        async with asyncio.timeout(UPLOAD_S):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise BadInput(f"at most {most / 1e6:g} MB are taken, but more was sent: send less")
                parts.append(part)
    except TimeoutError:
        raise BadInput(f"what is sent must arrive within {UPLOAD_S:g} s: send it again") from None
    return b"".join(parts)


async def read_json(request: Request) -> Words:
    """A JSON object."""
    if request.headers.get("content-type") != JSON:
        raise BadInput(f"what is sent must be {JSON}: set its content type")
    try:
        words = json.loads(await read_body(request, MOST_WORDS))
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, BadInput):
            raise
        words = None
    if not isinstance(words, dict):
        raise BadInput("what is sent must be a JSON object: correct it")
    return words


def dump(content: object) -> bytes:
    """JSON that any reader accepts."""
    return json.dumps(content, allow_nan=False).encode()


def _respond(content: object) -> Response:
    """JSON."""
    return Response(dump(content), media_type=JSON)


def _attach(content: bytes, kind: str, name: str) -> Response:
    """A file to be saved."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return Response(content, media_type=kind, headers={"Content-Disposition": disposition})


def _refuse(_: Request, refusal: Exception) -> Response:
    sentence = " ".join(str(refusal).split()).rstrip(".") + "."
    return Response(sentence, HTTPStatus.BAD_REQUEST, {"Connection": "close"}, "text/plain; charset=utf-8")


def _answer_error(_: Request, error: HTTPException) -> Response:
    text = error.detail
    if error.status_code == HTTPStatus.NOT_FOUND:
        text = "there is nothing here: open the page at /"
    return Response(text, error.status_code, error.headers, "text/plain; charset=utf-8")


def _hang_up(_: Request, __: Exception) -> Response:
    return Response(status_code=HTTPStatus.BAD_REQUEST)
