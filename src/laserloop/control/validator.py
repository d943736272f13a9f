"""Validation: which images a controller believes. Bad pixels are mended or marked, bad images refused."""

import math

import numpy as np
from numpy.typing import NDArray

from laserloop.plant.camera import Image

CREDIBLE = (50.0, 5000.0)  # K; colder or hotter is a broken pixel, not a plate
MOST_MENDED = 0.01  # share of the pixels; an image with more of them broken is refused


class ImageValidator:
    """Remembers the last image it saw, so that one that only repeats it is known."""

    def __init__(self, *, mark: bool = False) -> None:
        self._repair = blank if mark else mend  # for those who can do without a pixel, broken ones become NaN
        self._last: Image | None = None

    def reset(self) -> None:
        """Forget the last image."""
        self._last = None

    def judge(self, image: Image | None) -> tuple[Image | None, bool]:
        """The image to believe, if any, and whether it was mended."""
        if image is None or not math.isfinite(image.time) or self._repeats(image):
            return None, False
        self._last = image
        seen = image.temperature
        if image.peak.temperature <= CREDIBLE[1] and seen.min() >= CREDIBLE[0]:  # both false for NaN
            return image, False
        mended = self._repair(seen)
        return (None, False) if mended is None else (image.with_temperature(mended), True)

    def _repeats(self, image: Image) -> bool:
        """Is it the very same picture, wherever it says that it was taken, and not just of a plate at rest?

        The places of the pixels tell nothing: those of a coaxial camera follow the beam.
        """
        last, seen = self._last, image.temperature
        if last is None or last is image or last.temperature.shape != seen.shape:
            return False
        return bool(np.array_equal(last.temperature, seen) and seen.min() < seen.max())


def blank(temperature: NDArray[np.float64], by: float = np.nan) -> NDArray[np.float64] | None:
    """Broken pixels are replaced by a value; None if too many are."""
    fine = (temperature >= CREDIBLE[0]) & (temperature <= CREDIBLE[1])
    few = np.count_nonzero(fine) >= (1.0 - MOST_MENDED) * temperature.size
    return np.where(fine, temperature, by) if few else None


def mend(temperature: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Broken pixels take the hottest of their eight neighbours, the safe side; None if too many are."""
    hot = blank(temperature, -np.inf)
    if hot is None:
        return None
    broken = np.argwhere(hot == -np.inf)
    mended = temperature.copy()
    for row, column in broken:
        around = hot[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].max()
        if not np.isfinite(around):
            return None
        mended[row, column] = around
    return mended
