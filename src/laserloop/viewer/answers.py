"""What is read only: the page's own files, the list of runs, a run with its series, and its images."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from importlib.resources import files
from threading import Lock
from time import monotonic

from laserloop.viewer.shelf import Shelf

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
MOST_NAMED = 4  # damaged files, the others are counted
FRESH = 0.5  # s, in which the folder is not looked at again
JSON, BYTES = "application/json", "application/octet-stream"
FRAME = re.compile(r"/runs/(\w+)/frames/(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, kind and body of an answer, and a tag by which a browser may know that it has it already."""

    body: bytes
    kind: str = "text/plain; charset=utf-8"
    status: HTTPStatus = HTTPStatus.OK
    tag: str = ""

    @classmethod
    def tell(cls, content: object, status: HTTPStatus = HTTPStatus.OK) -> "Answer":
        """JSON."""
        return cls.tagged(json.dumps(content, allow_nan=False).encode(), JSON, status)

    @classmethod
    def tagged(cls, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> "Answer":
        """With a tag of its content."""
        return cls(body, kind, status, f'"{hashlib.sha256(body).hexdigest()[:16]}"')

    @classmethod
    def refuse(cls, status: HTTPStatus, sentence: str) -> "Answer":
        """A sentence."""
        return cls(sentence.encode(), status=status)

    def unless(self, known: str | None) -> "Answer":
        """Nothing at all for who knows the tag."""
        same = self.status is HTTPStatus.OK and bool(self.tag) and known == self.tag
        return Answer(b"", self.kind, HTTPStatus.NOT_MODIFIED, self.tag) if same else self


class Answers:
    """Answers to GET; the same for every carrier."""

    def __init__(self, shelf: Shelf, *, live: bool) -> None:
        self.shelf = shelf
        self.live = live  # can runs be started here?
        self._lock = Lock()
        self._looked = -FRESH
        self._list: Answer | None = None

    @cached_property
    def files(self) -> Mapping[str, Answer]:
        """The page's files by their place."""
        found = {}
        for file in files("laserloop.viewer").joinpath("page").iterdir():
            kind = KINDS.get(file.name.rpartition(".")[2])
            if kind is not None:
                place = "/" if file.name == "index.html" else f"/{file.name}"
                found[place] = Answer.tagged(file.read_bytes(), kind)
        return found

    def get(self, place: str) -> Answer:
        """The answer for a place, which is an exact name and never a way through a folder."""
        if place in self.files:
            return self.files[place]
        if place == "/runs":
            return self.list_runs()
        if (asked := FRAME.fullmatch(place)) and (frame := self.shelf.find_frame(asked[1], int(asked[2]))):
            return Answer(frame, BYTES)
        if place.startswith("/runs/") and (run := self.shelf.open(place[6:])) is not None:
            return Answer.tell(run)
        return Answer.refuse(HTTPStatus.NOT_FOUND, "there is nothing here: open the page at /")

    def list_runs(self) -> Answer:
        """All runs without their series; the folder is looked at twice a second at most."""
        with self._lock:
            if self._list is None or monotonic() - self._looked > FRESH:
                changed = self.shelf.look()
                if changed or self._list is None:
                    told = {
                        "folder": str(self.shelf.root),
                        "live": self.live,
                        "left_out": self.shelf.left_out,
                        "damaged": {
                            "count": len(self.shelf.damaged),
                            "files": self.shelf.damaged[:MOST_NAMED],
                        },
                        "runs": self.shelf.list(),
                    }
                    self._list = Answer.tell(told)
                self._looked = monotonic()
            return self._list
