"""What a worker does: run an order with one controller, look at its path or process, or plan a file."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.live.message import Arrays, pack
from laserloop.live.order import Order, read_order
from laserloop.live.teller import Teller
from laserloop.loop.run import Steering, StopRun, Tick
from laserloop.loop.scenario import (
    Hooks,
    LoopCase,
    Prepared,
    prepare,
    record,
    run_prepared,
)
from laserloop.paths.files import ScanFile
from laserloop.paths.text import read_bytes
from laserloop.planning.job import Job
from laserloop.planning.refine import Checking, plan_refined
from laserloop.planning.window import check_window, tell_melting
from laserloop.process import Process

STOPPED = "stopped by hand"
MOST_POINTS = 20_000  # of a path that is only looked at
PLANNED_TICKS = 5_000  # of a planned file that are simulated while the page waits
MOST_CHANGES = 8  # that a note tells one by one
PAPER = "paper (coarse), under Noise, delay, absorptivity error"  # where the page has it

Words = dict[str, Any]


@dataclass(slots=True, eq=False)
class Helm:
    """Takes commands between two ticks, and waits while the run is paused."""

    commands: "SimpleQueue[Words]"
    send: Callable[[bytes], object]
    steering: Steering | None = None
    teller: Teller | None = None
    paused: bool = False
    steps: int = 0  # ticks to go while paused
    doing: Words = field(default_factory=lambda: {"state": "running"})  # while it is not paused
    absorbed: list[float] = field(default_factory=list)  # of each tick, by the plate over the start
    _began: float = 0.0  # s of the clock, when the second try of a tuning began: the first one compiles

    def tune(self, done: int, most: int) -> None:
        """Before each try of a tuning; a loop's own progress is in its ticks."""
        if self.steering is None or self.steering.controller is not None:
            return
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
        if self.steering is not None:
            self.absorbed.append(self.steering.absorbed)
        if self.teller is not None:
            self.teller.add(k, tick)
        self.steps = max(0, self.steps - 1)
        self.check()

    def check(self) -> None:
        """Obey what has come; while paused, wait for more."""
        while not self.commands.empty():
            self.obey(self.commands.get())
        if self.paused and not self.steps:
            if self.teller is not None:
                self.teller.flush()
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
            if self.steering is not None and (window := command.get("window_k")):
                low_high = float(window[0]), float(window[1])
                if self.teller is not None:
                    aimed = replace(self.teller.ready.case.process, window=low_high)
                    check_window(aimed)
                    self.tell(tell_melting(aimed))
                self.steering.aim(*low_high)
            if self.steering is not None and (factor := command.get("absorbed")):
                self.steering.absorb(float(factor))
        except BadInput as refusal:
            self.send(pack({"kind": "answer", "text": str(refusal)}))
        else:
            self.send(pack({"kind": "answer", "text": ""}))

    def tell(self, notes: Iterable[str]) -> None:
        """Sentences for who watches."""
        for note in notes:
            self.send(pack({"kind": "note", "text": note}))


def do_job(job: Words, helm: Helm) -> None:
    """Whatever was asked for."""
    files = {name: (str(shown), Path(place)) for name, (shown, place) in job.get("files", {}).items()}
    try:
        order = read_order(job["order"], files)
        match job["job"]:
            case "run":
                run_order(order, str(job["controller"]), helm)
            case "look":
                look_at(order, helm.send)
            case "describe":
                helm.send(pack({"kind": "described", "process": order.process.to_json()}))
            case "plan":
                plan_order(order, Path(job["out"]), helm)
    except BadInput as refusal:
        text = str(refusal)
        for shown, place in files.values():  # people know a file by its name, not by where it was put
            text = text.replace(str(place), shown)
        raise BadInput(text) from None


