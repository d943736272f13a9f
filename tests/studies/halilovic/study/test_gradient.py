"""Gradient fidelity: the summary, and the shipped model's slope against the plant's."""

import numpy as np

from laserloop.paths import find_path
from laserloop.plant import make_plant
from laserloop.predict.model import find_model
from laserloop.studies.halilovic.measures import compare_gradients, summarise_gradient


def test_the_summary_tells_where_signs_differ() -> None:
    found = summarise_gradient(np.array([5, 10, 15]), np.array([4.0, -1.0, 6.0]), np.array([5.0, 5.0, 5.0]))
    assert found["sign_agreement"] == 2 / 3
    assert found["disagreeing_ticks"] == [10]
    assert found["mean_k_w"] == (1 + 6 + 1) / 3
    assert found["median_k_w"] == 1.0


def test_the_models_slope_has_the_plants_sign_and_size() -> None:
    path = find_path("spiral", ticks=31)
    found = compare_gradients(find_model("paper-base"), make_plant("paper"), path, [14.0] * 31, every=10)
    assert found["ticks"] == [10, 20, 30]
    assert found["sign_agreement"] == 1.0
    assert 2.0 < found["typical_k_w"] < 9.0
    assert found["mean_k_w"] < 0.5 * found["typical_k_w"]
