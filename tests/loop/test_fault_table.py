"""What `control` does when a camera fails, on the graded plant: the fault table of the export, in Python."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control import Status
from laserloop.control.problem import make_twin_problem
from laserloop.loop import Faults, run_closed_loop
from laserloop.loop.scenario import make_problem
from laserloop.native.twin import make_twin
from laserloop.paths import find_path
from laserloop.plant import Camera, Image, make_plant
from laserloop.process import Process

START, TICKS = 40, 100  # of the fault, and of the run
CEILING, MOST = 800.0, 25.0  # K: of the window, and how far above a fault may drive the true peak
Fault = Callable[[int, Image], Image | None]


def see(image: Image, temperature: NDArray[np.float64]) -> Image:
    """The image with other temperatures."""
    return image.with_temperature(temperature)


def freeze(follows: bool) -> Fault:
    """The same picture for ever; one of a coaxial camera says that it lies around the beam."""
    kept: list[Image] = []

    def fault(k: int, image: Image) -> Image:
        kept[:] = kept or [image]
        old = kept[0]
        x, y = (image.x, image.y) if follows else (old.x, old.y)
        return replace(old, time=image.time, x=x, y=y) if len(x) == len(old.x) else image

    return fault


def shift(dx: float) -> Fault:
    return lambda k, image: replace(image, x=image.x + dx)


FAULTS: dict[str, Fault] = {
    "lost": lambda k, image: None,
    "blank": lambda k, image: see(image, np.full_like(image.temperature, np.nan)),
    "dark": lambda k, image: see(image, np.zeros_like(image.temperature)),
    "saturated throughout": lambda k, image: see(image, np.full_like(image.temperature, 65535.0)),
    "frozen": freeze(False),
    "frozen, of a coaxial camera": freeze(True),
    "from the future": lambda k, image: replace(image, time=image.time + 5.0 * 1.25e-4),
    "too late": lambda k, image: replace(image, time=max(image.time - 60.0 * 1.25e-4, 0.0)),
    "misplaced by half a beam width": shift(50e-6),
    "misplaced by a beam width": shift(100e-6),
    "misplaced by three beam widths": shift(300e-6),
    "covered": lambda k, image: see(image, 300.0 + 0.05 * (image.temperature - 300.0)),
    "twice as hot": lambda k, image: see(image, 300.0 + 2.0 * (image.temperature - 300.0)),
}
TOLD = {
    *("lost", "blank", "dark", "saturated throughout", "frozen", "from the future", "too late"),
    *("misplaced by three beam widths", "covered"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_the_camera_burns_the_plate(fault: str) -> None:
    process = Process()
    path = find_path("zigzag:5", process, ticks=TICKS)
    problem = make_twin_problem(make_problem(process, None))
    change = FAULTS[fault]

    class Changed(Faults):
        def see(self, k: int, image: Image) -> Image | None:
            return change(k, image) if k >= START else image

    run = run_closed_loop(
        make_plant("graded", process),
        Camera(process.camera),
        make_twin(problem, process),
        path,
        faults=Changed(),
    )
    assert run.t_max[START:].max() < CEILING + MOST, (fault, run.t_max[START:].max())
    if fault in TOLD:
        assert set(run.statuses[START + 2 :]) <= {Status.BLIND, Status.DARK}
