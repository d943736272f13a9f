"""C and NumPy estimate alike: the gain, where images lie, and what is late."""

from dataclasses import replace

import numpy as np
import pytest
from off_machine import Off, drive

from laserloop.control.controller import Action, Status
from laserloop.control.problem import MpcProblem, make_twin_problem
from laserloop.loop.disturbances import Faults
from laserloop.loop.run import run_closed_loop
from laserloop.native.twin import TwinController
from laserloop.paths import find_path
from laserloop.paths.path import Preview
from laserloop.plant import Camera, Image, make_plant
from laserloop.predict.twin import TwinPredictor
from laserloop.predict.twin.gain import GainFilter
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

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
    run = drive(both, process, find_path("zigzag:5", process, ticks=40), off)
    apart = np.abs(np.array(both.here) - both.there).max(axis=0)
    assert np.all(apart <= (0.002, 0.05, 0.05, 1e-6, 1e-6)), apart
    moved = np.ptp(both.there, axis=0)
    assert np.all(moved == 0.0 if case in REFUSED else moved > 0.0), moved
    assert (Status.SOLVED not in run.statuses[8:]) == (case in REFUSED)


@pytest.mark.parametrize(("gates", "believed"), [(1.3, True), (1.5, False)])
def test_c_and_numpy_believe_a_second_outlier_if_it_could_be_of_the_same_plant(
    compilers: list[str], gates: float, believed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two readings of one plant lie √2 times as far apart as one of them from the truth."""
    process = Process().change(noise_k=20.0)
    both, table = Both(process), tabulate(process.material, process.ambient)
    readings: list[tuple[float, float]] = []
    read = GainFilter.read

    def note(self: GainFilter, ratio: float, noise: float, slope: float = 0.0) -> bool:
        readings.append((ratio, noise))
        return read(self, ratio, noise, slope)

    monkeypatch.setattr(GainFilter, "read", note)

    class Cooled(Faults):
        """Two images of less heat, the second by so many gates from the first."""

        def see(self, k: int, image: Image) -> Image:
            if k not in (20, 21):
                return image
            factor = 0.6
            if k == 21:
                (usual, noise), (first, _) = readings[-2:]
                variance = noise**2 + both.readable.filter_settings.floor**2
                factor = (first + gates * both.readable.filter_settings.gate * np.sqrt(variance)) / usual
            u = factor * table.theta_of(image.temperature.ravel())
            T = table.temperature_of(u).reshape(image.temperature.shape)
            return replace(image, temperature=T, peak=replace(image.peak, temperature=float(T.max())))

    path = find_path("diagonal", process, ticks=22)
    run_closed_loop(make_plant("graded", process), Camera(), both, path, faults=Cooled())
    for known in (both.here, both.there):
        (before, *_), (first, *_), (second, *_) = known[-3:]
        assert first == pytest.approx(before, abs=1e-6)
        assert (second < 0.96 * first) == believed
        assert second == pytest.approx((0.95 if believed else 1.0) * first, rel=1e-6)
