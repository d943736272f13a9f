"""PLANT MEETS CONTROLLER: the closed loop, the faults it must survive, and controllers by name."""

from laserloop.loop.controllers import CONTROLLERS, make_controller
from laserloop.loop.record import Run
from laserloop.loop.run import Tick, run_closed_loop

__all__ = ["CONTROLLERS", "Run", "Tick", "make_controller", "run_closed_loop"]
