"""A worker, one job after another: run what a page asks for, look at its path or process, or plan a file.

Jobs and commands come in, messages go out. A worker starts warm: everything is imported and compiled before
it says so. When its server goes, it goes.
"""

import json
import os
import signal
import struct
import sys
import threading
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import BinaryIO

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.live.request import RunRequest, read_request
from laserloop.live.telemetry import Arrays, Send, Telemetry, Words, pack
from laserloop.loop.run import ClosedLoop, StopRun, Tick
from laserloop.loop.scenario import NotMadeForThis, Scenario, Setup, prepare
from laserloop.paths import Placement, ScanFile
from laserloop.paths.text import read_bytes
from laserloop.planning.job import Job
from laserloop.planning.verify import Checking, plan_refined
from laserloop.planning.window import check_window, note_melting
from laserloop.process import Process

STOPPED = "stopped by hand"
MOST_POINTS = 20_000  # of a path that is only looked at
PLANNED_TICKS = 5_000  # of a planned file that are simulated while the page waits
MOST_CHANGES = 8  # that a note tells one by one
MEMORY = 3_000_000_000  # bytes that a worker may take; a plate of 20 million nodes needs half of it
LONGEST = 1_000_000  # bytes of a command
PAPER = "paper (coarse), under Noise, delay, absorptivity error"  # where the page has it


@dataclass(slots=True, eq=False)
class _RunControl:
    """Takes commands between two ticks, and waits while the run is paused."""

    commands: "SimpleQueue[Words]"
    send: Send
    loop: ClosedLoop | None = None
    changes: list[Words] = field(default_factory=list)  # asked for before the first tick
    telemetry: Telemetry | None = None
    paused: bool = False
    steps: int = 0  # ticks to go while paused
    doing: Words = field(default_factory=lambda: {"state": "running"})  # while it is not paused
    absorbed: list[float] = field(default_factory=list)  # of each tick, by the plate over the start
    _began: float = 0.0  # s of the clock, when the second try of a tuning began: the first one compiles

    def tune(self, done: int, most: int) -> None:
        """Before each try of a tuning; a loop's own progress is in its ticks."""
        tuned: Words = {"try": done, "most": most}
        if done == 2:
            self._began = monotonic()
        elif done > 2:
            tuned["left_s"] = round((monotonic() - self._began) / (done - 2) * (most - done + 1))
        self.doing = {"state": "tuning", "tuned": tuned}
        self.send(pack({"kind": "state"} | self.doing))
        self.check()

    def watch(self, k: int, tick: Tick) -> None:
        """After every tick."""
        self.doing = {"state": "running"}
        if self.loop is not None:
            self.absorbed.append(self.loop.testbed.absorbed)
        if self.telemetry is not None:
            self.telemetry.add(k, tick)
        self.steps = max(0, self.steps - 1)
        self.check()

    def check(self) -> None:
        """Obey what has come; while paused, wait for more."""
        while not self.commands.empty():
            self.obey(self.commands.get())
        if self.paused and not self.steps:
            if self.telemetry is not None:
                self.telemetry.flush()
            self.send(pack({"kind": "state", "state": "paused"}))
            while self.paused and not self.steps:
                self.obey(self.commands.get())

    def obey(self, command: Words) -> None:
        """One command."""
        match command.get("do"):
            case "pause":
                self.paused = True
            case "resume":
                self.paused, self.steps = False, 0
                self.send(pack({"kind": "state"} | self.doing))
            case "step":
                self.paused, self.steps = True, int(command.get("ticks", 1))
            case "stop" | "leave":
                raise StopRun(STOPPED)
            case "change":
                self._change(command)

    def _change(self, command: Words) -> None:
        """Another window or absorptivity; what cannot be done is said."""
        try:
            if self.loop is None:
                self.changes.append(command)
            else:
                self._apply(command, self.loop)
        except BadInput as refusal:
            self.send(pack({"kind": "answer", "text": str(refusal)}))
        else:
            self.send(pack({"kind": "answer", "text": ""}))

    def _apply(self, command: Words, loop: ClosedLoop) -> None:
        if window := command.get("window_k"):
            low_high = float(window[0]), float(window[1])
            if self.telemetry is not None:
                aimed = replace(self.telemetry.setup.scenario.process, window=low_high)
                check_window(aimed)
                self.tell(note_melting(aimed))
            loop.set_window(*low_high)
        if factor := command.get("absorbed"):
            loop.set_absorbed(float(factor))

    def take(self, loop: ClosedLoop, window: tuple[float, float]) -> None:
        """Take hold of a loop that aims at a window, K."""
        self.loop, loop.window = loop, window
        for command in self.changes:
            self._change(command)

    def tell(self, notes: Iterable[str]) -> None:
        """Sentences for who watches."""
        for note in notes:
            self.send(pack({"kind": "note", "text": note}))


def do_job(job: Words, control: _RunControl) -> None:
    """Whatever was asked for."""
    files = {name: (str(shown), Path(place)) for name, (shown, place) in job.get("files", {}).items()}
    try:
        request = read_request(job["order"], files)
        match job["job"]:
            case "run":
                _run_request(request, str(job["controller"]), control)
            case "look":
                _look_at(request, control.send)
            case "describe":
                control.send(pack({"kind": "described", "process": request.process.to_json()}))
            case "plan":
                _plan_request(request, Path(job["out"]), control)
    except BadInput as refusal:
        text = str(refusal)
        for shown, place in files.values():  # people know a file by its name, not by where it was put
            text = text.replace(str(place), shown)
        raise BadInput(text) from None


