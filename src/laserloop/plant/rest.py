"""A pause: the laser off, in as few steps as an error allows.

Each step is taken once whole and once as two halves. The halves are kept if the two differ by three times the
`tolerance` at most, anywhere in the plate: of second order, the halves are three times nearer to the truth
than to the whole. The next step is as long as this one would have had to be for just that; none is shorter
than the `shortest`, which is how the plate is stepped anyway.
"""

import numpy as np
from numpy.typing import NDArray

from laserloop.plant.conduction import Conduction, Source

FloatArray = NDArray[np.float64]

SAFETY = 0.9  # of the step that the error would allow
CHANGE = (0.2, 4.0)  # least and largest change of a step from one to the next


def cool_down(plate: Conduction, seconds: float, *, shortest: float, tolerance: float) -> int:
    """Let a plate be for some seconds; the steps taken. `shortest`: s; `tolerance`: K, of each step."""
    left, step, taken = seconds, shortest, 0
    while left > 0.0:
        step = min(step, left) if left > 1.5 * step else left  # no sliver at the end
        before = plate.save()
        _advance(plate, step, 1)
        whole = plate.field()
        plate.load(before)
        _advance(plate, step, 2)
        error = _differ(plate, whole) / 3.0
        if error <= tolerance or step <= shortest:
            left -= step
            taken += 1
        else:
            plate.load(before)
        change = SAFETY * (tolerance / max(error, 1e-12)) ** (1 / 3)
        step = max(shortest, step * min(max(change, CHANGE[0]), CHANGE[1]))
    plate.forget()
    return taken


def _advance(plate: Conduction, step: float, parts: int) -> None:
    """The step in equal parts, without any source."""
    dark = Source(np.zeros(len(plate.grid.x)), np.zeros(len(plate.grid.y)))
    plate.forget()
    for _ in range(parts):
        plate.advance(step / parts, tuple(dark for _ in plate.scheme.stages))


def _differ(plate: Conduction, other: FloatArray) -> float:
    """The largest difference of temperature from another field, K."""
    theta = plate.field()
    return float(np.abs(plate.table.temperature_of(theta) - plate.table.temperature_of(other)).max())
