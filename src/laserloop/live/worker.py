"""The worker: a process that computes one job after another; jobs and commands come in, messages go out.

It starts warm: everything is imported and compiled before it says so. When its server goes, it goes.
"""

import json
import os
import signal
import struct
import sys
import threading
import warnings
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, BinaryIO

from laserloop.bad_input import BadInput
from laserloop.live.jobs import Helm, do_job, warm_up
from laserloop.live.message import pack

MEMORY = 3_000_000_000  # bytes that a worker may take; a plate of 20 million nodes needs half of it
LONGEST = 1_000_000  # bytes of a command

Words = dict[str, Any]


def main() -> int:
    """Read jobs from standard input, write messages to what was standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    _limit_memory()
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever prints shall not garble the messages
    warnings.simplefilter("ignore")
    commands: SimpleQueue[Words] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, commands), daemon=True).start()

    def send(message: bytes) -> None:
        data = memoryview(struct.pack("<I", len(message)) + message)
        while data:
            data = data[out.write(data) :]

    warm_up()
    send(pack({"kind": "warm"}))
    serve(commands, send)
    return 0


def serve(commands: "SimpleQueue[Words]", send: Callable[[bytes], object]) -> None:
    """One job after another; whatever a job does, the next one is taken."""
    while (job := commands.get()).get("do") != "leave":
        if "job" not in job:
            continue  # a command that came after its run had ended
        try:
            do_job(job, Helm(commands, send))
        except BadInput as refusal:
            send(pack({"kind": "refused", "text": str(refusal)}))
        except MemoryError:
            text = "the run must fit into memory, but does not: take a smaller plate or a wider beam"
            send(pack({"kind": "refused", "text": text}))
        except Exception as error:
            send(pack({"kind": "refused", "text": f"this run failed ({type(error).__name__}: {error})"}))


def _listen(source: BinaryIO, commands: "SimpleQueue[Words]") -> None:
    """Commands as they come; when there will be no more, nobody waits for an answer either."""
    while True:
        head = source.read(4)
        length = struct.unpack("<I", head)[0] if len(head) == 4 else LONGEST + 1
        if length > LONGEST:
            os._exit(0)
        commands.put(json.loads(source.read(length)))


def _limit_memory() -> None:
    """Where the system knows how."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


if __name__ == "__main__":
    sys.exit(main())
