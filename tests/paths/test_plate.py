import numpy as np
import pytest

from laserloop.paths.path import first_off_plate, off_plate


def test_a_point_on_the_edge_is_on_the_plate() -> None:
    assert first_off_plate(np.array([[7.5e-3, -5e-3], [-7.5e-3, 5e-3]]), (15e-3, 10e-3)) is None


@pytest.mark.parametrize("point", [[7.6e-3, 0.0], [-7.6e-3, 0.0], [0.0, 5.1e-3], [0.0, -5.1e-3]])
def test_the_first_point_beyond_any_edge_is_found(point: list[float]) -> None:
    points = np.array([[0.0, 0.0], [1e-3, 1e-3], point, point])
    assert first_off_plate(points, (15e-3, 10e-3)) == 2


def test_the_sentence_names_the_place_the_point_and_the_limits() -> None:
    sentence = str(off_plate("a.csv, line 3", np.array([8e-3, 0.5e-3]), (15e-3, 10e-3)))
    assert sentence.startswith("a.csv, line 3: every point must lie on the 15 × 10 mm plate")
    assert "(8, 0.5) mm" in sentence
    assert sentence.endswith("keep |x| ≤ 7.5 and |y| ≤ 5 mm.")
