"""What a page is told stays what it was: the form, a folder of stored runs, and every message of a worker.

`python -m tests.live.test_pins` writes the pins anew.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.pinned import differences, plain, read_pin, write_pins

from laserloop.live import telemetry
from laserloop.live.jobs import serve
from laserloop.live.server import open_server
from laserloop.live.telemetry import FrameBuffer, pack, unpack
from laserloop.process import Process, find_process

PINS = Path(__file__).with_name("pins.json")
CLOCKS = {"solve_ms", "tick_ms", "version"}
Words = dict[str, Any]


def make_record(ticks: int = 4, **changes: Any) -> Words:
    """A closed loop as `control --json` writes it."""
    k = np.arange(ticks)
    series: Words = {
        "t_s": (125e-6 * (k + 1)).tolist(),
        "x_mm": (0.038 * k).tolist(),
        "y_mm": [0.0] * ticks,
        "lit": [True] * ticks,
        "power_w": (10.0 + k % 3).tolist(),
        "t_true_k": (700.0 + 40.0 * (k % 4)).tolist(),
        "t_predicted_k": [None, *(779.0 + k[1:] % 5)],
        "t_measured_k": [None, *(781.5 - k[1:] % 5)],
        "tick_ms": [0.1] * ticks,
        "counts_above": [True] * ticks,
        "counts_below": (k > 1).tolist(),
    }
    record = {
        **{"path": "parts/diagonal", "controller": "twin", "plant": "graded", "reading": "peak"},
        **{"ticks": ticks, "settled_from": 0, "t_max_k": 820.0, "n_over": 1, "overshoot_k": 20.0},
        **{"below_fraction": 0.25, "power_mean_w": 10.75, "ending": "path completed", "model": None},
        **{"statuses": {"solved": ticks - 1, "no image": 1}, "delta_k": 2.5, "delta_below_k": 1.5},
        **{"window_k": [760.0, 800.0], "seed": 3, "process": Process().to_json()},
        **{"notes": ["the margins follow what the camera sees"], "series": series},
    }
    return record | changes


def keep(folder: Path) -> None:
    """Runs of every kind that the page lists, and a few files that it does not."""
    noisy = find_process("paper").change(noise_k=5.0, delay_ticks=2).to_json()
    steered = make_record(ticks=6)
    steered["series"]["absorbed"] = [1.0, 1.0, 0.8, 0.8, 0.8, 0.8]
    steered["series"]["window_low_k"] = [760.0] * 3 + [700.0] * 3
    steered["series"]["window_high_k"] = [800.0] * 3 + [740.0] * 3
    older = make_record(settled_from=2, controller="realtime", model="models/paper-corner", plant="paper")
    for column in ("counts_above", "counts_below", "lit"):
        del older["series"][column]
    given = {"path": "spiral", "plant": "graded", **make_record()["series"], "notes": ["given"]}
    given |= {"t_max_k": [700.0] * 4, "t_peak_k": [701.0] * 4}
    task: Words = {"task": "arc-304-off-v1:30000", "label": "twin"}
    records = {
        "a.json": make_record(),
        "b.json": make_record(process=noisy),
        "c.json": make_record(process=noisy, mismatch={"absorptivity": 0.9}),
        "deep/steered.json": steered,
        "deep/older.json": older,
        "kept.json": {"label": "a run of mine"} | make_record(ticks=5, ending="stopped by hand"),
        "long.json": make_record(ticks=900, controller="pi", delta_k=None),
        "given.json": given,
        "process.json": Process().to_json(),
    }
    for name, record in records.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(record), encoding="utf-8")
    for name, record in (("1", make_record(ticks=900, **task)), ("2", make_record(**task | {"label": "pi"}))):
        (folder / "arena" / name).mkdir(parents=True)
        (folder / "arena" / name / "result.json").write_text(json.dumps(record, indent=1, sort_keys=True))
    (folder / "cut.json").write_text(json.dumps(make_record(ticks=300))[:-300])
    film = FrameBuffer()
    for k in range(5):
        words = {"run": "x", "k": k, "low_k": 300.0, "high_k": 900.0, "reach": 16.0, "kind": "frame"}
        film.add(k, pack(words, {"image": np.full((2, 2), k, np.uint8), "fan": np.zeros(1, np.float32)}))
    (folder / "kept.film").write_bytes(film.write())
    for file in folder.rglob("*.json"):
        os.utime(file, (1e9, 1e9))


@contextmanager
def ask(folder: Path) -> Iterator[Callable[[str], bytes]]:
    """What a server answers about a folder."""
    with open_server(folder, 0) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()

        def get(place: str) -> bytes:
            connection = HTTPConnection("127.0.0.1", urlsplit(server.address).port, timeout=60)
            connection.request("GET", place)
            answer = connection.getresponse()
            assert answer.status == 200
            body = answer.read()
            connection.close()
            return body

        try:
            yield get
        finally:
            server.shutdown()
            thread.join(30)


def tell_folder(folder: Path) -> Words:
    """All that a page can ask of a folder with runs."""
    keep(folder)
    with ask(folder) as get:
        listed = json.loads(get("/runs"))
        del listed["folder"]
        opened = {run["file"]: json.loads(get(f"/runs/{run['id']}")) for run in listed["runs"]}
        for run in opened.values():
            run["series"] = {name: column[:10] for name, column in run["series"].items()}
        kept = opened["kept.json"]["id"]
        frames = [unpack(get(f"/runs/{kept}/frames/{k}"))[0] for k in (0, 3, 99)]
        return {"form": json.loads(get("/bench")), "list": listed, "runs": opened, "frames": frames}


def tell_job(job: Words, answer: Callable[[Words, int], list[Words]] = lambda *_: []) -> list[Any]:
    """The messages of a job, less what a clock said; `answer` sends commands."""
    commands: SimpleQueue[Words] = SimpleQueue()
    commands.put(job)
    told: list[Any] = []

    def send(message: bytes) -> None:
        words, arrays = unpack(message)
        over = words["kind"] in ("done", "stopped", "refused", "looked", "described")
        for command in [{"do": "leave"}] if over else answer(words, len(told)):
            commands.put(command)
        told.append(reduce(words, arrays))

    serve(commands, send)
    return told


def reduce(words: Words, arrays: dict[str, Any]) -> Any:
    """A message without clocks, its images thinned out."""
    words = {key: value for key, value in words.items() if key not in ("process", "left_s")}
    shown = {name: array[::12, ::12] if name == "image" else array for name, array in arrays.items()}
    if "rows" in shown:
        shown["rows"] = np.delete(shown["rows"], 5, axis=1)  # tick_ms
    if "record" in shown:
        record = json.loads(shown["record"].tobytes())
        record["series"] = {name: part for name, part in record["series"].items() if name not in CLOCKS}
        shown["record"] = {name: part for name, part in record.items() if name not in CLOCKS}
    kinds = {name: [str(array.dtype), list(array.shape)] for name, array in arrays.items()}
    kinds.pop("record", None)
    return plain([words, kinds, shown])


def steer(words: Words, count: int) -> list[Words]:
    """A pause after the first tick, two steps, two changes, and on to the end."""
    if words["kind"] == "began":
        return [{"do": "pause"}]
    if words.get("state") == "paused" and count < 4:
        return [{"do": "step", "ticks": 2}]
    if words.get("state") == "paused":
        changes: list[Words] = [
            {"do": "change", "absorbed": 0.9, "window_k": [700.0, 740.0]},
            {"do": "resume"},
        ]
        return [{"do": "change", "absorbed": 1e3}, *changes]
    return []


JOBS: dict[str, tuple[Words, Callable[[Words, int], list[Words]]]] = {
    "twin": ({"job": "run", "order": {"path": "diagonal", "ticks": 6}, "controller": "twin"}, steer),
    "pi": (
        {
            "job": "run",
            "order": {"path": "diagonal", "ticks": 3, "absorptivity_error": 0.9},
            "controller": "pi",
        },
        lambda *_: [],
    ),
    "look": ({"job": "look", "order": {"path": "raster:3", "ticks": 9}}, lambda *_: []),
    "describe": ({"job": "describe", "order": {"process": "ti64"}}, lambda *_: []),
    "network": ({"job": "run", "order": {"path": "diagonal"}, "controller": "realtime"}, lambda *_: []),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_worker_says_what_it_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "PERIOD", 0.0)  # every tick in a message of its own
    assert differences(tell_job(*JOBS[name]), read_pin(PINS, name)) == []


def test_a_page_is_told_of_stored_runs_what_it_was(tmp_path: Path) -> None:
    told = json.loads(json.dumps(plain(tell_folder(tmp_path))))
    for name, part in told.items():
        assert differences(part, read_pin(PINS, f"folder, {name}")) == []


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    telemetry.PERIOD = 0.0
    with TemporaryDirectory() as scratch:
        pins = {f"folder, {name}": part for name, part in tell_folder(Path(scratch)).items()}
    write_pins(PINS, pins | {name: tell_job(*job) for name, job in JOBS.items()})
