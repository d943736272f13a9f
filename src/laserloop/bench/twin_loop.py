"""Bench of whole loops: how much longer than the plant alone a loop of the twin on `graded` takes."""

from time import process_time

from laserloop.control.controller import Controller
from laserloop.loop.controllers import choose_camera
from laserloop.loop.run import ClosedLoop, Testbed
from laserloop.loop.scenario import Scenario
from laserloop.plant import Camera, make_plant
from laserloop.process import Process


def compare_with_plant(controller: Controller, process: Process, path: str, ticks: int) -> float:
    """CPU time of a loop, camera and record included, over that of a second plant given the same powers.

    The two take turns tick by tick, so that whatever else the machine does falls on both.
    """
    case = Scenario(path=path, plant="graded", controller="twin", ticks=ticks, process=process)
    scan = case.find_path()
    plant, alone = (make_plant(case.plant, process) for _ in range(2))
    testbed = Testbed(plant, Camera(choose_camera(plant, None)), scan, process.laser.power)
    loop = ClosedLoop(testbed, controller).follow()
    controller.reset()
    alone.reset()
    looped = replayed = 0.0
    for k in range(len(scan)):
        began = process_time()
        tick = next(loop)
        decided = process_time()
        alone.step(tick.power, scan.spot(k))
        looped += decided - began
        replayed += process_time() - decided
    return looped / replayed
