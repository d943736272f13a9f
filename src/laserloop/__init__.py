"""laserloop: keep the peak temperature of a moving laser inside its process window.

The public names are fetched from their rooms when first used, so that `laserloop --help` need not wait for
the compiler of the plant.
"""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.bad_input import BadInput
    from laserloop.control import Action, Controller, MpcProblem, Preview, Status
    from laserloop.data.episode import Episode, simulate
    from laserloop.loop.controllers import make_controller
    from laserloop.loop.record import Run, score
    from laserloop.paths import ScanPath, find_path
    from laserloop.plant import Camera, Image, Plant, Surface, make_plant
    from laserloop.process import (
        CameraSettings,
        Material,
        Process,
        find_material,
        find_process,
        read_material,
        read_process,
    )
    from laserloop.script import close_loop, identify, plan, plot

__all__ = [
    "Action",
    "BadInput",
    "Camera",
    "CameraSettings",
    "Controller",
    "Episode",
    "Image",
    "Material",
    "MpcProblem",
    "Plant",
    "Preview",
    "Process",
    "Run",
    "ScanPath",
    "Status",
    "Surface",
    "close_loop",
    "find_material",
    "find_path",
    "find_process",
    "identify",
    "make_controller",
    "make_plant",
    "plan",
    "plot",
    "read_material",
    "read_process",
    "score",
    "simulate",
]


_fetch = fetch_from(__name__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("laserloop")
    return _fetch(name)


def __dir__() -> list[str]:
    return sorted(__all__)
