"""A plant that is not what its process says."""

import pytest

from laserloop.bad_input import BadInput
from laserloop.process import Process
from laserloop.process.process import check_factors, mismatch


def test_a_lag_in_microseconds_is_the_plants_whatever_the_process_says() -> None:
    for known in (0.0, 40.0):
        assert mismatch(Process().change(lag_us=known), {"laser-lag-us": 125.0}).laser.lag == pytest.approx(
            1.25e-4
        )


def test_a_factor_of_lag_multiplies_that_of_the_process() -> None:
    assert mismatch(Process().change(lag_us=40.0), {"laser-lag": 2.0}).laser.lag == pytest.approx(8e-5)


@pytest.mark.parametrize(
    ("factors", "word"),
    [
        ({"laser-lag-us": -1.0}, "µs"),
        ({"laser-lag-us": 10.0, "laser-lag": 2.0}, "both"),
        ({"colour": 1.0}, "laser-lag-us"),
        ({"absorptivity": 20.0}, "0.1 and 10"),
    ],
)
def test_what_means_nothing_is_refused(factors: dict[str, float], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        check_factors(factors)
