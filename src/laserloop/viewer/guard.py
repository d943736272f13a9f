"""The guard: who may ask, and what every answer says to browsers."""

import hmac
import ipaddress
import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

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


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses pages of other sites that speak to us through a browser, and strangers without the token."""

    host: str = "127.0.0.1"  # where the server listens
    token: str = ""  # that everybody must know, if it listens elsewhere than on this machine
    names: frozenset[str] = field(default_factory=frozenset)  # further names of this machine

    def judge(self, host: str, origin: str | None, token: str) -> str:
        """Why a request is refused, in a sentence; nothing if it is not."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            name = ""
        if not self._is_ours(name):
            return "this server answers under its own address only"
        if origin is not None and urlsplit_netloc(origin) != host.lower():
            return "pages of other sites may not use this server"
        if self.token and not hmac.compare_digest(token.encode(), self.token.encode()):
            return "open the address that laserloop view printed: it has the token"
        return ""

    def _is_ours(self, name: str) -> bool:
        """A foreign name that leads here is how other sites reach servers behind a browser's back."""
        if name in LOOPBACK or name in self.names:
            return True
        return self.host not in LOOPBACK and _is_address(name)


def make_guard(host: str, token: str) -> Guard:
    """The guard of a server that listens on `host`."""
    own = frozenset() if host in LOOPBACK else frozenset((socket.gethostname().lower(), host.lower()))
    return Guard(host, token, own)


def urlsplit_netloc(origin: str) -> str:
    """Host and port of an origin; nothing of `null`."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
