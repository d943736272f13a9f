"""What the twin misses on a straight line: its gain, from the heat equation of the same process and speed.

u  ∫k dT from ambient, W/m      σ  the beam's width      α  diffusivity, m²/s
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from laserloop.paths import ScanPath, sample_polyline
from laserloop.planning.powers import HORIZON, make_player, plan_ticks
from laserloop.planning.tick import find_longest_tick
from laserloop.plant import make_plant
from laserloop.predict.twin.twin import read_alpha
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

WIDTHS = 30.0  # σ that the line is long,
SPREADS = 3.0  # and at least so many σ²/α, in which heat spreads by a beam's width,
PART = 0.6  # but at most this of the plate's length
FINER = 0.5  # of the longest tick that suits a process: the line's, unless the process's own is longer
FEWEST, MOST = 24, 240  # ticks of the line, where the process's own are not longer
LAST = 0.4  # of its ticks that are compared
PASSES = 2  # the second at the power of the first: u of a plate is not quite in proportion to the power


@lru_cache(maxsize=8)  # of a process and speed each, whoever plans with them
def calibrate_gain(process: Process, speed: float) -> float:
    """u of the plate over u of the twin behind a beam that goes straight on, m/s, at the window's middle.

    It belongs to process and speed, not to the tick: one that is finer than need be is taken several times.
    """
    line = lay_line(process, speed)
    if line is None:
        return 1.0
    process = replace(process, speed=speed, tick=line.tick)
    table, gain = tabulate(process.material, process.ambient), 1.0
    plant = make_plant("graded", process)
    last = slice(-max(1, int(LAST * len(line))), None)
    for _ in range(PASSES):
        course = plan_ticks(make_player(process, horizon=HORIZON, speed=speed, gain=gain), line)
        plant.reset()
        T = [plant.step(float(watts), line.spot(k)).peak.temperature for k, watts in enumerate(course.power)]
        expected = table.theta_of(course.temperature[last])
        gain *= float(np.mean(table.theta_of(np.array(T)[last]) / expected))
    return gain


def lay_line(process: Process, speed: float) -> ScanPath | None:
    """A straight line, long enough in beam widths and in time; None if the plate has no room for one."""
    sigma, tick = process.beam.sigma, process.tick
    alpha = read_alpha(process.material, process.ambient, 0.5 * sum(process.window))
    wanted = max(WIDTHS * sigma, SPREADS * speed * sigma**2 / alpha)
    length = min(wanted, PART * process.plate[0])
    longest = min(FINER * find_longest_tick(process, speed), length / (FEWEST * speed))
    tick *= max(1, int(longest / tick * (1 + 1e-9)))
    length = min(length, MOST * speed * tick)
    if length < 4 * speed * tick:
        return None
    ends = np.array([[-0.5, 0.0], [0.5, 0.0]]) * length
    return sample_polyline(ends, name="straight line", speed=speed, tick=tick)
