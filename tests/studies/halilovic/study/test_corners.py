"""Corners of the unseen path: the same place and time, other angles and speeds."""

import numpy as np
import pytest

from laserloop.data.episode import find_turns
from laserloop.paths import find_path
from laserloop.studies.halilovic.cases import ACCELERATION, VARIANTS, make_path
from laserloop.studies.halilovic.measures import find_best, judge_corner

VERTEX = np.array([-1.5e-3, -1.5e-3])
STOP = 0.304 / ACCELERATION  # s


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_corner_is_met_at_the_papers_place_and_turns_by_its_angle(variant: str) -> None:
    path, slowing = make_path(variant, 120), "slowing" in variant
    assert len(path) == 120
    nearest = int(np.argmin(np.hypot(*(path.positions - VERTEX).T)))
    assert path.times[nearest] == pytest.approx(4.934e-3 + slowing * STOP / 2, abs=1.3e-4)
    before, after = (
        np.diff(path.positions[nearest - 6 : nearest - 3], axis=0)[0],
        np.diff(path.positions[nearest + 4 : nearest + 7], axis=0)[0],
    )
    cosine = before @ after / np.hypot(*before) / np.hypot(*after)
    assert np.degrees(np.arccos(np.clip(cosine, -1, 1))) == pytest.approx(float(variant[:3]), abs=0.6)
    assert int(find_turns(path.positions)[0]) == pytest.approx(nearest, abs=2)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_beam_keeps_its_speed_but_where_it_slows_down(variant: str) -> None:
    speeds = np.hypot(*np.diff(make_path(variant, 200).positions, axis=0).T) / 1.25e-4
    assert np.median(speeds) == pytest.approx(0.304, rel=1e-6)
    changes = np.abs(np.diff(speeds[:30])).max()  # on the first leg, before its corner
    assert changes < 1e-9
    if "slowing" in variant:
        assert speeds.min() < 0.304 / 4
        assert np.abs(np.diff(speeds)).max() <= 1.01 * ACCELERATION * 1.25e-4


def test_the_usual_corner_is_that_of_the_built_in_path() -> None:
    np.testing.assert_array_equal(make_path("135°", 90).positions, find_path("diagonal", ticks=90).positions)


def invent(overshoot: float, first: int, run: int, worst_at: int) -> dict[str, object]:
    """A run on the usual corner: too hot from a tick on, for as many, predicted worst at another."""
    places = 1e3 * make_path("135°", 100).positions[1:]
    true, predicted = np.full(100, 780.0), np.full(100, 780.0)
    true[first : first + run] = 800.0 + np.linspace(overshoot, 0.1, run)
    predicted[first : first + run] = 790.0
    predicted[worst_at] = true[worst_at] - 91.0
    series = {"x_mm": places[:, 0], "y_mm": places[:, 1], "t_true_k": true, "t_predicted_k": predicted}
    return {"series": series, "settled_from": 10, "window_k": [760.0, 800.0], "overshoot_k": overshoot}


def test_the_papers_own_failure_meets_all_five_sentences_and_another_does_not() -> None:
    found = judge_corner(invent(51.0, 39, 22, 39))
    assert (found["met"], found["of"]) == (5, 5)
    assert found["failure"]["at_first"] == 22
    late = judge_corner(invent(51.0, 70, 22, 70))
    assert late["failure"]["at_first"] == 0
    assert late["met"] == 3  # the overshoot, the size, and that the hottest tick is the worst
    assert judge_corner(invent(20.0, 39, 9, 50))["met"] == 1  # the size alone


def test_the_best_corner_is_the_baselines_that_meets_most() -> None:
    rows = [
        {"label": "baseline", "variant": "a", "met": 2, "overshoot_k": 50.0},
        {"label": "baseline", "variant": "b", "met": 3, "overshoot_k": 10.0},
        {"label": "baseline", "variant": "c", "met": 3, "overshoot_k": 40.0},
        {"label": "corner", "variant": "d", "met": 5, "overshoot_k": 51.0},
    ]
    assert find_best(rows)["variant"] == "c"


def test_a_run_that_ends_before_its_first_turn_is_judged_too() -> None:
    run = invent(51.0, 12, 3, 15)
    run["series"] = {name: column[:20] for name, column in run["series"].items()}  # type: ignore[attr-defined]
    found = judge_corner(run)
    assert found["failure"]["worst_from_first"] is None
    assert found["failure"]["at_first"] == 0
    assert found["failure"]["rms_elsewhere_k"] == found["failure"]["rms_k"]
    assert found["met"] == 2  # the overshoot, the size
