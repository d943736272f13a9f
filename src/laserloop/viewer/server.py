"""The server: one page, the runs behind it and, with the `live` extra, runs that are started from it."""

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from socketserver import BaseServer
from tempfile import TemporaryDirectory

from laserloop.bad_input import BadInput
from laserloop.viewer.answers import Answers
from laserloop.viewer.guard import LOOPBACK, Guard, make_guard
from laserloop.viewer.shelf import Shelf

HOST = "127.0.0.1"
NEEDED = ("h11", "starlette", "uvicorn", "websockets")  # of the `live` extra
BACKLOG = 128


class Viewer:
    """A shelf, served on a socket that listens."""

    def __init__(self, shelf: Shelf, listening: socket.socket, guard: Guard, *, live: bool) -> None:
        self.shelf, self.guard, self.live = shelf, guard, live
        self.answers = Answers(shelf, live=live)
        self.socket = listening
        self._shutdown = threading.Event()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.socket.getsockname()[1])

    @property
    def address(self) -> str:
        """What to type into a browser."""
        name = socket.gethostname() if self.guard.host in ("0.0.0.0", "::") else self.guard.host
        shown = f"[{name}]" if ":" in name else name
        return f"http://{shown}:{self.port}/" + (f"?token={self.guard.token}" if self.guard.token else "")

    def serve_forever(self) -> None:
        """Answer until `shutdown`, or Ctrl-C."""
        if self.live:
            from laserloop.viewer.bench_server import serve

            serve(self.answers, self.guard, self.socket, self._shutdown)
        else:
            from laserloop.viewer.plain import PlainServer

            with PlainServer(self.socket, self.answers, self.guard) as plain:
                threading.Thread(target=self._end, args=(plain,), daemon=True).start()
                plain.serve_forever()

    def _end(self, plain: BaseServer) -> None:
        self._shutdown.wait()
        plain.shutdown()

    def shutdown(self) -> None:
        """End `serve_forever` in another thread."""
        self._shutdown.set()


@contextmanager
def open_viewer(
    root: Path, port: int, *, host: str = HOST, token: str = "", live: bool | None = None
) -> Iterator[Viewer]:
    """A server that listens, on `port` or with 0 on any that is free.

    `live`: shall runs be started from the page? None: if the extra is installed.
    """
    live = can_run_live() if live is None else live
    if root.exists() and not root.is_dir():
        raise BadInput(f"DIR must be a folder, but {root} is none: name one")
    if not root.exists() and not can_make(root):
        raise BadInput(f"DIR must be a folder or a place for one, but {root} cannot be made: name another")
    if not live and not root.is_dir():
        raise BadInput(f"DIR must be a folder, but {root} is none: {tell_extra()}")
    if host not in LOOPBACK and not token:
        token = secrets.token_urlsafe(24)
    with _listen(host, port) as listening:
        viewer = Viewer(Shelf(root.resolve()), listening, make_guard(host, token), live=live)
        viewer.answers.list_runs()  # so that the first page need not wait for it
        if not live and not viewer.shelf.runs:
            raise BadInput(
                "DIR must hold runs of control or simulate --json, demo or reproduce, but "
                f"{root} holds none: {tell_extra()}"
            )
        yield viewer


def can_make(folder: Path) -> bool:
    """Could a folder be made there? Only trying tells: /proc says that it is writable, and is not."""
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    try:
        with TemporaryDirectory(dir=above):
            return True
    except OSError:
        return False


def can_run_live() -> bool:
    """Is the extra installed?"""
    return all(find_spec(name) is not None for name in NEEDED)


def tell_extra() -> str:
    """How to get what starts runs from the page."""
    return "name a folder with runs, or start them from the page with pip install 'laserloop[live]'"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise BadInput(
            f"--port must be free on --host, but {port} on {host} is not ({reason}); try --port 0"
        ) from problem
