"""The sandbox: a user's controller in a process of its own, which has images and previews and no plant.

It cannot reach the plant by frames or by the garbage collector, because there is none; what it changes is its
own copy; what it answers comes as JSON, which cannot carry code; and it is given up when it takes too long.
Run as a module this is the inside: it reads pickled messages and answers. What the controller prints is lost.
"""

import ast
import json
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.control import (
    Action,
    Controller,
    Guarded,
    MpcProblem,
    Preview,
    Status,
    make_twin_problem,
    read_prediction,
)
from laserloop.loop import is_own, load_controller
from laserloop.plant import Image
from laserloop.process import Process
from laserloop.studies.arena.entrant import FORESIGHTS, Entrant, TaskContext

BUILD_WITHIN = 60.0  # s
ANSWER_WITHIN = 2.0  # s, of one decision: 16,000 ticks of 125 µs
DONE_WITHIN = 120.0  # s, of all decisions of a run
ECHOES = 30
LENGTH = struct.Struct("<Q")  # before each message
LARGEST = 1_000_000  # bytes of an answer


class ProcessEnded(Exception):
    """There is no answer any more; the reason."""


class Child:
    """A process that answers messages through a pipe; whoever does not answer in time is ended."""

    def __init__(self) -> None:
        self._pipe, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "laserloop.studies.arena.sandbox", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()  # so that ours ends when the process does

    def ask(self, *message: object, within: float) -> dict[str, Any]:
        """Send and wait."""
        try:
            send(self._pipe, pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL), within)
            answer = json.loads(receive(self._pipe, within))
        except TimeoutError:
            reason = "it did not answer in time"
        except (OSError, ValueError):
            reason = "it ended by itself"
        except ProcessEnded as problem:
            reason = str(problem)
        else:
            return answer if isinstance(answer, dict) else {}
        self.close()
        raise ProcessEnded(reason)

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
        self._pipe.close()


def send(pipe: socket.socket, content: bytes, within: float | None = None) -> None:
    """A message: its length, then itself; whoever does not read it in time gets none."""
    pipe.settimeout(within)
    pipe.sendall(LENGTH.pack(len(content)) + content)


def receive(pipe: socket.socket, within: float | None = None) -> bytes:
    """The next message, all of it by then."""
    until = None if within is None else monotonic() + within

    def read(size: int) -> bytes:
        found = b""
        while len(found) < size:
            pipe.settimeout(None if until is None else max(until - monotonic(), 1e-6))
            if not (some := pipe.recv(size - len(found))):
                raise ProcessEnded("it ended by itself")
            found += some
        return found

    (length,) = LENGTH.unpack(read(LENGTH.size))
    if within is not None and length > LARGEST:
        raise ProcessEnded("its answer was too long")
    return read(length)


class SandboxController:
    """A controller of a user's file behind a pipe. Its time is charged without that of the pipe."""

    def __init__(self, spec: str, name: str, context: TaskContext) -> None:
        self.name = name
        self._left = DONE_WITHIN
        self._weighed = False
        self.overhead_s = 0.0
        self._child = Child()
        try:
            answer = self._child.ask("build", spec, context.problem, context.process, within=BUILD_WITHIN)
            self._check(answer)
        except (ProcessEnded, BadInput) as problem:
            self.close()
            raise BadInput(f"{spec} cannot take part: {problem}") from None

    def _check(self, answer: dict[str, Any]) -> None:
        if "refused" in answer:
            raise BadInput(str(answer["refused"]))
        self.horizon, self.memory = int(answer["horizon"]), int(answer["memory"])
        if not (0 <= self.horizon <= 10_000 and 0 <= self.memory <= 10_000):
            raise BadInput("horizon and memory must be 0 to 10,000 ticks: change them")

    def reset(self) -> None:
        """Make the controller forget."""
        self._weighed, self.overhead_s = False, 0.0
        try:
            answer = self._child.ask("reset", within=ANSWER_WITHIN)
        except ProcessEnded:
            return
        if answer.get("raised"):
            raise RuntimeError(str(answer["raised"]))

    def act(self, image: Image | None, preview: Preview) -> Action:
        """What the controller answers, or the least power if it is gone."""
        if not self._weighed:
            with self._child.halted():
                self._weighed, self.overhead_s = True, weigh(image, preview)
        began = monotonic()
        try:
            answer = self._child.ask("act", image, preview, within=min(ANSWER_WITHIN, self._left))
        except ProcessEnded:
            return Action(power=0.0, status=Status.GONE)
        self._left -= monotonic() - began
        if answer.get("raised"):
            raise RuntimeError(str(answer["raised"]))
        return read_action(answer)

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
    except ProcessEnded:
        return 0.0
    finally:
        echo.close()
    return float(np.median(times))


def read_action(answer: dict[str, Any]) -> Action:
    """An answer as it came through the pipe."""
    power, predicted = answer.get("power"), answer.get("predicted")
    known = {str(status): status for status in Status}
    status = known.get(str(answer.get("status")), Status.BARE)
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

    def make(context: TaskContext) -> Controller:
        return SandboxController(f"{path}:{name}", name, context)

    return Entrant(
        name=name, about=f"{name} of {path.name}.", make=make, foresight=foresight, sources=(path,)
    )


def try_out(own: Entrant, process: Process) -> None:
    """Build a user's controller once: a file that cannot take part is refused before hours of runs."""
    problem = make_twin_problem(MpcProblem(window=process.window, power=process.laser.power))
    assert own.make is not None
    controller = own.make(TaskContext(problem=problem, process=process, fastest=process.speed))
    assert isinstance(controller, SandboxController)
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


def main() -> None:
    """The inside: build the controller, then answer tick by tick until nothing more comes."""
    pipe, controller = socket.socket(fileno=int(sys.argv[1])), None
    while True:
        try:
            verb, *given = pickle.loads(receive(pipe))
        except ProcessEnded:
            return
        if verb == "build":
            controller, answer = _build(*given)
        elif controller is None:  # an echo
            answer = {}
        else:
            answer = _act(controller, *given) if verb == "act" else {"raised": controller.reset()}
        send(pipe, json.dumps(answer).encode())


def _build(name: str, problem: MpcProblem, process: Process) -> tuple[Guarded | None, dict[str, Any]]:
    """The controller, and what it wants to see; or why there is none."""
    try:
        controller = Guarded(load_controller(name, problem, process))
        return controller, {"horizon": controller.horizon, "memory": controller.memory}
    except (BadInput, TypeError, ValueError) as failure:
        return None, {"refused": str(failure)}


def _act(controller: Guarded, image: Image | None, preview: Preview) -> dict[str, Any]:
    """What it answers, as plain numbers."""
    action, failure, _ = controller.decide(image, preview)
    predicted = read_prediction(action)
    return {
        "power": float(action.power),
        "status": str(action.status),
        "predicted": predicted if np.isfinite(predicted) else None,
        "raised": failure,
    }


if __name__ == "__main__":
    main()
