"""Which power holds a window at which speed."""

import pytest

from laserloop.predict.twin.rollout import find_speed, needed_power
from laserloop.process import Process


@pytest.mark.parametrize("power", [6.0, 20.0])
def test_a_speed_needs_the_power_it_was_found_for(power: float) -> None:
    assert needed_power(Process(), find_speed(Process(), power)) == pytest.approx(power, rel=0.01)
