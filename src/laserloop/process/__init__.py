"""WHAT THE USER HAS: material, plate, beam, laser, control period, window and camera; one file, one hash.

May import no other room. Names are fetched when first used: help reads the keys without waiting for SciPy.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.process.material import Material, find_material, read_material, shipped_materials
    from laserloop.process.process import (
        Beam,
        CameraSettings,
        Laser,
        Process,
        find_process,
        mismatch,
        read_process,
        shipped_processes,
        write_process,
    )

__all__ = [
    "Beam",
    "CameraSettings",
    "Laser",
    "Material",
    "Process",
    "find_material",
    "find_process",
    "mismatch",
    "read_material",
    "read_process",
    "shipped_materials",
    "shipped_processes",
    "write_process",
]

__getattr__ = fetch_from(__name__)
