"""The server: who may ask, how long it waits for them, and where it listens."""

import asyncio
import hmac
import ipaddress
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from laserloop.bad_input import BadInput
from laserloop.live.app import MOST_WORDS, App, StoredRuns
from laserloop.live.index import RunIndex

HOST = "127.0.0.1"
BACKLOG = 128
HEAD_S = 10.0  # for the head of a request
TAKE_S = 20.0  # for a client that has stopped reading
MOST_CONNECTIONS = 300
LOOPBACK = ("127.0.0.1", "localhost", "::1")  # what a browser here calls us
COOKIE = "laserloop_token"
POLICY = "; ".join(
    (
        *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:"),
        *("connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"),
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


class _AccessControl:
    """Before the app: refuses pages of other sites that speak to us through a browser, and strangers.

    Every answer gets the headers that tell a browser what our page may do. `host` is where the server
    listens, `token` what everybody must know if that is elsewhere than on this machine.
    """

    def __init__(self, app: ASGIApp, host: str = HOST, token: str = "") -> None:
        self.app, self.token, self.here = app, token, host in LOOPBACK
        self.names = {*LOOPBACK} if self.here else {*LOOPBACK, socket.gethostname().lower(), host.lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge, then pass on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        offered = asked.query_params.get("token", "")
        token = offered or asked.cookies.get(COOKIE, "")
        refusal = self.judge(asked.headers.get("host", ""), asked.headers.get("origin"), token)
        if scope["type"] == "websocket":
            if refusal:
                await send({"type": "websocket.close", "code": 1008, "reason": refusal})
            else:
                await self.app(scope, receive, send)
            return
        extra = dict(HEADERS)
        if offered and self.token and not refusal:
            extra["Set-Cookie"] = f"{COOKIE}={offered}; Path=/; HttpOnly; SameSite=Strict"
        more = [(name.lower().encode(), value.encode()) for name, value in extra.items()]

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *more]
            await send(message)

        answer = Response(refusal, HTTPStatus.FORBIDDEN, media_type="text/plain") if refusal else self.app
        await answer(scope, receive, add)

    def judge(self, host: str, origin: str | None, token: str) -> str:
        """Why a request is refused, in a sentence; nothing if it is not."""
        name = _split_address(f"//{host}")[0]
        if not (name in self.names or (not self.here and _is_address(name))):
            # a foreign name that leads here is how other sites reach servers behind a browser's back
            return "this server answers under its own address only"
        if origin is not None and _split_address(origin)[1] != host.lower():
            return "pages of other sites may not use this server"
        if self.token and not hmac.compare_digest(token.encode(), self.token.encode()):
            return "open the address that laserloop view printed: it has the token"
        return ""


def _split_address(address: str) -> tuple[str, str]:
    """Host, and host with port; nothing of what is no address."""
    try:
        parts = urlsplit(address)
        return parts.hostname or "", parts.netloc.lower()
    except ValueError:
        return "", ""


def _is_address(name: str) -> bool:
    """Is it numbers, and no name that somebody may lead here?"""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _TimeoutProtocol(H11Protocol):
    """HTTP/1.1 that hangs up on who is too slow, and on who comes when there are too many."""

    _head: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request, not for ever."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._arm()

    def data_received(self, data: bytes) -> None:
        """Part of a request; the clock runs from its first byte."""
        super().data_received(data)
        self._arm()

    def pause_writing(self) -> None:
        """The client does not take what it asked for."""
        super().pause_writing()
        self._taking = self.loop.call_later(TAKE_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for."""
        for timer in (self._head, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def _arm(self) -> None:
        if self._head is None:
            self._head = self.loop.call_later(HEAD_S, self._check)

    def _check(self) -> None:
        """Hang up if the head of a request is still not there."""
        self._head = None
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # it is a WebSocket by now
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.conn.their_state is h11.IDLE:
            self.transport.close()


class Server:
    """The live bench of a folder with runs, on a socket that listens."""

    def __init__(self, index: RunIndex, listening: socket.socket, host: str, token: str) -> None:
        self.index, self.socket, self.host, self.token = index, listening, host, token
        self.stored = StoredRuns(index)
        self._shutdown = threading.Event()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.socket.getsockname()[1])

    @property
    def address(self) -> str:
        """What to type into a browser."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{name}]" if ":" in name else name
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def serve_forever(self) -> None:
        """Answer until `shutdown`, or Ctrl-C."""
        config = uvicorn.Config(
            _AccessControl(App(self.stored).make(), self.host, self.token),
            http=_TimeoutProtocol,
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
            self._shutdown.wait()
            server.should_exit = True

        threading.Thread(target=watch, daemon=True).start()
        server.run(sockets=[self.socket])

    def shutdown(self) -> None:
        """End `serve_forever` in another thread."""
        self._shutdown.set()


@contextmanager
def open_server(root: Path, port: int, *, host: str = HOST, token: str = "") -> Iterator[Server]:
    """A server that listens, on `port` or with 0 on any that is free."""
    if root.exists() and not root.is_dir():
        raise BadInput(f"DIR must be a folder, but {root} is none: name one")
    if not root.exists() and not _can_make(root):
        raise BadInput(f"DIR must be a folder or a place for one, but {root} cannot be made: name another")
    if host not in LOOPBACK and not token:
        token = secrets.token_urlsafe(24)
    with _listen(host, port) as listening:
        server = Server(RunIndex(root.resolve()), listening, host, token)
        server.stored.list()  # so that the first page need not wait for it
        yield server


def _can_make(folder: Path) -> bool:
    """Could a folder be made there? Only trying tells: /proc says that it is writable, and is not."""
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    try:
        with TemporaryDirectory(dir=above):
            return True
    except OSError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise BadInput(
            f"--port must be free on --host, but {port} on {host} is not ({reason}); try --port 0"
        ) from problem
