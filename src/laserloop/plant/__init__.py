"""THE TRUTH: a plate under a moving laser, what a camera sees of it, and exact solutions to check it with."""

from laserloop.plant.camera import Camera, Image
from laserloop.plant.grid import Grid
from laserloop.plant.make import PLANTS, make_plant
from laserloop.plant.melt_pool import MeltPool
from laserloop.plant.plant import Plant, Snapshot
from laserloop.plant.settings import PlantSettings, graded_settings, moving_settings, paper_settings
from laserloop.plant.surface import Hottest, Surface

__all__ = [
    "PLANTS",
    "Camera",
    "Grid",
    "Hottest",
    "Image",
    "MeltPool",
    "Plant",
    "PlantSettings",
    "Snapshot",
    "Surface",
    "graded_settings",
    "make_plant",
    "moving_settings",
    "paper_settings",
]
