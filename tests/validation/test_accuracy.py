"""Bias and ripple of the graded plant at constant power, against a Richardson-extrapolated reference."""

from pathlib import Path

import numpy as np
import pytest

from laserloop.studies.halilovic.cases import ANGLES, GRADED
from laserloop.studies.halilovic.measures import judge_plants


@pytest.mark.validation
def test_graded_is_within_half_a_kelvin_of_the_limit_and_does_not_ripple_at_any_angle(tmp_path: Path) -> None:
    found = judge_plants(tmp_path, (1, 2), ())
    for angle in ANGLES:
        row = found["plants"][GRADED][str(angle)]
        assert abs(row["peak_bias_k"]) < 0.5
        assert row["peak_ripple_k"] < 0.1
    limits = [found["reference"][str(angle)]["limit_k"] for angle in ANGLES]
    assert np.ptp(limits) < 0.2  # the limit knows no direction
