"""Inside the booth: the process in which a user's controller lives, without any plant.

It reads pickled messages of its parent and answers in JSON, which cannot carry code. What the controller
prints goes to standard error.
"""

import json
import os
import pickle
import struct
import sys
from typing import IO, Any

import numpy as np

LENGTH = struct.Struct("<Q")


def main() -> None:
    """Build the controller, then answer tick by tick until nothing more comes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions = sys.stdin.buffer
    controller: Any = None
    while (message := receive(questions)) is not None:
        verb, *given = pickle.loads(message)
        if verb == "echo":
            answer: dict[str, Any] = {}
        elif verb == "build":
            controller, answer = build(*given)
        else:
            answer = act(controller, *given) if verb == "act" else reset(controller)
        send(answers, json.dumps(answer).encode())


def build(name: str, problem: Any, process: Any) -> tuple[Any, dict[str, Any]]:
    """The controller, and what it wants to see; or why there is none."""
    from laserloop.bad_input import BadInput
    from laserloop.control.controller import Guarded
    from laserloop.loop.controllers import load_controller

    try:
        controller = Guarded(load_controller(name, problem, process))
        sizes = {"horizon": controller.horizon, "memory": controller.memory}
    except (BadInput, TypeError, ValueError) as problem_:
        return None, {"refused": str(problem_)}
    return controller, sizes


def reset(controller: Any) -> dict[str, Any]:
    """Make it forget; what it raised, if it did."""
    return {"raised": controller.reset()}


def act(controller: Any, image: Any, preview: Any) -> dict[str, Any]:
    """What it answers, as plain numbers."""
    from laserloop.control.controller import read_prediction

    action, failure, _ = controller.decide(image, preview)
    predicted = read_prediction(action)
    return {
        "power": float(action.power),
        "status": str(action.status),
        "predicted": predicted if np.isfinite(predicted) else None,
        "raised": failure,
    }


def send(stream: IO[bytes], content: bytes) -> None:
    """A message: its length, then itself."""
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message; None at the end."""
    head = stream.read(LENGTH.size)
    return stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None


if __name__ == "__main__":
    main()
