"""The server: what it answers, whom it refuses, and the verb around it."""

import json
import re
import socket
import struct
from collections.abc import Iterator
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest
from tests.live.conftest import RECORD, Server, fill, serve

from laserloop.bad_input import BadInput
from laserloop.cli import main
from laserloop.live.server import open_server

SAFE = {
    "content-security-policy": "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that answers, in a thread."""
    with open_server(fill(tmp_path), 0) as found:
        thread = Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield Server(None, found.address, tmp_path)  # type: ignore[arg-type]
        found.shutdown()
        thread.join(30)
        assert not thread.is_alive()


def test_the_page_and_its_runs(server: Server) -> None:
    status, page = server.ask("/")
    assert (status, page[:15]) == (200, b"<!DOCTYPE html>")
    told = json.loads(server.ask("/runs")[1])
    assert [run["file"] for run in told["runs"]] == ["Lauf Nr. 1 & §.json", "a.json"]
    status, run = server.ask(f"/runs/{told['runs'][0]['id']}")
    assert (status, json.loads(run)["series"]["t_k"]) == (200, [780.0])
    assert server.ask(f"/{told['runs'][0]['id']}")[0] == 404
    for name in ("a", told["runs"][0]["id"]):
        for tick in ("0", "-1", "²", 9000 * "9"):
            assert server.ask(f"/runs/{name}/frames/{quote(tick)}")[0] == 404


@pytest.mark.parametrize(
    "place",
    [
        *(
            "/runs/../a.json",
            "/runs//etc/passwd",
            "/a.json",
            "/runs/%2e%2e/x",
            "/favicon.ico",
            "/page/style.css",
        ),
        *(
            "/../style.css",
            "/..%2fserver.py",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/..\\..\\a",
            "/style.css/",
            "/\0",
        ),
    ],
)
def test_nothing_else_is_served(bench: Server, place: str) -> None:
    with socket.create_connection(("127.0.0.1", bench.port)) as raw:  # clients tidy addresses up
        raw.sendall(f"GET {place} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert re.match(rb"HTTP/1.1 40[04]", raw.recv(12))


def test_it_changes_nothing_that_it_shows(server: Server) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert server.ask("/runs", method=method)[0] in (405, 501)


def test_every_answer_is_safe_and_tells_no_version(server: Server) -> None:
    for place, host in (("/", "localhost"), ("/runs", "localhost"), ("/nowhere", "localhost"), ("/", "evil")):
        connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", place, headers={"Host": host})
        answer = connection.getresponse()
        answer.read()
        for name, value in SAFE.items():
            assert value in (answer.headers[name] or ""), (place, name)
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["server"] is None
        connection.close()


def test_scripts_of_other_sites_are_refused(server: Server) -> None:
    port = server.port
    for name in (f"evil.example:{port}", "localhost.evil.example", "", "[::1", "10.0.0.7"):
        assert server.ask("/runs", Host=name)[0] in (400, 403), name
    for name in (f"localhost:{port}", "LOCALHOST", "127.0.0.1", "localhost:80", "[::1]", f"[::1]:{port}"):
        assert server.ask("/runs", Host=name)[0] == 200, name
    own = f"localhost:{port}"
    for origin, status in (
        (f"http://{own}", 200),
        ("http://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
    ):
        assert server.ask("/runs", Host=own, Origin=origin)[0] == status


def test_who_knows_the_list_is_not_told_again(server: Server) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/runs")
    answer = connection.getresponse()
    tag = answer.headers["ETag"]
    assert len(answer.read()) > 0
    connection.close()
    assert server.ask("/runs", If_None_Match=tag) == (304, b"")
    assert server.ask("/runs", If_None_Match='"other"')[0] == 200


def test_odd_questions_get_an_answer_and_no_traceback(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    here = ("127.0.0.1", server.port)
    with socket.create_connection(here) as brief:
        brief.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with brief.makefile("rb") as answer:
            told = answer.read()
    assert told.startswith(b"HTTP/1.1 200")
    assert told.endswith(b"\r\n\r\n")  # no body
    with socket.create_connection(here) as odd:
        odd.sendall(b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert odd.recv(10) == b"HTTP/1.1 4"
    with socket.create_connection(here) as rude:
        rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # hang up at once
        rude.sendall(b"GET /runs HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert server.ask("/runs")[0] == 200
    assert capfd.readouterr().err == ""


def test_elsewhere_only_who_has_the_token_is_served(tmp_path: Path) -> None:
    with serve(fill(tmp_path), "--host", "0.0.0.0") as server:
        token = server.address.rpartition("=")[2]
        assert len(token) >= 32
        place = Server(
            server.process, f"http://127.0.0.1:{server.address.split(':')[2].split('/')[0]}/", tmp_path
        )
        assert place.ask("/")[0] == 403
        assert place.ask("/?token=guess")[0] == 403
        assert place.ask("/runs", Cookie="laserloop_token=guess")[0] == 403
        assert place.ask(f"/?token={token}")[0] == 200
        assert place.ask("/runs", Cookie=f"laserloop_token={token}")[0] == 200
        assert place.ask("/runs", Cookie=f"laserloop_token={token}", Host="evil.example")[0] == 403


def test_the_page_works_offline_and_writes_text_only() -> None:
    for file in files("laserloop.live").joinpath("page").iterdir():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|//cdn|@import", text), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), (
            file.name
        )
        assert not re.search(r"<script>|\son\w+=|style=", text) or file.name.endswith(".js"), file.name


def test_every_script_is_fetched_with_the_page() -> None:
    page = files("laserloop.live").joinpath("page")
    scripts = {file.name for file in page.iterdir() if file.name.endswith(".js")}
    assert set(re.findall(r'(?:src|href)="(\w+\.js)"', page.joinpath("index.html").read_text())) == scripts


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(RECORD), encoding="utf-8")
    with pytest.raises(BadInput, match="must be a folder"), open_server(tmp_path / "a.json", 0):
        pass


def test_a_folder_that_is_not_there_must_be_one_that_could_be(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    with (
        pytest.raises(BadInput, match="cannot be made: name another"),
        open_server(tmp_path / "a.json" / "runs", 0),
    ):
        pass
    with open_server(tmp_path / "new" / "runs", 0):
        assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_a_port_in_use_is_refused(bench: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(bench.folder), "--port", str(bench.port)]) == 2
    assert "--port must be free" in capsys.readouterr().err


def test_ctrl_c_ends_it_in_peace(tmp_path: Path) -> None:
    with serve(fill(tmp_path)) as server:
        pass
    assert server.process.returncode == 0
    assert server.process.stdout is not None
    assert server.process.stderr is not None
