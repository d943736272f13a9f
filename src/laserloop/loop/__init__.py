"""PLANT MEETS CONTROLLER: Scenario → Setup → ClosedLoop → Run, what a loop must survive, controllers by name.

It may import every room from process to native; reports, planning and studies stand above it.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.loop.controllers import CONTROLLERS, Context, make_controller
    from laserloop.loop.disturbances import DeadlineController, Fault, Faults
    from laserloop.loop.record import Run, score
    from laserloop.loop.run import ClosedLoop, Testbed, Tick, run_closed_loop
    from laserloop.loop.scenario import Scenario, Setup, prepare

__all__ = [
    "CONTROLLERS",
    "ClosedLoop",
    "Context",
    "DeadlineController",
    "Fault",
    "Faults",
    "Run",
    "Scenario",
    "Setup",
    "Testbed",
    "Tick",
    "make_controller",
    "prepare",
    "run_closed_loop",
    "score",
]

__getattr__ = fetch_from(
    __name__,
    {
        "controllers": ("CONTROLLERS", "Context", "make_controller"),
        "disturbances": ("DeadlineController", "Fault", "Faults"),
        "record": ("Run", "score"),
        "run": ("ClosedLoop", "Testbed", "Tick", "run_closed_loop"),
        "scenario": ("Scenario", "Setup", "prepare"),
    },
)
