"""Margins: what they cover, and on which windows."""

import numpy as np
import pytest

from laserloop.evaluation.calibration import margins
from laserloop.predict.networks import find_model


def test_the_one_sided_margin_covers_its_share_of_the_under_predictions() -> None:
    residual = np.random.default_rng(0).normal(1.0, 5.0, 20_000)
    delta = margins(residual, 0.95)
    assert np.mean(residual <= delta["delta_one_sided_k"]) == pytest.approx(0.95, abs=1e-3)
    assert np.mean(np.abs(residual) <= delta["delta_symmetric_k"]) == pytest.approx(0.95, abs=1e-3)


def test_a_model_that_never_under_predicts_needs_no_one_sided_margin() -> None:
    delta = margins(-np.arange(1.0, 101.0), 0.95)
    assert delta["delta_one_sided_k"] == 0.0
    assert delta["delta_symmetric_k"] > 90.0


@pytest.mark.parametrize(("name", "low", "high"), [("paper-corner", 10.0, 16.0), ("paper-base", 5.0, 8.0)])
def test_a_shipped_model_carries_its_margin(name: str, low: float, high: float) -> None:
    kept = find_model(name).provenance["calibration"]
    assert kept["windows"] == 25_280
    assert low < kept["delta_one_sided_k"] < high
    assert set(kept["per_excitation"]) == {"persistent", "hf-random", "bang-bang"}
