"""A run as the server knows it: what its worker has told so far."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laserloop.live.telemetry import FrameBuffer, Words, pack

MOST_NOTES = 20
ENDED = ("done", "stopped", "refused")
STOPPED = "stopped by hand"
SAID = {  # what a page does not have → what it has
    r"; laserloop calibrate --process finds them": "",
    r"; if 1000 is all power: --s-max 1000": "; if it is not, say which S is full power",
    r"say which number is full power if it is none of watts \(--s-max [^)]*\), or give the laser's own "
    r"\(--power-max-w\)": "say which S is full power if S is not in W, or give the laser's own power",
    r"no gains of \w+ ship for this plant and process, so they are tuned first: [\w ]+": (
        "no gains ship for this plant and process, so they were tuned before the first tick"
    ),
    r"a shorter --delay or a model of a longer horizon": "a shorter camera delay or the physics twin",
}
TABLE = {re.compile(was): said for was, said in SAID.items()}


@dataclass(slots=True, eq=False)
class LiveRun:
    """Grows while it computes."""

    name: str  # in addresses
    controller: str
    request: Words
    label: str = ""  # given by a person
    state: str = "starting"  # then tuning, running, paused, done, stopped or refused
    tuned: Words = field(default_factory=dict)  # how far its tuning is, while there is one
    held: bool = False  # was a pause asked for, taken or not yet?
    stopping: bool = False  # was a stop?
    answer: str = ""  # why the last change on the way was refused
    ending: str = ""
    head: bytes = b""  # the message that opens it
    about: Words = field(default_factory=dict)  # its words
    rows: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 1), np.float32))
    count: int = 0  # ticks so far
    frames: FrameBuffer = field(default_factory=FrameBuffer)
    newest: bytes = b""  # frame
    notes: list[str] = field(default_factory=list)
    record: bytes = b""  # JSON, when it has ended

    def on_message(self, words: Words, arrays: dict[str, NDArray[Any]]) -> None:
        """A message of the worker."""
        match words["kind"]:
            case "began":
                self.about = words
                self.head = pack(words | {"run": self.name}, arrays)
                self.rows = np.zeros((words["ticks"], len(words["columns"])), np.float32)
                self.state = "running"
                for note in words["notes"]:
                    self.note(note)
            case "ticks":
                self._grow(words, arrays)
            case "state":
                self.state = words["state"]
                self.tuned = words.get("tuned", self.tuned)
            case "answer":
                self.answer = say_on_page(words["text"])
            case "note":
                self.note(words["text"])
            case "done":
                self.ending, self.record = words["ending"], arrays["record"].tobytes()
                self.state = "stopped" if self.ending == STOPPED else "done"
                for note in words["notes"]:
                    self.note(note)
            case "stopped":
                self.state, self.ending = "stopped", words["ending"]
            case "gone" if self.stopping:  # it did not listen, so its worker was ended
                lost = " in mid-tick, so there is nothing to keep" if self.count else " before the first tick"
                self.state, self.ending = "stopped", STOPPED + lost
            case "refused" | "gone":
                self.state, self.ending = "refused", say_on_page(words["text"])

    def _grow(self, words: Words, arrays: dict[str, NDArray[Any]]) -> None:
        first, rows = words["first"], arrays["rows"]
        if self.tuned:
            self.tuned, self.state = {}, "running"
        self.rows[first : first + len(rows)] = rows
        self.count = first + len(rows)
        shown = {"run": self.name} | {key: words[key] for key in ("k", "low_k", "high_k", "reach")}
        self.newest = pack(shown | {"kind": "frame"}, {"image": arrays["image"], "fan": arrays["fan"]})
        self.frames.add(words["k"], self.newest)

    def note(self, text: str) -> None:
        """A sentence for people, once."""
        said = say_on_page(text)
        if said not in self.notes and len(self.notes) < MOST_NOTES:
            self.notes.append(said)

    @property
    def ended(self) -> bool:
        """Is there nothing more to come?"""
        return self.state in ENDED

    def tell(self) -> Words:
        """The run in a few words."""
        return {
            "id": self.name,
            "controller": self.controller,
            "path": self.about.get("path") or "",
            "process": self.about.get("process", {}).get("name", ""),
            "label": self.label,
            "state": self.state,
            "tuned": self.tuned,
            "held": self.held,
            "answer": self.answer,
            "ending": self.ending,
            "ticks": self.about.get("ticks", 0),
            "count": self.count,
            "notes": self.notes,
            "order": self.request,
        }

    def pack_rows(self, first: int, most: int) -> bytes:
        """The ticks from `first` on, as a message; at most so many."""
        rows = self.rows[first : min(self.count, first + most)]
        return pack({"kind": "ticks", "run": self.name, "first": first}, {"rows": rows})

    def label_record(self) -> Words:
        """The record with the label that a person gave."""
        record: Words = json.loads(self.record)
        return ({"label": self.label} if self.label else {}) | record


def say_on_page(text: str) -> str:
    """A note or a refusal, written for a command line, without options that a page does not have."""
    for was, said in TABLE.items():
        text = was.sub(said, text)
    return text
