"""The worker: a job's messages in their order, commands between ticks, and jobs that fail."""

import json
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from tests.conftest import need

from laserloop.control.simple import find_gains
from laserloop.live import jobs as room
from laserloop.live.jobs import serve
from laserloop.live.live_run import LiveRun
from laserloop.live.telemetry import unpack
from laserloop.loop import tune as loop_tune
from laserloop.process import find_process

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
    return [LEAVE] if words["kind"] in ("done", "stopped", "refused", "planned") else []


def test_a_run_is_told_from_its_beginning_to_its_record() -> None:
    talk = Talk(job(), react=leave_when_over)
    kinds = talk.hold()
    assert (kinds[0], kinds[-1]) == ("began", "done")
    head, arrays = talk.messages[0]
    assert (head["ticks"], len(arrays["x_mm"])) == (12, 12)
    rows = np.concatenate([found["rows"] for words, found in talk.messages if words["kind"] == "ticks"])
    record = json.loads(talk.messages[-1][1]["record"].tobytes())
    column = {name: rows[:, k] for k, name in enumerate(head["columns"])}
    pairs = [("t_k", "t_true_k"), ("power_w", "power_w"), ("predicted_k", "t_predicted_k")]
    for name, other in [*pairs, ("below", "counts_below")]:
        assert np.allclose(column[name], np.array(record["series"][other], float), rtol=1e-6), name
    assert arrays["above"].astype(bool).tolist() == record["series"]["counts_above"] == [True] * 12
    assert 0 < column["below"].sum() < 12
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
    told = [words["text"] for words, _ in talk.messages if words["kind"] in ("note", "answer")]
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

    monkeypatch.setattr(room, "do_job", fail)
    talk = Talk(job(), LEAVE)
    assert talk.hold() == ["refused"]
    assert "must fit into memory" in talk.messages[0][0]["text"]


def test_a_file_is_planned_in_its_own_format(tmp_path: Path) -> None:
    need("cc")
    part, out = tmp_path / "a.gcode", tmp_path / "out.gcode"
    part.write_text("G21 G90\nG0 X-0.5 Y0\nM3 S10\nG1 X0.5 Y0 F18240\nM5\n")
    planning = {"job": "plan", "order": {"path": {"file": "a"}}, "out": str(out)}
    talk = Talk(planning | {"files": {"a": ["my.gcode", str(part)]}}, LEAVE)
    assert talk.hold() == ["planned"]
    head, way = out.read_text().split("\n", 1)
    assert head.startswith("; laserloop plan: powers are absorbed")
    assert way.startswith("G21 G90\nG0 X-0.5 Y0\n")
    assert 760.0 < talk.messages[0][0]["t_max_k"] < 800.0


OWN = {"path": "diagonal", "ticks": 3, "changes": {"window_k": [770, 805]}}  # no gains ship for this window


def follow(talk: Talk) -> LiveRun:
    """The run as the server knows it after a talk."""
    run = LiveRun("a", "pi", {})
    for words, arrays in talk.messages:
        run.on_message(words, arrays)
    return run


