"""Constant power: what most machines do."""

import math

from laserloop.bad_input import BadInput
from laserloop.control.action import Action, Status
from laserloop.paths.preview import Preview
from laserloop.plant.camera import Image


class ConstantController:
    """Looks at nothing."""

    name = "constant"
    horizon = 1
    memory = 0

    def __init__(self, power: float) -> None:
        if not (math.isfinite(power) and power >= 0):
            raise BadInput(f"the power must be a finite number of at least 0 W, got {power}: change it")
        self.power = power

    def reset(self) -> None:
        """Nothing to forget."""

    def act(self, image: Image | None, preview: Preview) -> Action:
        """The same power as ever."""
        return Action(power=self.power, status=Status.SOLVED)
