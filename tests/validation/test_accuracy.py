"""Bias and ripple of the graded plant at constant power, against a Richardson-extrapolated reference."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

STUDY = Path(__file__).parents[2] / "benchmarks" / "plant_accuracy.py"


@pytest.mark.validation
def test_graded_is_within_2_k_of_the_limit_with_less_than_1_k_of_ripple_at_any_angle() -> None:
    spec = importlib.util.spec_from_file_location("plant_accuracy", STUDY)
    assert spec is not None
    assert spec.loader is not None
    study = importlib.util.module_from_spec(spec)
    sys.modules["plant_accuracy"] = study  # its dataclasses look themselves up there
    spec.loader.exec_module(study)
    reference = study.make_reference(2)
    for angle in study.ANGLES:
        line = study.run_line(study.line_settings(angle), angle)
        assert abs(line.peak.mean() - reference[angle]["limit_k"]) < 2.0
        assert np.ptp(line.peak) < 1.0
    limits = [reference[angle]["limit_k"] for angle in study.ANGLES]
    assert np.ptp(limits) < 0.2  # the limit knows no direction
