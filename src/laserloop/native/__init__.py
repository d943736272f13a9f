"""The same in C: one solver for this process and for machines without Python."""

from laserloop.native.export import export_c
from laserloop.native.realtime import RealtimeSolver

__all__ = ["RealtimeSolver", "export_c"]
