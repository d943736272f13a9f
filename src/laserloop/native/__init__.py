"""The same in C: one solver for this process and for machines without Python."""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.native.export import export_c
    from laserloop.native.realtime import RealtimeSolver
    from laserloop.native.twin_export import export_twin

__all__ = [
    "RealtimeSolver",
    "export_c",
    "export_twin",
]

__getattr__ = fetch_from(
    __name__,
    {
        "export": ("export_c",),
        "realtime": ("RealtimeSolver",),
        "twin_export": ("export_twin",),
    },
)
