"""THE TRUTH: a plate under a moving laser, and what a camera sees of it."""

from laserloop.plant.camera import Camera, Image
from laserloop.plant.melt_pool import MeltPool
from laserloop.plant.plant import PLANTS, HeatSolver, Plant, PlantSettings, Snapshot, make_plant
from laserloop.plant.surface import Hottest, Surface

__all__ = [
    "PLANTS",
    "Camera",
    "HeatSolver",
    "Hottest",
    "Image",
    "MeltPool",
    "Plant",
    "PlantSettings",
    "Snapshot",
    "Surface",
    "make_plant",
]