def _run_request(request: RunRequest, controller: str, control: _RunControl) -> None:
    """A closed loop that is watched."""
    case = replace(request.make_case(controller), path=request.find_path())
    try:
        setup = _prepare_request(case)
        setup = replace(setup, notes=(*setup.notes, *note_melting(case.process)))
        control.telemetry = telemetry = Telemetry(control.send, setup, subgrid=case.plant == "graded")
        telemetry.begin()
        control.tell(setup.notes)
        telemetry.loop = loop = setup.loop(control.tune, lambda note: control.tell([note]))
        control.take(loop, case.process.window)
        run = loop.run(watch=control.watch)
    except StopRun as wish:
        control.send(pack({"kind": "stopped", "ending": f"{wish} before the first tick"}))
        return
    telemetry.flush()
    record = run.to_json()
    if request.absorptivity_error != 1.0:
        record["mismatch"] = {"absorptivity": request.absorptivity_error}
    if note := _describe_changes(control.absorbed):
        record["series"]["absorbed"] = control.absorbed
        record["notes"].append(note)
    content = np.frombuffer(json.dumps(record, allow_nan=False).encode(), np.uint8)
    control.send(pack({"kind": "done", "ending": run.ending, "notes": record["notes"]}, {"record": content}))


def _prepare_request(case: Scenario) -> Setup:
    """As `prepare`, but a network that was not made for this is refused with what a page can choose."""
    try:
        return prepare(case)
    except NotMadeForThis as refusal:
        why = refusal.why
    try:
        prepare(replace(case, plant="paper"))
        cure = f"choose Plant {PAPER}, or the physics twin"
    except BadInput:
        cure = f"choose the physics twin, or the process paper as it is on Plant {PAPER}"
    raise BadInput(f"the network of this controller was made for something else ({why}): {cure}")


def _describe_changes(absorbed: list[float]) -> str:
    """When the absorptivity was changed on the way, or nothing if it was not."""
    before = [1.0, *absorbed]
    changes = [k for k, share in enumerate(absorbed) if share != before[k]]
    texts = [f"to {100 * absorbed[k]:.3g} % of the start at tick {k + 1}" for k in changes[:MOST_CHANGES]]
    more = len(changes) - len(texts)
    texts += [f"and {more} times after that"] if more else []
    return f"the plate's absorptivity was changed by hand {', '.join(texts)}" if texts else ""


def _look_at(request: RunRequest, send: Send) -> None:
    """Where a path goes, thinned out where it has very many ticks."""
    path = request.find_path()
    every = -(-len(path) // MOST_POINTS)
    shown = slice(1, None, every)
    words = {"kind": "looked", "path": path.name, "ticks": len(path), "tick_s": path.tick}
    words |= {"notes": [*path.notes, *note_melting(request.process)], "speed_mm_s": 1e3 * path.median_speed}
    words |= {"plate_mm": [1e3 * side for side in request.process.plate[:2]]}
    arrays: Arrays = {
        "x_mm": (1e3 * path.positions[shown, 0]).astype(np.float32),
        "y_mm": (1e3 * path.positions[shown, 1]).astype(np.float32),
        "lit": path.lit[shown.start - 1 :: every].astype(np.uint8),
    }
    send(pack(words, arrays))


def _plan_request(request: RunRequest, out: Path, control: _RunControl) -> None:
    """The file of a request with planned powers, in its own format; a built-in path becomes waypoints."""
    if request.file is None:
        file, suffix = ScanFile.of(request.find_path()), ".csv"
    else:
        file = ScanFile(request.path, read_bytes(request.file), request.s_max, request.process.laser.power[1])
        suffix = request.file.suffix
    placement = Placement(centre=request.file is not None and request.centre)
    job = Job(file=file, process=request.process, placement=placement)
    planned = plan_refined(job, Checking(ticks=PLANNED_TICKS))
    out.write_bytes(planned.write())
    record = planned.tell()
    words = {"kind": "planned", "suffix": suffix, "notes": record["notes"], "holds": record["holds"]}
    words |= {name: record[name] for name in ("ticks", "commands", "time_s")}
    expected = record.get("verified", record)
    words |= {name: expected[name] for name in ("t_max_k", "t_min_k", "n_over")}
    control.send(pack(words))


def warm_up() -> None:
    """Load and compile what every run needs."""
    request = RunRequest(path="diagonal", process=Process(), ticks=2)
    _run_request(request, "twin", _RunControl(SimpleQueue(), lambda _: None))


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
    if hasattr(os, "nice"):
        os.nice(10)  # a run takes all the time there is: the server and the page come first
    send(pack({"kind": "warm"}))
    serve(commands, send)
    return 0


def serve(commands: "SimpleQueue[Words]", send: Send) -> None:
    """One job after another; whatever a job does, the next one is taken."""
    while (job := commands.get()).get("do") != "leave":
        if "job" not in job:
            continue  # a command that came after its run had ended
        try:
            do_job(job, _RunControl(commands, send))
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
