"""THE TRUTH: a plate under a moving laser, what a camera sees of it, and exact solutions to check it with."""

from laserloop.plant.beam import Beam
from laserloop.plant.camera import Camera, CameraSettings, Image
from laserloop.plant.grid import Grid
from laserloop.plant.material import Material
from laserloop.plant.material_file import find_material, read_material
from laserloop.plant.plant import Plant, PlantSettings, Snapshot, graded_settings, paper_settings
from laserloop.plant.surface import Hottest, Surface

__all__ = [
    "Beam",
    "Camera",
    "CameraSettings",
    "Grid",
    "Hottest",
    "Image",
    "Material",
    "Plant",
    "PlantSettings",
    "Snapshot",
    "Surface",
    "find_material",
    "graded_settings",
    "paper_settings",
    "read_material",
]
