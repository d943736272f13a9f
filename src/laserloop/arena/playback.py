"""Playback: powers that were settled before the run."""

import numpy as np
from numpy.typing import NDArray

from laserloop.control.controller import Action, Status
from laserloop.paths.path import Preview
from laserloop.plant.camera import Image

FloatArray = NDArray[np.float64]


class Playback:
    """Gives powers that were settled before."""

    horizon, memory = 1, 0

    def __init__(self, powers: FloatArray, name: str = "playback") -> None:
        self.name = name
        self._powers = powers

    def reset(self) -> None:
        """Nothing to forget: the preview tells the tick."""

    def act(self, image: Image | None, preview: Preview) -> Action:
        """The power of this tick."""
        k = min(round(preview.time / preview.tick), len(self._powers) - 1)
        return Action(power=float(self._powers[k]), status=Status.SOLVED)
