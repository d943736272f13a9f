"""Bias and ripple of the graded plant at constant power, against a Richardson-extrapolated reference."""

from pathlib import Path

import numpy as np
import pytest

from laserloop.papers.halilovic.study.plant_accuracy import ANGLES, GRADED, judge_plants


@pytest.mark.validation
def test_graded_is_within_2_k_of_the_limit_with_less_than_1_k_of_ripple_at_any_angle(tmp_path: Path) -> None:
    found = judge_plants(tmp_path, (1, 2), ())
    for angle in ANGLES:
        row = found["plants"][GRADED][str(angle)]
        assert abs(row["peak_bias_k"]) < 2.0
        assert row["peak_ripple_k"] < 1.0
    limits = [found["reference"][str(angle)]["limit_k"] for angle in ANGLES]
    assert np.ptp(limits) < 0.2  # the limit knows no direction
