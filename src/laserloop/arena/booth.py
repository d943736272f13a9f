"""The booth: a user's controller in a process of its own, which has images and previews and no plant.

It cannot reach the plant by frames or by the garbage collector, because there is none; what it changes is
its own copy; what it answers comes as plain numbers; and it is given up when it takes too long.
"""

import ast
import json
import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from laserloop.arena.booth_child import LENGTH, send
from laserloop.arena.entrant import FORESIGHTS, Entrant, Seat
from laserloop.bad_input import BadInput
from laserloop.control.controller import Action, Controller, Status
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.loop.controllers import is_own
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image
from laserloop.process import Process

BUILD_WITHIN = 60.0  # s
ANSWER_WITHIN = 2.0  # s, of one decision: 16,000 ticks of 125 µs
DONE_WITHIN = 120.0  # s, of all decisions of a run
ECHOES = 30
LARGEST = 1_000_000  # bytes of an answer


class Gone(Exception):
    """There is no answer any more; the reason."""


class Child:
    """A process that answers messages through a pipe; whoever does not answer in time is ended."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "laserloop.arena.booth_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, *message: object, within: float) -> dict[str, Any]:
        """Send and wait."""
        began = monotonic()
        try:
            assert self._process.stdin is not None
            if self._process.poll() is not None:
                raise Gone("it ended by itself")
            send(self._process.stdin, pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))
            head = self._read(LENGTH.size, began + within)
            length = LENGTH.unpack(head)[0]
            if length > LARGEST:
                raise Gone("its answer was too long")
            told = json.loads(self._read(length, began + within))
        except (OSError, ValueError, Gone) as problem:
            self.close()
            raise Gone(str(problem) or "it ended by itself") from None
        return told if isinstance(told, dict) else {}

    def _read(self, size: int, until: float) -> bytes:
        """So many bytes, by then."""
        assert self._process.stdout is not None
        stream, found = self._process.stdout.fileno(), b""
        while len(found) < size:
            ready, _, _ = select.select([stream], [], [], max(0.0, until - monotonic()))
            if not ready:
                raise Gone("it did not answer in time")
            some = os.read(stream, size - len(found))
            if not some:
                raise Gone("it ended by itself")
            found += some
        return found

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Meanwhile it computes nothing."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not read any more
                if stream is not None:
                    stream.close()


class BoothController:
    """A controller of a user's file behind a pipe. Its time is charged without that of the pipe."""

    def __init__(self, spec: str, name: str, seat: Seat) -> None:
        self.name = name
        self._left = DONE_WITHIN
        self._weighed = False
        self.overhead_s = 0.0
        self._child = Child()
        try:
            told = self._child.ask("build", spec, seat.problem, seat.process, within=BUILD_WITHIN)
            self._check(told)
        except (Gone, BadInput) as problem:
            self.close()
            raise BadInput(f"{spec} cannot take part: {problem}") from None

    def _check(self, told: dict[str, Any]) -> None:
        if "refused" in told:
            raise BadInput(str(told["refused"]))
        self.horizon, self.memory = int(told["horizon"]), int(told["memory"])
        if not (0 <= self.horizon <= 10_000 and 0 <= self.memory <= 10_000):
            raise BadInput("horizon and memory must be 0 to 10,000 ticks: change them")

    def reset(self) -> None:
        """Make the controller forget."""
        self._weighed, self.overhead_s = False, 0.0
        try:
            told = self._child.ask("reset", within=ANSWER_WITHIN)
        except Gone:
            return
        if told.get("raised"):
            raise RuntimeError(str(told["raised"]))

    def act(self, image: Image | None, preview: Preview) -> Action:
        """What the controller answers, or the least power if it is gone."""
        if not self._weighed:
            with self._child.halted():
                self._weighed, self.overhead_s = True, weigh(image, preview)
        began = monotonic()
        try:
            told = self._child.ask("act", image, preview, within=min(ANSWER_WITHIN, self._left))
        except Gone:
            return Action(power=0.0, status=Status.GONE)
        self._left -= monotonic() - began
        if told.get("raised"):
            raise RuntimeError(str(told["raised"]))
        return read_action(told)

    def close(self) -> None:
        """End the process."""
        self._child.close()


