"""WHAT THE USER HAS: material, plate, beam, laser, control period, window and camera; one file, one hash."""

from laserloop.process.beam import Beam
from laserloop.process.camera import CameraSettings
from laserloop.process.laser import Laser
from laserloop.process.material import Material
from laserloop.process.material_file import find_material, read_material, shipped_materials
from laserloop.process.process import Process
from laserloop.process.process_file import find_process, read_process, shipped_processes, write_process

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
