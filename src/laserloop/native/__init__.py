"""THE SAME IN C: one solver for this process and for machines without Python, built on first use.

May import process, paths, predict, control and of the plant the camera; nothing is imported before it is
asked for. A struct of C is laid out by reading its header (`layout.read_struct`), nowhere else.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.native.build import NoCompiler
    from laserloop.native.export import export_c
    from laserloop.native.network import RealtimeSolver
    from laserloop.native.twin import Memory, TwinController, make_twin
    from laserloop.native.twin_export import export_twin
    from laserloop.native.twin_loops import TwinLoops

__all__ = [
    "Memory",
    "NoCompiler",
    "RealtimeSolver",
    "TwinController",
    "TwinLoops",
    "export_c",
    "export_twin",
    "make_twin",
]

__getattr__ = fetch_from(__name__)
