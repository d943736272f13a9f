"""The server: its three answers, whom it refuses, and the verb around it."""

import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from threading import Thread

import pytest

from laserloop.bad_input import BadInput
from laserloop.cli import main
from laserloop.viewer.server import HOST, Viewer, open_viewer

RECORD = {
    **{"path": "diagonal", "controller": "pi", "plant": "paper", "model": None, "delta_k": None},
    **{"window_k": [760.0, 800.0], "settled_from": 0, "n_over": 0, "overshoot_k": 0.0},
    **{"below_fraction": 0.0, "power_mean_w": 10.0, "ending": "path completed", "statuses": {"solved": 1}},
    "series": {"t_s": [1e-4], "x_mm": [0.0], "y_mm": [0.0], "power_w": [10.0], "t_true_k": [780.0]},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs, one with an awkward name."""
    for name in ("a.json", "Lauf Nr. 1 & §.json"):
        (tmp_path / name).write_text(json.dumps(RECORD), encoding="utf-8")
    return tmp_path


@pytest.fixture
def viewer(folder: Path) -> Iterator[Viewer]:
    """A server that answers."""
    with open_viewer(folder, 0) as found:
        thread = Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def ask(viewer: Viewer, place: str, *, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """Status and body of an answer."""
    connection = HTTPConnection(HOST, int(viewer.server_address[1]), timeout=20)
    connection.request(
        method, place, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_the_page_and_its_runs(viewer: Viewer, folder: Path) -> None:
    status, page = ask(viewer, "/")
    assert (status, page[:15]) == (200, b"<!DOCTYPE html>")
    told = json.loads(ask(viewer, "/runs")[1])
    assert [run["file"] for run in told["runs"]] == ["Lauf Nr. 1 & §.json", "a.json"]
    status, run = ask(viewer, f"/runs/{told['runs'][0]['id']}")
    assert (status, json.loads(run)["series"]["t_k"]) == (200, [780.0])
    assert ask(viewer, f"/{told['runs'][0]['id']}")[0] == 404
    (folder / "b.json").write_text(json.dumps(RECORD), encoding="utf-8")
    assert len(json.loads(ask(viewer, "/runs")[1])["runs"]) == 3


@pytest.mark.parametrize(
    "place", ["/runs/../a.json", "/runs//etc/passwd", "/a.json", "/runs/%2e%2e/x", "/favicon.ico"]
)
def test_nothing_else_is_served(viewer: Viewer, place: str) -> None:
    assert ask(viewer, place)[0] == 404


def test_it_only_reads(viewer: Viewer) -> None:
    assert ask(viewer, "/runs", method="POST")[0] == 501
    assert ask(viewer, "/runs/a.json", method="DELETE")[0] == 501


def test_scripts_of_other_sites_are_refused(viewer: Viewer) -> None:
    port = viewer.server_address[1]
    assert ask(viewer, "/runs", Host=f"evil.example:{port}")[0] == 403
    assert ask(viewer, "/runs", Host="localhost.evil.example")[0] == 403
    for name in (f"localhost:{port}", "LOCALHOST", HOST, "localhost:80"):
        assert ask(viewer, "/runs", Host=name)[0] == 200


def test_who_knows_the_list_is_not_told_again(viewer: Viewer, folder: Path) -> None:
    connection = HTTPConnection(HOST, int(viewer.server_address[1]), timeout=20)
    connection.request("GET", "/runs")
    answer = connection.getresponse()
    tag = answer.headers["ETag"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert (len(answer.read()) > 0, ask(viewer, "/runs", If_None_Match=tag)) == (True, (304, b""))
    (folder / "a.json").unlink()
    assert ask(viewer, "/runs", If_None_Match=tag)[0] == 200
    connection.close()


def test_odd_questions_get_an_answer_and_no_traceback(
    viewer: Viewer, capfd: pytest.CaptureFixture[str]
) -> None:
    here = (HOST, int(viewer.server_address[1]))
    with socket.create_connection(here) as brief:
        brief.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with brief.makefile("rb") as answer:
            told = answer.read()
    assert told.startswith(b"HTTP/1.1 200")
    assert told.endswith(b"\r\n\r\n")  # no body
    with socket.create_connection(here) as odd:
        odd.sendall(b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert odd.recv(12) == b"HTTP/1.1 400"
    with socket.create_connection(here) as rude:
        rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # hang up at once
        rude.sendall(b"GET /runs HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert ask(viewer, "/runs")[0] == 200
    assert capfd.readouterr().err == ""


def test_it_listens_on_this_machine_only(viewer: Viewer) -> None:
    assert viewer.server_address[0] == "127.0.0.1"


def test_the_page_works_offline() -> None:
    page = files("laserloop.viewer").joinpath("page.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://|//cdn|@import", page)
    assert "innerHTML" not in page  # names of files and labels are text, whatever they say


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_shows_every_kind_of_run(
    viewer: Viewer, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    moving = {"t_s": [1e-4, 2e-4], "x_mm": [0.0, 0.1], "y_mm": [0.0, 0.0], "power_w": [10.0, 11.0]}
    other = RECORD | {"controller": "constant", "window_k": [860.0, 900.0], "n_over": 1, "overshoot_k": 5.5}
    other |= {"series": moving | {"t_true_k": [None, 905.5], "t_predicted_k": [880.0, None]}}
    (folder / "a.json").write_text(json.dumps(other), encoding="utf-8")
    (folder / "open.json").write_text(json.dumps(moving | {"t_max_k": [500.0, 600.0]}), encoding="utf-8")
    told = json.loads(ask(viewer, "/runs")[1])["runs"]
    for shown, said in (
        (told, ["780.0 K", "905.5 K", "600.0 K", "0.20 ms, tick 2 of 2"]),
        (told[1:2], ["905.5 K", "1 tick above, by up to 5.5 K"]),
        ([], ["780.0 K"]),  # what it proposes
    ):
        home = tmp_path_factory.mktemp("browser")
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home}"]
        address = f"{viewer.address}#{','.join(run['id'] for run in shown)}"
        more = ["--virtual-time-budget=2000", "--dump-dom", address]
        page = subprocess.check_output([*command, *more], stderr=subprocess.DEVNULL, text=True, timeout=120)
        assert "failed" not in page.partition("<script>")[0], page
        for words in said:
            assert words in page


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds none"), open_viewer(tmp_path, 0):
        pass
    with pytest.raises(BadInput, match="must be a folder"), open_viewer(tmp_path / "nowhere", 0):
        pass


def test_a_port_in_use_is_refused(viewer: Viewer, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(folder), "--port", str(viewer.server_address[1])]) == 2
    assert "--port must be free" in capsys.readouterr().err


def test_ctrl_c_ends_it_in_peace(folder: Path) -> None:
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # of a terminal
    code += "from laserloop.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "view", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert re.match(r"2 runs of .*http://127\.0\.0\.1:\d+/", process.stdout.readline())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (0, "Done.\n", "")
