"""Shapes, .stl: sliced and hatched by PySLM, told as a Common Layer Interface file."""

import warnings
from dataclasses import dataclass
from math import ceil
from os import PathLike
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.paths.pyslm_layers import tell_layers
from laserloop.paths.text import read_bytes

MAX_LAYERS = 10_000
MAX_HATCHES = 1_000_000  # of a part, and of what is around it


@dataclass(frozen=True, slots=True, kw_only=True)
class Hatching:
    """How a shape is filled."""

    layer: float = 40e-6  # m, thickness
    distance: float = 100e-6  # m, between hatches
    angle: float = 0.0  # degrees, of the first layer's hatches
    turn: float = 67.0  # degrees, from a layer to the next
    contours: int = 1  # around the hatches

    def __post_init__(self) -> None:
        if not (self.layer > 0 and self.distance > 0 and self.contours >= 0):
            raise BadInput(
                f"layers and the distance of hatches must be positive, but are {self.layer} and "
                f"{self.distance} m, with {self.contours} contours; correct them."
            )


def hatch_stl(file: str | PathLike[str], hatching: Hatching | None = None) -> str:
    """The text of a layer file; coordinates are in mm, as the shape's are."""
    hatching = hatching or Hatching()
    read_bytes(file)  # within limits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names of SciPy and trimesh that will go
        part = _load(file)
        x_low, y_low, z_low, x_high, y_high, z_high = part.boundingBox
        layers = max(1, ceil((z_high - z_low) * 1e-3 / hatching.layer - 1e-6))
        hatches = layers * (x_high - x_low + y_high - y_low) * 1e-3 / hatching.distance
        if layers > MAX_LAYERS or hatches > MAX_HATCHES:
            raise BadInput(
                f"{file}: a part may have at most {MAX_LAYERS} layers and {MAX_HATCHES} hatches, but has "
                f"{layers} layers and some {hatches:.0f} hatches; check that it is in mm"
            )
        found = [_hatch(part, k, z_low, hatching) for k in range(layers)]
    kept = [layer for layer in found if layer is not None]
    if not kept:
        raise BadInput(f"{file}: a shape must be closed and have a volume, but no layer of it is; mend it.")
    return tell_layers(kept, maker=_tell_maker())


def _load(file: str | PathLike[str]) -> Any:
    try:
        from pyslm import Part
    except ModuleNotFoundError:
        raise BadInput(
            f"{file}: a shape is hatched by PySLM, but it is not installed; pip install 'laserloop[parts]'."
        ) from None
    part = Part("part")
    try:
        part.setGeometry(str(file))
        bounds = [float(value) for value in part.boundingBox]
    except Exception as problem:  # whatever trimesh raises for what is no STL
        raise BadInput(
            f"{file}: a shape must be an STL file with triangles, but is not ({type(problem).__name__}); "
            "export it again."
        ) from None
    if len(bounds) != 6 or not all(abs(value) < 1e6 for value in bounds):
        raise BadInput(f"{file}: a shape must be finite, but reaches from {bounds} mm; export it again.")
    return part


def _hatch(part: Any, k: int, bottom: float, hatching: Hatching) -> Any:
    """The layer of that number, from 0, sliced in its middle; None where there is nothing."""
    from pyslm import hatching as filling

    hatcher = filling.Hatcher()
    hatcher.hatchDistance = 1e3 * hatching.distance
    hatcher.hatchAngle = (hatching.angle + k * hatching.turn) % 180.0
    hatcher.volumeOffsetHatch = hatcher.spotCompensation = 0.5e3 * hatching.distance
    hatcher.numInnerContours, hatcher.numOuterContours = 0, hatching.contours
    hatcher.hatchSortMethod = filling.AlternateSort()
    thickness = 1e3 * hatching.layer
    outlines = part.getVectorSlice(bottom + (k + 0.5) * thickness)
    layer = hatcher.hatch(outlines) if outlines else None
    if layer is None or not any(len(geometry.coords) for geometry in layer.geometry):
        return None
    layer.z = round(1e3 * (bottom + (k + 1) * thickness))
    return layer


def _tell_maker() -> str:
    from importlib.metadata import version

    return f"PySLM {version('PythonSLM')}"
