"""laserloop: keep the peak temperature of a moving laser inside its process window.

The public names are fetched from their rooms when first used, so that `laserloop --help` need not wait for
the compiler of the plant.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laserloop.bad_input import BadInput
    from laserloop.data.episode import Episode, simulate
    from laserloop.data.excitation import Excitation, draw_power
    from laserloop.paths import ScanPath, find_path, sample_polyline
    from laserloop.plant import (
        Camera,
        Image,
        Plant,
        PlantSettings,
        Surface,
        graded_settings,
        make_plant,
        paper_settings,
    )
    from laserloop.process import Beam, CameraSettings, Material, find_material, read_material

_ROOMS = {
    "bad_input": ("BadInput",),
    "data.episode": ("Episode", "make_plant", "simulate"),
    "data.excitation": ("Excitation", "draw_power"),
    "paths": ("ScanPath", "find_path", "sample_polyline"),
    "plant": (
        "Beam",
        "Camera",
        "CameraSettings",
        "Image",
        "Material",
        "Plant",
        "PlantSettings",
        "Surface",
        "find_material",
        "graded_settings",
        "paper_settings",
        "read_material",
    ),
}

__all__ = [
    "BadInput",
    "Beam",
    "Camera",
    "CameraSettings",
    "Episode",
    "Excitation",
    "Image",
    "Material",
    "Plant",
    "PlantSettings",
    "ScanPath",
    "Surface",
    "draw_power",
    "find_material",
    "find_path",
    "graded_settings",
    "make_plant",
    "paper_settings",
    "read_material",
    "sample_polyline",
    "simulate",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return version("laserloop")
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"laserloop.{room}"), name)
    raise AttributeError(f"module 'laserloop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
