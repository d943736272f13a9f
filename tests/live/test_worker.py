"""The worker: a job's messages in their order, commands between ticks, and jobs that fail."""

import json
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from laserloop.live import worker
from laserloop.live.message import unpack
from laserloop.live.worker import serve

Words = dict[str, Any]


class Talk:
    """Commands in, messages out; `react` sees each message and may answer with commands."""

    def __init__(self, *commands: Words, react: Callable[[Words], list[Words]] = lambda _: []) -> None:
        self.messages: list[tuple[Words, dict[str, Any]]] = []
        self.commands: SimpleQueue[Words] = SimpleQueue()
        self._react = react
        for command in commands:
            self.commands.put(command)

    def send(self, message: bytes) -> None:
        found = unpack(message)
        self.messages.append(found)
        for command in self._react(found[0]):
            self.commands.put(command)

    def hold(self) -> list[str]:
        serve(self.commands, self.send)
        return [words["kind"] for words, _ in self.messages]


LEAVE = {"do": "leave"}


def job(ticks: int = 12, **more: Any) -> Words:
    return {"job": "run", "order": {"path": "diagonal", "ticks": ticks}, "controller": "twin"} | more


def leave_when_over(words: Words) -> list[Words]:
    return [LEAVE] if words["kind"] in ("done", "refused", "planned") else []


def test_a_run_is_told_from_its_beginning_to_its_record() -> None:
    talk = Talk(job(), react=leave_when_over)
    kinds = talk.hold()
    assert (kinds[0], kinds[-1]) == ("began", "done")
    head, arrays = talk.messages[0]
    assert (head["ticks"], len(arrays["x_mm"])) == (12, 12)
    rows = np.concatenate([found["rows"] for words, found in talk.messages if words["kind"] == "ticks"])
    record = json.loads(talk.messages[-1][1]["record"].tobytes())
    column = {name: rows[:, k] for k, name in enumerate(head["columns"])}
    for name, other in (("t_k", "t_true_k"), ("power_w", "power_w"), ("predicted_k", "t_predicted_k")):
        assert np.allclose(column[name], np.array(record["series"][other], float), rtol=1e-6), name
    frame = next(found for words, found in talk.messages if words["kind"] == "ticks")
    assert frame["image"].shape == (97, 97)
    assert frame["image"].argmax() // 97 in range(38, 59)  # the heat is where the beam is: in the middle


def test_a_window_above_the_solidus_is_told_at_the_start_and_when_one_is_chosen_on_the_way() -> None:
    hot = {"path": "diagonal", "ticks": 12, "changes": {"window_k": [1650, 1700]}}

    def react(words: Words) -> list[Words]:
        changes = [{"do": "change", "window_k": window} for window in ([1800, 2500], [200, 250])]
        return changes if words["kind"] == "began" else leave_when_over(words)

    talk = Talk(job(order=hot), react=react)
    kinds = talk.hold()
    told = [words["text"] for words, _ in talk.messages if words["kind"] == "note"]
    assert kinds[0] == "began"
    assert any("1650 – 1700 K reaches above the solidus" in note for note in talk.messages[0][0]["notes"])
    assert sum("1800 – 2500 K lies above the solidus" in text for text in told) == 1
    assert sum("200 – 250 K is out of reach" in text for text in told) == 1
    last = np.concatenate([found["rows"] for words, found in talk.messages if words["kind"] == "ticks"])[-1]
    assert last[talk.messages[0][0]["columns"].index("window_low_k")] == 1800.0
    notes = talk.messages[-1][0]["notes"]
    assert sum("1650 – 1700 K reaches above the solidus" in note for note in notes) == 1


def test_a_window_below_ambient_is_refused() -> None:
    talk = Talk(job(order={"path": "diagonal", "changes": {"window_k": [200, 250]}}), react=leave_when_over)
    assert talk.hold()[-1] == "refused"
    assert "200 – 250 K is out of reach" in talk.messages[-1][0]["text"]


def test_a_paused_run_steps_and_stops() -> None:
    pauses = []

    def react(words: Words) -> list[Words]:
        if words["kind"] == "began":
            return [{"do": "pause"}]
        if words["kind"] == "state" and words["state"] == "paused":
            pauses.append(words)
            return [{"do": "step", "ticks": 2}] if len(pauses) < 3 else [{"do": "stop"}]
        return leave_when_over(words)

    talk = Talk(job(200), react=react)
    talk.hold()
    last, found = talk.messages[-1]
    assert (last["kind"], last["ending"]) == ("done", "stopped by hand")
    assert json.loads(found["record"].tobytes())["ticks"] == 1 + 2 + 2


def test_what_cannot_be_done_is_a_sentence_and_the_next_job_is_taken(tmp_path: Path) -> None:
    bad = tmp_path / "77.csv"
    bad.write_text("x_mm,y_mm\n0,0\n0,oops\n")
    order = {"path": {"file": "a"}}
    jobs = [
        {"do": "pause"},  # came too late for any run
        job(order=order, files={"a": ["part.csv", str(bad)]}),
        {"job": "look", "order": "nonsense"},
        {"job": "look", "order": {"path": "spiral"}},
        LEAVE,
    ]
    talk = Talk(*jobs)
    assert talk.hold() == ["refused", "refused", "looked"]
    assert "part.csv, line 3" in talk.messages[0][0]["text"]
    assert str(tmp_path) not in talk.messages[0][0]["text"]


def test_memory_that_runs_out_ends_a_job_only(monkeypatch: Any) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(worker, "do_job", fail)
    talk = Talk(job(), LEAVE)
    assert talk.hold() == ["refused"]
    assert "must fit into memory" in talk.messages[0][0]["text"]


def test_a_file_is_planned_in_its_own_format(tmp_path: Path) -> None:
    part, out = tmp_path / "a.gcode", tmp_path / "out.gcode"
    part.write_text("G21 G90\nG0 X-0.5 Y0\nM3 S10\nG1 X0.5 Y0 F18240\nM5\n")
    planning = {"job": "plan", "order": {"path": {"file": "a"}}, "out": str(out)}
    talk = Talk(planning | {"files": {"a": ["my.gcode", str(part)]}}, LEAVE)
    assert talk.hold() == ["planned"]
    assert out.read_text().startswith("G21 G90\nG0 X-0.5 Y0\n")
    assert 760.0 < talk.messages[0][0]["t_max_k"] < 800.0
