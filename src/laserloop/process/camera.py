"""The camera's settings: how good it is, and how it is read."""

from dataclasses import dataclass
from numbers import Integral
from typing import Literal, get_args

from laserloop.bad_input import BadInput, is_finite, show

Sampling = Literal["nearest", "bilinear", "smooth"]
"""How an image is read at a point: at the nearest pixel (the paper), bilinearly, or by a C¹ cubic."""
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)
HEAT_RATIO = (0.5, 5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraSettings:
    """How good the camera is; the default is the paper's: it sees every node, at once and exactly."""

    pixel: float | None = None  # m, edge of a square pixel on the plate; None: the grid's nodes themselves
    noise: float = 0.0  # K, standard deviation in each pixel of each image, whatever the exposure
    exposure: int = 1  # ticks averaged into an image; more blurs a moving beam
    delay: int = 0  # ticks from the end of the exposure until the image is there
    every: int = 1  # ticks from one image to the next
    emissivity: float = 1.0  # true over assumed; temperatures read ε^¼ of what they are
    seed: int = 0  # of the noise
    sampling: Sampling = "nearest"  # how temperatures ahead are read; the paper says no more than "directly"
    heat_ratio: tuple[float, float] = HEAT_RATIO  # of seen to expected: beyond, an image is not of this plate
    subgrid: bool = False  # is the peak found between the pixels, or is it the hottest one (the paper)?

    def __post_init__(self) -> None:
        if self.pixel is not None and not (is_finite(self.pixel) and self.pixel > 0):
            raise BadInput(
                f"a camera's pixel must be a positive length in m or None, got {show(self.pixel)}: correct it"
            )
        if not (is_finite(self.noise) and self.noise >= 0):
            raise BadInput(
                f"a camera's noise must be a finite number ≥ 0 K, got {show(self.noise)}: correct it"
            )
        if not (is_finite(self.emissivity) and self.emissivity > 0):
            raise BadInput(
                f"a camera's emissivity must be a positive number, got {show(self.emissivity)}: correct it"
            )
        check_sampling(self.sampling)
        for name, least in (("exposure", 1), ("delay", 0), ("every", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise BadInput(f"a camera's {name} must be a whole number ≥ {least}, got {value}: correct it")


def check_sampling(given: object) -> None:
    """Refuse a sampling that nobody knows."""
    if given not in SAMPLINGS:
        raise BadInput(f"a sampling must be one of {', '.join(SAMPLINGS)}, got {given!r}: choose one")
