"""The live bench over ASGI: what is read, what is dropped, kept and planned, and the WebSocket."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from laserloop.bad_input import BadInput
from laserloop.live.crew import LOOK_S, PLAN_S, Crew, place_files
from laserloop.live.live_run import LiveRun
from laserloop.live.message import pack
from laserloop.viewer.answers import BYTES, JSON, Answer, Answers
from laserloop.viewer.desk import MOST_BYTES, Desk, keep_record
from laserloop.viewer.form import describe_form, describe_process
from laserloop.viewer.guard import COOKIE, HEADERS, Guard
from laserloop.viewer.patience import PatientProtocol
from laserloop.viewer.plain import read_cookie
from laserloop.viewer.talk import Talk

MOST_TALKS = 32  # pages at once
MOST_WORDS = 65_536  # bytes of a command or an order
UPLOAD_S = 30.0  # s, for a dropped file to arrive


@dataclass(slots=True, eq=False)
class Bench:
    """All that the routes need."""

    answers: Answers
    crew: Crew = field(default_factory=Crew)
    desk: Desk = field(default_factory=Desk)
    talks: int = 0

    async def get(self, request: Request) -> Response:
        """What is read only; the folder is looked at in a thread."""
        answer = await asyncio.to_thread(self.answers.get, request.path_params["place"])
        return respond(answer.unless(request.headers.get("If-None-Match")))

    async def form(self, request: Request) -> Response:
        """What can be chosen, and which dropped files are still there."""
        form = await asyncio.to_thread(describe_form)
        return respond(Answer.tell(form | {"files": list(self.desk.files)}))

    async def drop(self, request: Request) -> Response:
        """A path or process file; kept under its name until the server ends."""
        content = await read_body(request, MOST_BYTES)
        key = self.desk.put(request.query_params.get("name", ""), content)
        return respond(Answer.tell({"file": key, "name": self.desk.files[key][0]}))

    async def look(self, request: Request) -> Response:
        """Where the path of an order goes."""
        order = await read_json(request)
        words, arrays = await self.crew.ask(self._make_job("look", order), LOOK_S)
        return Response(pack(words, arrays), media_type=BYTES)

    async def process(self, request: Request) -> Response:
        """The values of an order's process."""
        words, _ = await self.crew.ask(self._make_job("describe", await read_json(request)), LOOK_S)
        return respond(Answer.tell(describe_process(words["process"])))

    async def plan(self, request: Request) -> Response:
        """The file of an order with planned powers; the answer says where to fetch it."""
        order = await read_json(request)
        name, place = self.desk.reserve(self.desk.name_planned(order.get("path", "path")))
        words, _ = await self.crew.ask(self._make_job("plan", order) | {"out": str(place)}, PLAN_S)
        return respond(Answer.tell({"file": name, "name": self.desk.files[name][0], **words}))

    async def fetch(self, request: Request) -> Response:
        """A planned file."""
        found = self.desk.files.get(request.path_params["key"])
        if found is None or not found[1].is_file():
            raise BadInput("this file is gone: plan it again")
        return attach(found[1].read_bytes(), BYTES, found[0])

    async def record(self, request: Request) -> Response:
        """A run that has ended, as `laserloop control --json` writes it."""
        run = self._find_ended(request.path_params["name"])
        content = json.dumps(run.tell_record(), allow_nan=False).encode()
        return attach(content, JSON, f"{run.about['path']}-{run.controller}.json")

    async def frame(self, request: Request) -> Response:
        """The thermal image of a tick, or of the last one before it that is kept."""
        run = self.crew.runs.get(request.path_params["name"])
        found = None if run is None else run.film.find(request.path_params["tick"])
        if found is None:
            raise BadInput("there is no image of this tick: choose another")
        return Response(found, media_type=BYTES)

    async def keep(self, request: Request) -> Response:
        """Write a run that has ended into the folder, under a person's name for it."""
        words = await read_json(request)
        run, label = self._find_ended(str(words.get("run"))), words.get("label", "")
        if not isinstance(label, str) or not label.isprintable() or len(label) > 80:
            raise BadInput("a name must be at most 80 printable characters: shorten it")
        run.label = " ".join(label.split())
        content = json.dumps(run.tell_record(), allow_nan=False).encode()
        named = run.label or f"{run.about['path']} {run.controller}"
        film = await asyncio.to_thread(run.film.write)
        name = await asyncio.to_thread(keep_record, self.answers.shelf.root, named, content, film)
        self.crew.wake()
        return respond(Answer.tell({"file": name}))

    async def talk(self, websocket: WebSocket) -> None:
        """Frames and commands; more pages than we can serve are turned away."""
        if self.talks >= MOST_TALKS:
            await websocket.close(1013)
            return
        self.talks += 1
        try:
            await Talk(websocket, self.crew, self.desk.files).hold()
        finally:
            self.talks -= 1

    def _find_ended(self, name: str) -> LiveRun:
        """A run with its record."""
        run = self.crew.runs.get(name)
        if run is not None and run.ended and not run.record:
            raise BadInput(f"nothing was recorded of this run ({run.ending}): start it again")
        if run is None or not run.record:
            raise BadInput("a run must have ended before it is kept or downloaded: stop it, or wait")
        return run

    def _make_job(self, kind: str, order: dict[str, Any]) -> dict[str, Any]:
        return {"job": kind, "order": order, "files": place_files(self.desk.files)}

    @asynccontextmanager
    async def live(self, _: Starlette) -> AsyncIterator[None]:
        """Workers while the server runs."""
        self.crew.begin_to_warm_up()
        try:
            yield
        finally:
            await self.crew.leave()
            self.desk.close()

    def make_app(self, guard: Guard) -> ASGIApp:
        """All routes, behind the guard."""
        routes = [
            WebSocketRoute("/socket", self.talk),
            Route("/bench", self.form),
            Route("/files", self.drop, methods=["POST"]),
            Route("/look", self.look, methods=["POST"]),
            Route("/process", self.process, methods=["POST"]),
            Route("/plan", self.plan, methods=["POST"]),
            Route("/keep", self.keep, methods=["POST"]),
            Route("/planned/{key:str}", self.fetch),
            Route("/live/{name:str}/record.json", self.record),
            Route("/live/{name:str}/frames/{tick:int}", self.frame),
            Route("/{rest:path}", self._get_any),
        ]
        refuse: dict[Any, Callable[..., Any]] = {BadInput: _refuse, ClientDisconnect: _hang_up}
        app = Starlette(routes=routes, exception_handlers=refuse, lifespan=self.live)
        return Guarded(app, guard)

    async def _get_any(self, request: Request) -> Response:
        request.path_params["place"] = f"/{request.path_params['rest']}"
        return await self.get(request)


