"""Attacks on `laserloop view`: each is tried, counted and must be refused, with the server still answering.

`benchmarks/view.py` runs all of them in large; tests/live/test_attacks.py in small.
"""

import gzip
import io
import json
import os
import random
import socket
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

HERE = "127.0.0.1"
SECRETS = (b"root:", b"import ", b"[project]", b"SECRET")  # of files that nobody may fetch
STEPS = ("..", "%2e%2e", "%2E%2E", "..%00", "%252e%252e", "%c0%ae%c0%ae", "..;", ".%2e", "\\..", "..%5c")
TARGETS = ("etc/passwd", "etc%2fpasswd", "server.py", "live/server.py", "a.json", "proc/self/environ")
MOST_BAD = 50  # messages, after which the server hangs up
FOREIGN = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "[::1")


@dataclass(frozen=True)
class Outcome:
    """What came of an attack."""

    name: str
    tried: int
    passed: int  # of them that were not refused; 0 is good
    words: str  # what else there is to say


def ask(port: int, place: str = "/runs", *, method: str = "GET", body: Any = None, **headers: str) -> int:
    """The status of an answer."""
    connection = HTTPConnection(HERE, port, timeout=90)
    connection.request(method, place, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def answers(port: int) -> float:
    """Seconds that an honest question takes; fails if it is not answered."""
    began = time.perf_counter()
    assert ask(port) == 200
    return time.perf_counter() - began


def open_socket(port: int, **headers: str) -> AbstractContextManager[ClientConnection]:
    """A WebSocket as the page opens it."""
    named = {"Origin": f"http://{HERE}:{port}"} | {k.replace("_", "-"): v for k, v in headers.items()}
    return connect(
        f"ws://{HERE}:{port}/socket",
        additional_headers=named,
        compression=None,
        open_timeout=20,
        close_timeout=1,
    )


def send_raw(port: int, request: bytes) -> bytes:
    """Bytes as they are, and what comes back."""
    with socket.create_connection((HERE, port), timeout=20) as raw:
        raw.sendall(request)
        found = b""
        with suppress(OSError):
            while part := raw.recv(65536):
                found += part
    return found


def traverse(port: int) -> Outcome:
    """Ways out of the folder, plain and encoded."""
    places = [
        f"{start}{'/'.join([step] * depth)}/{target}"
        for start in ("/", "/runs/", "/planned/", "/live/", "//")
        for step in STEPS
        for depth in (1, 3, 8)
        for target in TARGETS
    ]
    passed = 0
    for place in places:
        told = send_raw(port, f"GET {place} HTTP/1.1\r\nHost: {HERE}\r\nConnection: close\r\n\r\n".encode())
        passed += told.startswith(b"HTTP/1.1 2") or any(secret in told for secret in SECRETS)
    return Outcome("traversal, plain and encoded", len(places), passed, "all 400 or 404")


def pretend(port: int) -> Outcome:
    """Foreign hosts and origins, over HTTP and WebSocket."""
    own, tried, passed = f"{HERE}:{port}", 0, 0
    for host in FOREIGN:
        tried += 1
        told = send_raw(port, f"GET /runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        passed += told.startswith(b"HTTP/1.1 2")
    for origin in ("http://evil.example", "null", f"https://{own}.evil.example", f"http://{HERE}:1"):
        tried += 2
        order: dict[str, Any] = {"method": "POST", "body": b"{}", "Content_Type": "application/json"}
        passed += ask(port, "/look", Host=own, Origin=origin, **order) != 403
        with suppress(InvalidHandshake), open_socket(port, Origin=origin):
            passed += 1
    return Outcome("foreign Host and Origin", tried, passed, "HTTP and WebSocket, all 403 or 400")


def upload(port: int, most: int) -> Outcome:
    """More than is taken: announced, and without an end."""
    head = f"POST /files?name=a.csv HTTP/1.1\r\nHost: {HERE}\r\n".encode()
    piece, passed, sent = b"0" * 65536, 0, 0
    for more in (b"Content-Length: 9999999999\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"):
        with socket.create_connection((HERE, port), timeout=20) as raw:
            raw.sendall(head + more)
            told = b""
            with suppress(OSError):
                for _ in range(most // len(piece)):
                    raw.sendall(piece if more[:1] == b"C" else b"10000\r\n" + piece + b"\r\n")
                    sent += len(piece)
            with suppress(OSError):
                raw.settimeout(3)
                told = raw.recv(4096)
            passed += told.startswith(b"HTTP/1.1 2")
    return Outcome("oversized and endless upload", 2, passed, f"hung up after {sent / 2e6:.0f} MB each")


def bomb(port: int, megabytes: int) -> Outcome:
    """Archives that would fill the memory of who unpacks them."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as file:
        for _ in range(megabytes):
            file.write(bytes(1_000_000))
    passed, squeezed = 0, gzip.compress(bytes(1_000_000 * min(megabytes, 100)))
    for name in ("bomb.csv", "bomb.gcode", "bomb.zip", "bomb"):
        connection = HTTPConnection(HERE, port, timeout=90)
        connection.request("POST", f"/files?name={name}", body=zipped.getvalue())
        key = json.loads(connection.getresponse().read())["file"]
        connection.close()
        order = json.dumps({"path": {"file": key}}).encode()
        passed += ask(port, "/look", method="POST", body=order, Content_Type="application/json") != 400
    passed += ask(port, "/files?name=a.csv", method="POST", body=squeezed, Content_Encoding="gzip") != 400
    return Outcome(
        "zip bomb", 5, passed, f"{megabytes} MB in {len(zipped.getvalue()) / 1e3:.0f} kB, never unpacked"
    )


def dawdle(port: int, count: int, seconds: float) -> Outcome:
    """Clients that send their request a byte at a time, and some that never take their answer."""
    slow = [socket.create_connection((HERE, port), timeout=20) for _ in range(count)]
    slowest, end = 0.0, time.monotonic() + seconds
    for k, raw in enumerate(slow):
        with suppress(OSError):
            raw.sendall(b"GET /runs HTTP/1.1\r\nHost: " if k % 2 else b"POST /files HTTP/1.1\r\nContent-Le")
    while time.monotonic() < end:
        for raw in slow:
            with suppress(OSError):
                raw.sendall(b"x")
        slowest = max(slowest, answers(port))
        time.sleep(0.2)
    alive = 0
    for raw in slow:
        raw.settimeout(0.05)
        try:
            alive += raw.recv(1) != b""
        except TimeoutError:
            alive += 1
        except OSError:
            pass
        raw.close()
    words = f"all hung up on within {seconds:.0f} s; honest questions took {slowest:.2f} s at most meanwhile"
    return Outcome("slow clients", count, alive, words)


def crowd(port: int, count: int, most: int) -> Outcome:
    """More WebSockets than are served."""
    accepted = 0
    with ExitStack() as opened:
        for _ in range(count):
            with suppress(InvalidHandshake, OSError, ConnectionClosed):
                opened.enter_context(open_socket(port))
                accepted += 1
        took = answers(port)
    words = f"{accepted} accepted, the others turned away; an honest question took {took:.2f} s meanwhile"
    return Outcome(f"{count} sockets", count, max(0, accepted - most), words)


def babble(port: int, count: int, threads: int = 4) -> Outcome:
    """Messages that mean nothing, or something hostile; every one is read, and enough of them end the talk."""
    with ThreadPoolExecutor(threads) as pool:
        each = -(-count // threads)
        told = list(pool.map(lambda seed: babble_alone(port, each, seed), range(threads)))
    sent, passed, talks = (sum(column) for column in zip(*told, strict=True))
    words = f"over {talks} connections, each closed by the server after {MOST_BAD} bad ones"
    return Outcome("malformed WebSocket messages", sent, passed, words)


def babble_alone(port: int, count: int, seed: int) -> tuple[int, int, int]:
    """Messages sent, messages that started a run, and connections."""
    rng, sent, passed, talks = random.Random(seed), 0, 0, 0
    while sent < count:
        talks += 1
        assert talks <= 20 + count // 10, "the server takes no more connections"
        with suppress(InvalidHandshake, OSError), open_socket(port) as talk, suppress(ConnectionClosed):
            for _ in range(MOST_BAD):
                talk.send(make_bad(rng))
                sent += 1
            while True:
                passed += '"started"' in str(talk.recv(timeout=60))
    return sent, passed, talks


def make_bad(rng: random.Random) -> str | bytes:
    """One message that no page would send."""
    makers: list[Callable[[], str | bytes]] = [
        lambda: rng.randbytes(rng.randrange(200)),
        lambda: "".join(chr(rng.randrange(32, 0x2FFF)) for _ in range(rng.randrange(80))),
        lambda: "[" * rng.randrange(1, 30_000),
        lambda: json.dumps(
            {"do": rng.choice(["start", "watch", "change", "step", "pause", "__class__", ""])}
        ),
        lambda: json.dumps({"do": "start", "order": rng.choice(HOSTILE_ORDERS)}),
        lambda: json.dumps({"do": "change", "run": "x" * rng.randrange(999), "window_k": [1e999, "a"]}),
        lambda: json.dumps({"do": "watch", "runs": [rng.random()] * rng.randrange(5, 9)}),
    ]
    return rng.choice(makers)()


def list_hostile(port: int, files: int) -> Outcome:
    """What is shown of a hostile folder."""
    connection = HTTPConnection(HERE, port, timeout=90)
    connection.request("GET", "/runs")
    body = connection.getresponse().read()
    connection.close()
    shown = len(json.loads(body)["runs"]) + any(secret in body for secret in SECRETS)
    words = "20 GB, pipes, links to / and 200,000 brackets among them; none is taken for a run"
    return Outcome("a folder full of hostile files", files, shown, words)


HOSTILE_ORDERS: list[Any] = [
    None,
    [],
    {"path": "../../etc/passwd", "controllers": []},
    {"controllers": ["twin"] * 99},
    {"controllers": [1]},
    {"controllers": {"a": 1}},
    {"path": {"file": "../../etc/passwd"}, "controllers": [None]},
]


def fill_hostile(folder: Path, count: int) -> int:
    """A folder that was made to hurt; how many files it has."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "outside.json").write_text('{"power_w": "SECRET"}')
    contents: list[bytes] = [
        b"",
        b"{",
        b'{"power_w": ' + b"[" * 200_000,
        b'{"power_w": ' + b"9" * 100_000 + b"}",
        b'{"power_w": 1e999, "series": {}}',
        b'{"series": {"power_w": [1], "t_s": [1], "x_mm": [1], "y_mm": [1], "t_true_k": [NaN]}}',
        b"\xff\xfe\x00" * 1000,
        json.dumps({"power_w": [1.0] * 50_000, "path": "<img src=x onerror=alert(1)>"}).encode(),
        json.dumps({"path": "x" * 100_000, "power_w": 1, "series": {"t_s": "abc"}}).encode(),
    ]
    for k in range(count):
        (folder / f"{k:06d}.json").write_bytes(contents[k % len(contents)])
    for name in (b"a\nb.json", b"\xff\xfe.json", "<script>alert(1)</script>.json".replace("/", "∕").encode()):
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_bytes(contents[-1])
    (folder / "link.json").symlink_to(folder.parent / "outside.json")
    (folder / "passwd.json").symlink_to("/etc/passwd")
    (folder / "root").symlink_to("/")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.json")
    with (folder / "huge.json").open("wb") as huge:
        huge.truncate(20_000_000_000)  # sparse
    return count + 9


def read_memory(pid: int) -> float:
    """What a process and its children hold, MB; 0 where nobody tells."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            if pid in (int(status.parent.name), int(lines["PPid"])):
                total += int(lines.get("VmRSS", "0 kB").split()[0])
    return total / 1e3
