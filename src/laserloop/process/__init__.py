"""WHAT THE USER HAS: material, plate, beam, laser, control period, window and camera; one file, one hash.

The names are fetched when first used: the command line reads the schema for its help, which need not wait for
SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laserloop.process.beam import Beam
    from laserloop.process.camera import CameraSettings
    from laserloop.process.laser import Laser
    from laserloop.process.material import Material
    from laserloop.process.material_file import find_material, read_material, shipped_materials
    from laserloop.process.process import Process
    from laserloop.process.process_file import find_process, read_process, shipped_processes, write_process

_FILES = {
    "beam": ("Beam",),
    "camera": ("CameraSettings",),
    "laser": ("Laser",),
    "material": ("Material",),
    "material_file": ("find_material", "read_material", "shipped_materials"),
    "process": ("Process",),
    "process_file": ("find_process", "read_process", "shipped_processes", "write_process"),
}

__all__ = [
    "Beam",
    "CameraSettings",
    "Laser",
    "Material",
    "Process",
    "find_material",
    "find_process",
    "read_material",
    "read_process",
    "shipped_materials",
    "shipped_processes",
    "write_process",
]


def __getattr__(name: str) -> object:
    for file, names in _FILES.items():
        if name in names:
            return getattr(import_module(f"laserloop.process.{file}"), name)
    raise AttributeError(f"module 'laserloop.process' has no attribute {name!r}")