@dataclass(slots=True, eq=False)
class Guarded:
    """An app behind a guard: nobody passes unjudged, no answer goes without its headers."""

    app: ASGIApp
    guard: Guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge, then pass on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=8)
        given = query.get("token", [""])[0]
        token = given or read_cookie(headers.get("cookie", ""))
        refusal = self.guard.judge(headers.get("host", ""), headers.get("origin"), token)
        if refusal and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refusal})
            return
        extra = dict(HEADERS)
        if given and not refusal:
            extra["Set-Cookie"] = f"{COOKIE}={given}; Path=/; HttpOnly; SameSite=Strict"

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message.get("headers", [])}
                more = [(name.lower().encode(), value.encode()) for name, value in extra.items()]
                message["headers"] = [*message.get("headers", []), *((n, v) for n, v in more if n not in own)]
            await send(message)

        if refusal:
            await respond(Answer.refuse(HTTPStatus.FORBIDDEN, refusal))(scope, receive, add)
        else:
            await self.app(scope, receive, add if scope["type"] == "http" else send)


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


async def read_json(request: Request) -> dict[str, Any]:
    """A JSON object."""
    if request.headers.get("content-type") != JSON:
        raise BadInput(f"what is sent must be {JSON}: set its content type")
    try:
        found = json.loads(await read_body(request, MOST_WORDS))
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, BadInput):
            raise
        found = None
    if not isinstance(found, dict):
        raise BadInput("what is sent must be a JSON object: correct it")
    return found


def respond(answer: Answer) -> Response:
    """An answer as Starlette has it."""
    headers = {"ETag": answer.tag} if answer.tag else None
    return Response(answer.body, int(answer.status), headers, answer.kind)


def attach(content: bytes, kind: str, name: str) -> Response:
    """A file to be saved."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return Response(content, media_type=kind, headers={"Content-Disposition": disposition})


def _refuse(_: Request, refusal: Exception) -> Response:
    sentence = " ".join(str(refusal).split()).rstrip(".") + "."
    return Response(sentence, HTTPStatus.BAD_REQUEST, {"Connection": "close"}, "text/plain; charset=utf-8")


def _hang_up(_: Request, __: Exception) -> Response:
    return Response(status_code=HTTPStatus.BAD_REQUEST)


def serve(answers: Answers, guard: Guard, listening: socket.socket, shutdown: threading.Event) -> None:
    """Answer on a socket until told to end, or Ctrl-C."""
    app = Bench(answers).make_app(guard)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="websockets-sansio",
        ws_max_size=MOST_WORDS,
        ws_per_message_deflate=False,
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=MOST_WORDS,
    )
    server = uvicorn.Server(config)

    def watch() -> None:
        shutdown.wait()
        server.should_exit = True

    threading.Thread(target=watch, daemon=True).start()
    server.run(sockets=[listening])