def run_order(order: Order, controller: str, helm: Helm) -> None:
    """A closed loop that is watched."""
    case, path = order.make_case(controller), order.find_path()
    helm.steering = steering = Steering(case.process.window)
    hooks = Hooks(
        path=path,
        wrap=steering.wrap,
        drift=steering.drift,
        watch=helm.watch,
        progress=helm.tune,
        say=lambda note: helm.tell([note]),
    )
    try:
        ready = prepare_order(case, hooks)
        ready = replace(ready, notes=(*ready.notes, *tell_melting(case.process)))
        helm.teller = teller = Teller(helm.send, ready, steering, subgrid=case.plant == "graded")
        teller.begin()
        run = run_prepared(ready, hooks)
    except StopRun as wish:
        helm.send(pack({"kind": "stopped", "ending": f"{wish} before the first tick"}))
        return
    teller.flush()
    told = record(run, ready.problem, model=ready.case.model)
    if order.absorptivity_error != 1.0:
        told["mismatch"] = {"absorptivity": order.absorptivity_error}
    if note := tell_changes(helm.absorbed):
        told["series"]["absorbed"] = helm.absorbed
        told["notes"].append(note)
    content = np.frombuffer(json.dumps(told, allow_nan=False).encode(), np.uint8)
    helm.send(pack({"kind": "done", "ending": run.ending, "notes": told["notes"]}, {"record": content}))


def prepare_order(case: LoopCase, hooks: Hooks) -> Prepared:
    """As `prepare`, but a network that was not made for this is refused with what a page can choose."""
    try:
        return prepare(case, hooks)
    except BadInput:
        forced = prepare(replace(case, force=True), hooks)  # refuses whatever else is wrong
    why = forced.notes[0].partition(": ")[2]
    other = replace(case, plant="paper")
    try:
        prepare(other, hooks)
        cure = f"choose Plant {PAPER}, or the physics twin"
    except BadInput:
        cure = f"choose the physics twin, or the process paper as it is on Plant {PAPER}"
    raise BadInput(f"the network of this controller was made for something else ({why}): {cure}")


def tell_changes(absorbed: list[float]) -> str:
    """When the absorptivity was changed on the way, or nothing if it was not."""
    before = [1.0, *absorbed]
    changes = [k for k, share in enumerate(absorbed) if share != before[k]]
    told = [f"to {100 * absorbed[k]:.3g} % of the start at tick {k + 1}" for k in changes[:MOST_CHANGES]]
    more = len(changes) - len(told)
    told += [f"and {more} times after that"] if more else []
    return f"the plate's absorptivity was changed by hand {', '.join(told)}" if told else ""


def look_at(order: Order, send: Callable[[bytes], object]) -> None:
    """Where a path goes, thinned out where it has very many ticks."""
    path = order.find_path()
    every = -(-len(path) // MOST_POINTS)
    shown = slice(1, None, every)
    words = {"kind": "looked", "path": path.name, "ticks": len(path), "tick_s": path.tick}
    words |= {"notes": [*path.notes, *tell_melting(order.process)], "speed_mm_s": 1e3 * path.median_speed}
    words |= {"plate_mm": [1e3 * side for side in order.process.plate[:2]]}
    arrays: Arrays = {
        "x_mm": (1e3 * path.positions[shown, 0]).astype(np.float32),
        "y_mm": (1e3 * path.positions[shown, 1]).astype(np.float32),
        "lit": path.lit[shown.start - 1 :: every].astype(np.uint8),
    }
    send(pack(words, arrays))


def plan_order(order: Order, out: Path, helm: Helm) -> None:
    """The file of an order with planned powers, in its own format; a built-in path becomes waypoints."""
    if order.file is None:
        file, suffix = ScanFile.of(order.find_path()), ".csv"
    else:
        file = ScanFile(order.path, read_bytes(order.file), order.s_max, order.process.laser.power[1])
        suffix = order.file.suffix
    job = Job(file=file, process=order.process, centre=order.file is not None and order.centre)
    planned = plan_refined(job, Checking(ticks=PLANNED_TICKS))
    out.write_bytes(planned.write())
    told = planned.tell()
    words = {"kind": "planned", "suffix": suffix, "notes": told["notes"], "holds": told["holds"]}
    words |= {name: told[name] for name in ("ticks", "commands", "time_s")}
    expected = told.get("verified", told)
    words |= {name: expected[name] for name in ("t_max_k", "t_min_k", "n_over")}
    helm.send(pack(words))


def warm_up() -> None:
    """Load and compile what every run needs."""
    order = Order(path="diagonal", process=Process(), ticks=2)
    run_order(order, "twin", Helm(SimpleQueue(), lambda _: None))