def weigh(image: Image | None, preview: Preview) -> float:
    """How long question and answer take without a controller, s: in a process without any user's code."""
    echo, times = Child(), list[float]()
    try:
        echo.ask("echo", image, preview, within=BUILD_WITHIN)  # the first one starts up
        for _ in range(ECHOES):
            began = perf_counter()
            echo.ask("echo", image, preview, within=ANSWER_WITHIN)
            times.append(perf_counter() - began)
    except Gone:
        return 0.0
    finally:
        echo.close()
    return float(np.median(times))


def read_action(told: dict[str, Any]) -> Action:
    """An answer as it came through the pipe."""
    power, predicted = told.get("power"), told.get("predicted")
    known = {str(status): status for status in Status}
    status = known.get(str(told.get("status")), Status.BARE)
    if not isinstance(power, int | float) or isinstance(power, bool) or not np.isfinite(power):
        return Action(power=0.0, status=Status.NOT_FINITE)
    foreseen = [float(predicted)] if isinstance(predicted, int | float) else []
    return Action(power=float(power), status=status, predicted=np.array(foreseen))


def enter_own(spec: str) -> Entrant:
    """The entrant of FILE.py:NAME; nothing of the file is run here."""
    file, _, name = spec.rpartition(":")
    path = Path(file).resolve()
    if not is_own(spec) or not path.is_file():
        raise BadInput(
            f"an own controller must read FILE.py:NAME of a file that is there, got {spec!r}: name one"
        )
    foresight = read_foresight(path, name)

    def make(seat: Seat) -> Controller:
        return BoothController(f"{path}:{name}", name, seat)

    return Entrant(
        name=name, about=f"{name} of {path.name}.", make=make, foresight=foresight, sources=(path,)
    )


def try_out(own: Entrant, process: Process) -> None:
    """Build a user's controller once: a file that cannot take part is refused before hours of runs."""
    problem = make_twin_problem(MpcProblem(window=process.window, power=process.laser.power))
    assert own.make is not None
    controller = own.make(Seat(problem=problem, process=process, fastest=process.speed))
    assert isinstance(controller, BoothController)
    controller.close()


def read_foresight(file: Path, name: str) -> str:
    """What a class declares as `foresight = "none"`; it knows the path unless it says so."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError) as problem:
        raise BadInput(f"{file} cannot be read as Python ({problem}): correct the file") from None
    own = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), None)
    if own is None:
        return "path"
    declared = [value for line in own.body if (value := _find_declared(line)) is not None]
    stored = [node for node in ast.walk(own) if _stores_foresight(node)]
    if not stored:
        return "path"
    value = getattr(declared[0], "value", None) if len(declared) == len(stored) == 1 else None
    if value not in FORESIGHTS:
        raise BadInput(
            f"foresight of {name} must be one of {', '.join(FORESIGHTS)}, said once in the body of the "
            f'class: write foresight = "{FORESIGHTS[0]}" there'
        )
    return str(value)


def _find_declared(line: ast.stmt) -> ast.expr | None:
    """What a line of a class gives its foresight, with or without a type; None if it gives it nothing."""
    targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
    about = any(isinstance(target, ast.Name) and target.id == "foresight" for target in targets)
    return line.value if about and isinstance(line, ast.Assign | ast.AnnAssign) else None


def _stores_foresight(node: ast.AST) -> bool:
    """Is something called foresight given a value here, as a name or of an object?"""
    called = getattr(node, "id", None) or getattr(node, "attr", None)
    return called == "foresight" and isinstance(getattr(node, "ctx", None), ast.Store)
