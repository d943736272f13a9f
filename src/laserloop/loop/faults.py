"""Faults of a camera, to be tried in the loop: each changes some images on their way to the controller."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from laserloop.plant import Image

Disturb = Callable[[int, Image], Image | None]
"""Tick and image in; the image that arrives out, None if none does."""


@dataclass(frozen=True, slots=True)
class Span:
    """The ticks from `first` on that a fault lasts."""

    first: int
    ticks: int = 1

    def __contains__(self, k: int) -> bool:
        return self.first <= k < self.first + self.ticks


def drop(span: Span) -> Disturb:
    """Images that do not arrive."""
    return lambda k, image: None if k in span else image


def blank(span: Span) -> Disturb:
    """Images full of NaN."""
    return lambda k, image: _change(image, np.full_like(image.temperature, np.nan)) if k in span else image


def saturate(span: Span, value: float = 65535.0) -> Disturb:
    """One pixel, the hottest, at the sensor's full scale."""

    def fault(k: int, image: Image) -> Image:
        if k not in span:
            return image
        temperature = image.temperature.copy()
        temperature.flat[int(np.argmax(temperature))] = value
        return _change(image, temperature)

    return fault


def freeze(span: Span) -> Disturb:
    """The same picture again and again, with new time stamps."""
    held: list[Image] = []

    def fault(k: int, image: Image) -> Image:
        if k not in span:
            held.clear()
            return image
        if not held:
            held.append(image)
            return image
        old = held[0]
        return Image(
            time=image.time,
            x=old.x,
            y=old.y,
            temperature=old.temperature,
            peak=old.peak,
            smooth=old.smooth,
            subgrid=old.subgrid,
        )

    return fault


def slow_down(every: int) -> Disturb:
    """A camera that gives an image only every so many ticks."""
    return lambda k, image: image if k % every == 0 else None


def _change(image: Image, temperature: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Image:
    return image.with_temperature(temperature)
