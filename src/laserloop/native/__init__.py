"""The same in C: one solver for this process and for machines without Python."""

from laserloop.native.export import export_c
from laserloop.native.realtime import RealtimeSolver
from laserloop.native.twin_export import export_twin

__all__ = ["RealtimeSolver", "export_c", "export_twin"]
