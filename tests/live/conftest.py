"""A server on a folder with runs, and a browser that looks at it."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from tests.conftest import lack, packages

RECORD: dict[str, Any] = {
    **{"path": "diagonal", "controller": "pi", "plant": "paper", "model": None, "delta_k": None, "ticks": 1},
    **{"window_k": [760.0, 800.0], "settled_from": 0, "n_over": 0, "overshoot_k": 0.0},
    **{"below_fraction": 0.0, "power_mean_w": 10.0, "ending": "path completed", "statuses": {"solved": 1}},
    "series": {"t_s": [1e-4], "x_mm": [0.0], "y_mm": [0.0], "power_w": [10.0], "t_true_k": [780.0]},
}
PATIENCE_S = 60.0  # s


@dataclass
class Server:
    """`laserloop view` in a process of its own."""

    process: "subprocess.Popen[str]"
    address: str
    folder: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2].partition("/")[0])

    def ask(
        self, place: str, *, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Status and body of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, place, body=body, headers=named)
        answer = connection.getresponse()
        found = answer.status, answer.read()
        connection.close()
        return found

    def post(self, place: str, words: object) -> tuple[int, bytes]:
        """JSON there."""
        body = json.dumps(words).encode()
        return self.ask(place, method="POST", body=body, Content_Type="application/json")


@contextmanager
def serve(folder: Path, *more: str) -> Iterator[Server]:
    """Started, and ended by the same signal as with Ctrl-C."""
    command = [sys.executable, "-m", "laserloop", "view", str(folder), *more]
    command += [] if "--port" in more else ["--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            found = re.search(r"http://\S+", told)
            assert found, told + (process.stderr.read() if process.stderr else "")
            yield Server(process, found[0], folder)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(30)
        finally:
            process.kill()


def fill(folder: Path) -> Path:
    """Two runs, one with an awkward name."""
    for name in ("a.json", "Lauf Nr. 1 & §.json"):
        (folder / name).write_text(json.dumps(RECORD), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One live bench for all tests that do not harm it; its workers are warm after the first run."""
    with serve(fill(tmp_path_factory.mktemp("bench"))) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The first browser of this machine that starts; where none does, tests that look are skipped."""
    with sync_playwright() as playwright:
        for program in packages.find_browsers():
            with suppress(PlaywrightError):
                found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
                break
        else:
            lack("browser")
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose errors are the test's."""
    with open_page(browser) as found:
        yield found


@contextmanager
def open_page(browser: Browser, **options: Any) -> Iterator[Page]:
    context = browser.new_context(viewport=options.pop("viewport", {"width": 1280, "height": 900}), **options)
    found = context.new_page()
    troubles: list[str] = []
    found.on("pageerror", lambda error: troubles.append(str(error)))
    found.on("console", lambda said: troubles.append(said.text) if "Security Policy" in said.text else None)
    yield found
    context.close()
    assert not troubles


def until(page: Page, claim: str, seconds: float = PATIENCE_S) -> None:
    """Wait until a claim in JavaScript holds; the page's own policy forbids strings as scripts."""
    wait(lambda: bool(page.evaluate(claim)), claim, seconds)


def wait(claim: Callable[[], bool], words: str, seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, f"it never came true: {words}"
        time.sleep(0.03)
