"""C and NumPy estimate alike: the gain, where images lie, and what is late."""

import numpy as np
import pytest
from off_machine import Off, drive

from laserloop.control.controller import Action, Status
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.native.twin import TwinController
from laserloop.paths import find_path
from laserloop.paths.preview import Preview
from laserloop.plant import Image
from laserloop.predict.twin import TwinPredictor
from laserloop.process import Process

CASES = {  # what is off, and ticks of an exposure
    "shift": (Off(shift=(7e-5, -3e-5)), 1),
    "shift and noise": (Off(shift=(7e-5, -3e-5), noise=5.0), 1),
    "stamp too young": (Off(stamp=1, age=1), 1),
    "stamp too old": (Off(stamp=-1), 1),
    "scanner": (Off(scanner=1.5), 1),
    "laser": (Off(laser=200e-6), 1),
    "all": (Off(shift=(2.5e-5, 0.0), scanner=0.5, laser=60e-6, stamp=1, age=1, texture=0.05), 1),
    "long exposure": (Off(shift=(7e-5, -3e-5), stamp=-1), 4),
    **{
        f"{name}, older than the process tells": (Off(stamp=-2), ticks)
        for name, ticks in (("short", 1), ("long", 4))
    },
}
REFUSED = [case for case in CASES if "older" in case]


class Both:
    """C decides, NumPy is told the same; keeps what either knows, tick by tick."""

    name = "both"

    def __init__(self, process: Process) -> None:
        self.readable = TwinPredictor(process)
        self.compiled = TwinController(TwinPredictor(process), make_twin_problem(MpcProblem()))
        self.horizon, self.memory = self.compiled.horizon, self.compiled.memory
        self.here, self.there = list[tuple[float, ...]](), list[tuple[float, ...]]()

    def reset(self) -> None:
        self.compiled.reset()
        self.readable.reset()

    def act(self, image: Image | None, preview: Preview) -> Action:
        action = self.compiled.act(image, preview)
        self.readable.observe(image, preview)
        for twin, kept in ((self.compiled, self.here), (self.readable, self.there)):
            kept.append((twin.gain, *twin.late, *twin.offset))
        return action


@pytest.mark.parametrize("case", CASES)
def test_c_and_numpy_estimate_alike(compilers: list[str], case: str) -> None:
    off, exposure = CASES[case]
    process = Process().change(noise_k=off.noise, delay_ticks=2, exposure_ticks=exposure)
    both = Both(process)
    run = drive(both, process, find_path("zigzag:5", ticks=40, tick=process.tick), off)
    apart = np.abs(np.array(both.here) - both.there).max(axis=0)
    assert np.all(apart <= (0.002, 0.05, 0.05, 1e-6, 1e-6)), apart
    moved = np.ptp(both.there, axis=0)
    assert np.all(moved == 0.0 if case in REFUSED else moved > 0.0), moved
    assert (Status.SOLVED not in run.statuses[8:]) == (case in REFUSED)
