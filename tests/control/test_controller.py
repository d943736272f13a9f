"""Validation: good images pass, single pixels are mended, bad images are refused."""

import numpy as np
import pytest
from numpy.typing import NDArray

from laserloop.control.controller import ImageValidator
from laserloop.plant import Hottest, Image


def make(temperature: NDArray[np.float64], time: float = 0.0) -> Image:
    rows, columns = temperature.shape
    x, y = np.linspace(0.0, 1e-3, columns), np.linspace(0.0, 1e-3, rows)
    return Image(
        time=time, x=x, y=y, temperature=temperature, peak=Hottest(float(temperature.max()), 0.0, 0.0)
    )


@pytest.fixture
def warm() -> NDArray[np.float64]:
    rows, columns = np.mgrid[:20, :30]
    surface: NDArray[np.float64] = 300.0 + 400.0 * np.exp(-((rows - 9.0) ** 2 + (columns - 14.0) ** 2) / 8.0)
    return surface


def test_a_good_image_passes_untouched(warm: NDArray[np.float64]) -> None:
    image = make(warm)
    assert ImageValidator().judge(image) == (image, False)


@pytest.mark.parametrize("value", [np.nan, np.inf, 65535.0, 0.0, -273.0])
def test_a_broken_pixel_takes_its_hottest_neighbour(warm: NDArray[np.float64], value: float) -> None:
    warm[9, 14] = value
    image, mended = ImageValidator().judge(make(warm))
    assert image is not None
    assert mended
    assert image.temperature[9, 14] == max(warm[8, 14], warm[10, 14], warm[9, 13], warm[9, 15])
    assert image.peak.temperature == image.temperature.max() < 700.0


def test_a_broken_pixel_is_marked_for_those_who_can_do_without_it(warm: NDArray[np.float64]) -> None:
    warm[9, 14] = 65535.0
    image, mended = ImageValidator(mark=True).judge(make(warm))
    assert image is not None
    assert mended
    assert np.argwhere(np.isnan(image.temperature)).tolist() == [[9, 14]]


def test_an_image_full_of_nan_is_refused(warm: NDArray[np.float64]) -> None:
    assert ImageValidator().judge(make(np.full_like(warm, np.nan))) == (None, False)


def test_an_image_that_did_not_come_is_none() -> None:
    assert ImageValidator().judge(None) == (None, False)


def test_a_frozen_image_is_refused_and_a_new_one_believed_again(warm: NDArray[np.float64]) -> None:
    validator = ImageValidator()
    assert validator.judge(make(warm, 0.0))[0] is not None
    assert validator.judge(make(warm, 1.0))[0] is None
    assert validator.judge(make(warm + 1.0, 2.0))[0] is not None


def test_a_plate_at_rest_is_not_taken_for_a_frozen_image() -> None:
    validator, cold = ImageValidator(), np.full((5, 5), 300.0)
    assert validator.judge(make(cold, 0.0))[0] is not None
    assert validator.judge(make(cold, 1.0))[0] is not None
