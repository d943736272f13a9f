"""HOW GOOD A MODEL IS: its error on fresh trajectories, the margin that covers it, how long it takes."""

from laserloop.evaluation.calibration import calibrate
from laserloop.evaluation.latency import measure_latency
from laserloop.evaluation.offline import evaluate
from laserloop.evaluation.trajectories import Trajectories

__all__ = ["Trajectories", "calibrate", "evaluate", "measure_latency"]