@pytest.fixture
def short_tuning(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A tuning of four tries that finds what ships for the usual window; the tries that began."""
    tried: list[int] = []
    gains = find_gains("graded", find_process("paper"))

    def tune_for(*_: Any, names: tuple[str, ...], progress: Callable[[int, int], None]) -> Any:
        assert names == ("pi",)  # only what was asked for
        for k in range(1, 5):
            progress(k, 4)
            tried.append(k)
        return gains

    monkeypatch.setattr(loop_tune, "tune_for", tune_for)
    return tried


def test_a_tuning_is_told_try_by_try_before_the_first_tick(short_tuning: list[int]) -> None:
    seen: list[Words] = []

    def react(words: Words) -> list[Words]:
        seen.extend([words] if words["kind"] in ("state", "ticks") else [])
        return leave_when_over(words)

    talk = Talk(job(order=OWN, controller="pi"), react=react)
    talk.hold()
    assert [words.get("state") for words in seen[:5]] == [*4 * ["tuning"], None]
    assert [words["tuned"]["try"] for words in seen[:4]] == [1, 2, 3, 4]
    assert {words["tuned"]["most"] for words in seen[:4]} == {4}
    assert ["left_s" in words["tuned"] for words in seen[:4]] == [False, False, True, True]
    run = follow(talk)
    assert (run.state, run.tuned, run.count) == ("done", {}, 3)
    assert run.notes == ["no gains ship for this plant and process, so they were tuned before the first tick"]


def test_a_tuning_is_paused_resumed_and_stopped_by_hand(short_tuning: list[int]) -> None:
    answers = iter([[{"do": "pause"}], [{"do": "resume"}], [], [{"do": "stop"}], []])
    states = []

    def react(words: Words) -> list[Words]:
        if words["kind"] == "state":
            states.append(words["state"])
            return next(answers)
        return leave_when_over(words)

    talk = Talk(job(order=OWN, controller="pi"), react=react)
    talk.hold()
    assert states == ["tuning", "paused", "tuning", "tuning"]
    assert short_tuning == [1]
    run = follow(talk)
    assert (run.state, run.ending) == ("stopped", "stopped by hand before the first tick")


def test_a_change_of_absorptivity_on_the_way_is_in_the_record() -> None:
    def react(words: Words) -> list[Words]:
        if words["kind"] == "began":
            return [{"do": "step", "ticks": 1}, {"do": "change", "absorbed": 0.8}, {"do": "step", "ticks": 2}]
        if words["kind"] == "state" and words["state"] == "paused":
            return [{"do": "change", "absorbed": 1.0}, {"do": "resume"}]
        return leave_when_over(words)

    talk = Talk(job(6), react=react)
    talk.hold()
    last, arrays = talk.messages[-1]
    record = json.loads(arrays["record"].tobytes())
    absorbed = record["series"]["absorbed"]
    assert absorbed == [1.0, 0.8, 0.8, 1.0, 1.0, 1.0]
    note = (
        "the plate's absorptivity was changed by hand to 80 % of the start at tick 2, to 100 % of the start "
        "at tick 4"
    )
    assert note in record["notes"]
    assert note in last["notes"]
    unchanged = Talk(job(3), react=leave_when_over)
    unchanged.hold()
    assert "absorbed" not in json.loads(unchanged.messages[-1][1]["record"].tobytes())["series"]


def test_a_change_that_cannot_be_made_is_answered_until_one_can() -> None:
    def react(words: Words) -> list[Words]:
        wrong = {"do": "change", "absorbed": 1e3}
        return [wrong] if words["kind"] == "began" else leave_when_over(words)

    talk = Talk(job(3), react=react)
    talk.hold()
    run = follow(talk)
    assert "absorptivity may change by a factor of" in run.answer
    assert run.notes == []
    run.on_message({"kind": "answer", "text": ""}, {})
    assert run.tell()["answer"] == ""


def test_a_network_for_something_else_is_refused_with_what_the_page_can_choose() -> None:
    talk = Talk(job(controller="realtime"), react=leave_when_over)
    assert talk.hold() == ["refused"]
    text = talk.messages[0][0]["text"]
    assert text.endswith(
        "choose Plant paper (coarse), under Noise, delay, absorptivity error, or the physics twin"
    )
    assert "trained on the paper plant, not on graded" in text
    assert "--" not in text
    cured = job(3, controller="realtime")
    cured["order"] |= {"plant": "paper", "ticks": 3}
    talk = Talk(cured, react=leave_when_over)
    assert talk.hold()[-1] == "done"
    cured["order"] |= {"changes": {"window_k": [1760, 1800]}}  # the plant alone would not do
    talk = Talk(cured, react=leave_when_over)
    assert talk.hold() == ["refused"]
    assert "choose the physics twin, or the process paper as it is" in talk.messages[0][0]["text"]


def test_the_s_of_full_power_scales_a_file(tmp_path: Path) -> None:
    need("cc")
    part, out = tmp_path / "a.gcode", tmp_path / "out.gcode"
    part.write_text("G21 G90\nG0 X-0.5 Y0\nM3 S300\nG1 X0.5 Y0 F18240\nM5\n")
    files = {"a": ["my.gcode", str(part)]}
    looking = {"job": "look", "order": {"path": {"file": "a"}}, "files": files}
    scaled = {"path": {"file": "a"}, "s_max": 1000}
    planning = {"job": "plan", "order": scaled, "files": files, "out": str(out)}
    talk = Talk(looking, looking | {"order": scaled}, planning, LEAVE)
    assert talk.hold() == ["looked", "looked", "planned"]
    assert "S is taken as W" in talk.messages[0][0]["notes"][0]
    assert talk.messages[1][0]["notes"] == []
    assert "S5" in out.read_text()  # some 11 W of 20 W
