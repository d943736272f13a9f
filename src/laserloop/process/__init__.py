"""WHAT THE USER HAS: material, plate, beam, laser, control period, window and camera; one file, one hash.

The names are fetched when first used: the command line reads the schema for its help, which need not wait for
SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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

_OF_MATERIAL = ("Material", "find_material", "read_material", "shipped_materials")

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


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'laserloop.process' has no attribute {name!r}")
    file = "material" if name in _OF_MATERIAL else "process"
    return getattr(import_module(f"laserloop.process.{file}"), name)
