"""Faults to be tried in the loop: of images on their way to the controller, and of power on its way back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from laserloop.bad_input import BadInput
from laserloop.plant import Image

Disturb = Callable[[int, Image], Image | None]
"""Tick and image in; the image that arrives out, None if none does."""
Drift = Callable[[int, float], float]
"""Tick and command in; the power that the plate gets as if it had been commanded out, W."""

FOR_EVER = 10**9  # ticks


@dataclass(frozen=True, slots=True)
class Span:
    """The ticks from `first` on that a fault lasts; with a `share`, as many of them, drawn by a seed."""

    first: int
    ticks: int = 1
    share: float = 1.0
    seed: int = 0

    def __contains__(self, k: int) -> bool:
        if not self.first <= k < self.first + self.ticks:
            return False
        return self.share >= 1.0 or bool(np.random.default_rng((self.seed, k)).random() < self.share)


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
            sampling=old.sampling,
            subgrid=old.subgrid,
        )

    return fault


def slow_down(every: int) -> Disturb:
    """A camera that gives an image only every so many ticks."""
    return lambda k, image: image if k % every == 0 else None


def weaken(span: Span, factor: float) -> Drift:
    """Power of which only a share arrives, as when absorptivity changes."""
    return lambda k, power: factor * power if k in span else power


IMAGE_FAULTS = {"drop": drop, "blank": blank, "saturate": saturate, "freeze": freeze}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault as settings: of images by name, or of `absorbed` power."""

    kind: str  # drop, blank, saturate, freeze or absorbed
    first: int = 0  # tick
    ticks: int = FOR_EVER
    factor: float = 1.0  # of absorbed power
    share: float = 1.0  # of these ticks
    seed: int = 0  # of the dice that choose them

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise BadInput(
                f"the share of ticks with a fault must lie between 0 and 1, got {self.share:g}: change it"
            )
        if self.kind not in (*IMAGE_FAULTS, "absorbed"):
            raise BadInput(
                f"a fault must be one of {', '.join(IMAGE_FAULTS)} or absorbed, got {self.kind!r}: choose one"
            )

    @property
    def disturb(self) -> Disturb | None:
        """What happens to images."""
        return IMAGE_FAULTS[self.kind](self.span) if self.kind in IMAGE_FAULTS else None

    @property
    def drift(self) -> Drift | None:
        """What happens to power."""
        return weaken(self.span, self.factor) if self.kind == "absorbed" else None

    @property
    def span(self) -> Span:
        """When."""
        return Span(self.first, self.ticks, self.share, self.seed)


def disturb_by(faults: Sequence[Fault], last: Disturb | None = None) -> Disturb | None:
    """What all of them do to images, one after another, and `last` after them."""
    given = [*(fault.disturb for fault in faults), last]
    chain = [disturb for disturb in given if disturb is not None]

    def disturb(k: int, image: Image) -> Image | None:
        arrived: Image | None = image
        for change in chain:
            arrived = None if arrived is None else change(k, arrived)
        return arrived

    return disturb if chain else None


def drift_by(faults: Sequence[Fault], last: Drift | None = None) -> Drift | None:
    """What all of them do to power, one after another, and `last` after them."""
    given = [*(fault.drift for fault in faults), last]
    chain = [drift for drift in given if drift is not None]

    def drift(k: int, power: float) -> float:
        for change in chain:
            power = change(k, power)
        return power

    return drift if chain else None


def _change(image: Image, temperature: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Image:
    return image.with_temperature(temperature)
