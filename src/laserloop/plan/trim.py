"""What the twin misses on a straight line: its gain, from the heat equation of the same process and speed.

u  ∫k dT from ambient, W/m
"""

from dataclasses import replace

import numpy as np

from laserloop.paths import sample_polyline
from laserloop.plan.powers import HORIZON, make_player, plan_ticks
from laserloop.plant import make_plant
from laserloop.process import Process
from laserloop.process.heat_table import tabulate

TICKS = 80  # most of the line,
WIDTHS = 30.0  # and most beam widths of it
PART = 0.6  # of the plate's length that it may take
LAST = 0.4  # of its ticks that are compared


def find_gain(process: Process, speed: float) -> float:
    """u of the plate over u of the twin behind a beam that goes straight on, m/s, at the window's middle."""
    hop = speed * process.tick
    length = min(TICKS * hop, max(WIDTHS * process.beam.sigma, 12 * hop), PART * process.plate[0])
    ends = np.array([[-0.5, 0.0], [0.5, 0.0]]) * length
    if length < 4 * hop:
        return 1.0
    line = sample_polyline(ends, name="straight line", speed=speed, tick=process.tick)
    course = plan_ticks(make_player(process, horizon=HORIZON, speed=speed, gain=1.0), line)
    plant = make_plant("graded", line, replace(process, speed=speed))
    plant.reset()
    T = np.array(
        [plant.step(float(watts), line.spot(k)).peak.temperature for k, watts in enumerate(course.power)]
    )
    last = slice(-max(1, int(LAST * len(line))), None)
    table = tabulate(process.material, process.ambient)
    expected = table.theta_of(course.temperature[last])
    return float(np.mean(table.theta_of(T[last]) / expected))
