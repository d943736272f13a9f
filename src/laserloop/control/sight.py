"""Sight: which images a controller believes. Single bad pixels are mended, bad images refused."""

import numpy as np
from numpy.typing import NDArray

from laserloop.plant.camera import Image

CREDIBLE = (50.0, 5000.0)  # K; colder or hotter is a broken pixel, not a plate
MOST_MENDED = 0.01  # share of the pixels; an image with more of them broken is refused


class Sight:
    """Remembers the last image it saw, so that one that only repeats it is known."""

    def __init__(self) -> None:
        self._last: NDArray[np.float64] | None = None

    def reset(self) -> None:
        """Forget the last image."""
        self._last = None

    def judge(self, image: Image | None) -> tuple[Image | None, bool]:
        """The image to believe, if any, and whether it was mended."""
        if image is None or not np.isfinite(image.time):
            return None, False
        seen = image.temperature
        if self._repeats(seen):
            return None, False
        self._last = seen
        low, high = float(seen.min()), float(seen.max())
        if CREDIBLE[0] <= low and high <= CREDIBLE[1]:  # false for NaN too
            return image, False
        mended = mend(seen)
        return (None, False) if mended is None else (image.with_temperature(mended), True)

    def _repeats(self, seen: NDArray[np.float64]) -> bool:
        """Is it the very same image, and not just of a plate at rest?"""
        last = self._last
        if last is None or last is seen or last.shape != seen.shape or last.flat[0] != seen.flat[0]:
            return False
        return bool(np.array_equal(last, seen) and seen.min() < seen.max())


def mend(temperature: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Broken pixels take the hottest of their eight neighbours, the safe side; None if too many are."""
    fine = (temperature >= CREDIBLE[0]) & (temperature <= CREDIBLE[1])
    broken = np.argwhere(~fine)
    if len(broken) > MOST_MENDED * temperature.size:
        return None
    hot = np.where(fine, temperature, -np.inf)
    mended = temperature.copy()
    for row, column in broken:
        around = hot[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].max()
        if not np.isfinite(around):
            return None
        mended[row, column] = around
    return mended
