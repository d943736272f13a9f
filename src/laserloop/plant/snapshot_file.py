"""A snapshot as named arrays, so that a file can hold it; read back it goes on bit for bit."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from laserloop.plant.conduction import State
from laserloop.plant.grid import Grid
from laserloop.plant.plant import Snapshot

Arrays = dict[str, NDArray[np.generic]]
AXES = ("x", "y", "z", "x_faces", "y_faces")


def to_arrays(snapshot: Snapshot) -> Arrays:
    """Everything in a snapshot."""
    state = snapshot.state
    numbers = (snapshot.time, snapshot.power, snapshot.emitted, state.absorbed, state.lost, snapshot.heading)
    return {
        **{name: getattr(state.grid, name) for name in AXES},
        **{f"field_{n}": field.copy() for n, field in enumerate(state.fields)},
        "warm": np.array(state.warm),
        "window": np.array(state.window),
        "numbers": np.array(numbers),
        "pace": np.array(snapshot.pace),
        "focus": np.array(snapshot.focus or (), dtype=np.intp),
        "identity": np.array(snapshot.identity),
    }


def from_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> Snapshot:
    """The snapshot that they were made of."""
    time, power, emitted, absorbed, lost, heading = (float(number) for number in arrays["numbers"])
    row0, row1, col0, col1, depth = (int(number) for number in arrays["window"])
    fields = tuple(arrays[f"field_{n}"] for n in range(sum(name.startswith("field_") for name in arrays)))
    state = State(
        Grid(**{name: np.asarray(arrays[name], dtype=np.float64) for name in AXES}),
        (row0, row1, col0, col1, depth),
        tuple(np.asarray(part, dtype=np.uintp) for part in arrays["warm"]),
        tuple(np.asarray(field, dtype=np.float64) for field in fields),
        absorbed,
        lost,
    )
    focus = None
    if arrays["focus"].size:
        (x_low, x_high), (y_low, y_high) = arrays["focus"].tolist()
        focus = (x_low, x_high), (y_low, y_high)
    pace, identity = int(arrays["pace"]), str(arrays["identity"])
    return Snapshot(state, time, power, emitted, pace, heading, focus, identity)
