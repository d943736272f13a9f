"""The server: one page and the runs behind it, for browsers on this machine only. It never writes."""

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Lock
from urllib.parse import unquote, urlsplit

from laserloop.bad_input import BadInput
from laserloop.viewer.shelf import Shelf

HOST = "127.0.0.1"
NAMES = {HOST, "localhost"}  # what a browser here calls us; other sites' scripts come under other names


class Viewer(ThreadingHTTPServer):
    """One shelf, served."""

    daemon_threads = True

    def __init__(self, root: Path, port: int) -> None:
        self.shelf, self.lock = Shelf(root), Lock()
        self.page = files("laserloop.viewer").joinpath("page.html").read_bytes()
        super().__init__((HOST, port), Answer)

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hung up is nobody's trouble."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return f"http://{HOST}:{self.server_address[1]}/"


class Answer(BaseHTTPRequestHandler):
    """GET / the page, /runs the list, /runs/ID a run with its series."""

    server: Viewer
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:  # the base class's name
        """Answer one question."""
        try:
            place = unquote(urlsplit(self.path).path)
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        except ValueError:
            self._send(HTTPStatus.BAD_REQUEST, "text/plain", b"no such address")
            return
        if host not in NAMES:
            self._send(HTTPStatus.FORBIDDEN, "text/plain", f"open {self.server.address}".encode())
        elif place == "/":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
        elif place == "/runs":
            with self.server.lock:
                self.server.shelf.look()
                found = self.server.shelf.list()
            self._tell({"folder": str(self.server.shelf.root), "runs": found})
        elif place.startswith("/runs/") and (run := self.server.shelf.runs.get(place[6:])) is not None:
            self._tell(run)
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"no such run")

    do_HEAD = do_GET  # noqa: N815, the base class's name

    def _tell(self, content: object) -> None:
        """JSON, and nothing at all to who has just this already."""
        body = json.dumps(content, allow_nan=False).encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if self.headers.get("If-None-Match") == tag:
            self._send(HTTPStatus.NOT_MODIFIED, "application/json", b"", tag)
        else:
            self._send(HTTPStatus.OK, "application/json", body, tag)

    def _send(self, status: HTTPStatus, kind: str, body: bytes, tag: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if tag is not None:
            self.send_header("ETag", tag)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the base class's name
        """Say nothing: every question of the page would be a line."""


@contextmanager
def open_viewer(root: Path, port: int) -> Iterator[Viewer]:
    """A server that listens, on `port` or with 0 on any that is free."""
    if not root.is_dir():
        raise BadInput(f"DIR must be a folder, but {root} is none")
    try:
        viewer = Viewer(root.resolve(), port)
    except OSError as problem:
        raise BadInput(
            f"--port must be free, but {port} is not ({problem.strerror}); try --port 0"
        ) from problem
    with viewer:
        if not viewer.shelf.look():
            raise BadInput(
                f"DIR must hold runs of control or simulate --json, demo or reproduce, but {root} holds none"
            )
        yield viewer
