"""What a network sees in the loop is what it saw in its lessons."""

from dataclasses import replace

import numpy as np

from laserloop.data.store import COLUMNS, record_path
from laserloop.loop.run import look_ahead
from laserloop.paths import find_path
from laserloop.plant import Camera, make_plant
from laserloop.predict.networks import FEATURES, HISTORY, HORIZON, PLACES
from laserloop.predict.sequence import observe_features, read_record, turn_to

TICKS, SIGMA = 22, 1e-4


def test_the_loop_and_the_lessons_show_the_same() -> None:
    path = find_path("zigzag:7", ticks=TICKS + HORIZON)
    power = np.random.default_rng(0).uniform(8.0, 16.0, TICKS)
    table = read_record(record_path(make_plant("paper"), path, power), SIGMA)
    assert table.features.shape == (TICKS + 1 - HISTORY - HORIZON, FEATURES)

    plant = make_plant("paper")
    camera = Camera(replace(plant.settings.process.camera, sampling="smooth", subgrid=True))
    surface, peaks = plant.reset(), list[float]()
    for k in range(TICKS):
        image = camera.see(surface)
        assert image is not None
        peaks.insert(0, image.peak.temperature)
        if HISTORY <= k < HISTORY + len(table.features):
            seen = observe_features(
                image, look_ahead(path, k, list(power[:k]), HORIZON, HISTORY), np.array(peaks), SIGMA
            )
            row = k - HISTORY
            np.testing.assert_allclose(seen, table.features[row], rtol=1e-5, atol=1e-6)  # patches are single
            np.testing.assert_array_equal(table.plans[row], power[k : k + HORIZON])
        surface = plant.step(float(power[k]), path.spot(k))


def test_the_target_is_what_comes_of_the_plan() -> None:
    path = find_path("vertical", ticks=TICKS + HORIZON)
    power = np.linspace(5.0, 15.0, TICKS)
    record = record_path(make_plant("paper"), path, power)
    table = read_record(record, SIGMA)
    peak = record[:, COLUMNS.index("t_peak_k")]
    np.testing.assert_array_equal(table.target[0], peak[HISTORY + 1 : HISTORY + 1 + HORIZON])
    assert table.features[0, PLACES["heat"]][0] == peak[HISTORY]


def test_a_turned_path_looks_the_same() -> None:
    rng = np.random.default_rng(1)
    ways, angle = rng.normal(size=(3, 4, 2)), 0.7
    headings = rng.normal(size=(3, 2))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(turn_to(headings @ turn, ways @ turn, 2.0), turn_to(headings, ways, 2.0))
