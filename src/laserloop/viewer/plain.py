"""The plain carrier: stored runs by Python's own server, where the `live` extra is not installed."""

import socket
import sys
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from laserloop.viewer.answers import Answer, Answers
from laserloop.viewer.guard import COOKIE, HEADERS, Guard


class PlainServer(ThreadingHTTPServer):
    """Answers on a socket that listens already."""

    daemon_threads = True

    def __init__(self, listening: socket.socket, answers: Answers, guard: Guard) -> None:
        self.answers, self.guard = answers, guard
        super().__init__(listening.getsockname()[:2], PlainAnswer, bind_and_activate=False)
        self.socket.close()
        self.socket = listening

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hung up is nobody's trouble."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class PlainAnswer(BaseHTTPRequestHandler):
    """GET only."""

    server: PlainServer
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_GET(self) -> None:  # the base class's name
        """Answer one question."""
        try:
            asked = urlsplit(self.path)
            place, query = unquote(asked.path), parse_qs(asked.query)
        except ValueError:
            self._send(Answer.refuse(HTTPStatus.BAD_REQUEST, "no such address"))
            return
        given = query.get("token", [""])[0] or read_cookie(self.headers.get("Cookie", ""))
        refusal = self.server.guard.judge(self.headers.get("Host", ""), self.headers.get("Origin"), given)
        if refusal:
            self._send(Answer.refuse(HTTPStatus.FORBIDDEN, refusal))
        else:
            answer = self.server.answers.get(place).unless(self.headers.get("If-None-Match"))
            self._send(answer, given if "token" in query else "")

    do_HEAD = do_GET  # noqa: N815, the base class's name

    def _send(self, answer: Answer, token: str = "") -> None:
        self.send_response_only(answer.status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.tag:
            self.send_header("ETag", answer.tag)
        if token:
            self.send_header("Set-Cookie", f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the base class's name
        """Say nothing: every question of the page would be a line."""


def read_cookie(header: str) -> str:
    """The token in a Cookie header; nothing if there is none."""
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value
