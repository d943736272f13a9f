"""THE QUESTION: cases → results on disk, skip what exists; tables with the paper's figures beside ours."""

from laserloop.study.case import solve_case
from laserloop.study.offline import evaluate
from laserloop.study.trajectories import Trajectories

__all__ = ["Trajectories", "evaluate", "solve_case"]
