"""PLANT MEETS CONTROLLER: Scenario → Setup → ClosedLoop → Run, what a loop must survive, controllers by name.

It may import every room from process to native; reports, planning and studies stand above it.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.loop.controllers import (
        CONTROLLERS,
        Context,
        is_own,
        load_controller,
        make_controller,
        make_named,
    )
    from laserloop.loop.disturbances import DeadlineController, Fault, Faults
    from laserloop.loop.record import COMPLETED, Run, score
    from laserloop.loop.run import ClosedLoop, Testbed, Tick, look_ahead, run_closed_loop
    from laserloop.loop.scenario import TICKS, Scenario, Setup, prepare

__all__ = [
    "COMPLETED",
    "CONTROLLERS",
    "TICKS",
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
    "is_own",
    "load_controller",
    "look_ahead",
    "make_controller",
    "make_named",
    "prepare",
    "run_closed_loop",
    "score",
]

__getattr__ = fetch_from(__name__)
