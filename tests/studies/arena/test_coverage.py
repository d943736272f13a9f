"""Coverage: what lay beyond predictions, and margins that follow."""

from typing import Any

import numpy as np
import pytest
from arena_coverage import NAMES, cover_record, find_beyond

HEATING = [700] * 10  # before the settled ticks


def record(T: Any, told: Any, *, seen: Any = None, late: int = 0) -> dict[str, Any]:
    return {
        "process": {"camera": {"delay_ticks": late}},
        "series": {
            "t_true_k": list(T),
            "t_predicted_k": list(told),
            "t_measured_k": list(T if seen is None else seen),
            "lit": [True] * len(T),
        },
    }


def test_the_farthest_on_either_side_counts_in_settled_ticks_only() -> None:
    found = cover_record(record([*HEATING, 783, 776, 780], [*[780] * 12, None]))
    assert (found["beyond_above_k"], found["beyond_below_k"]) == (3.0, 4.0)
    assert found["followed_above"] is None  # four readings tell nothing


def test_without_predictions_nothing_is_said() -> None:
    assert cover_record(record([780.0] * 3, [None] * 3)) == dict.fromkeys(NAMES)


def test_a_margin_that_follows_keeps_about_what_it_promises_also_after_a_jump() -> None:
    rng = np.random.default_rng(0)
    T = 780.0 + rng.normal(0.0, 1.0, 6000) * np.where(np.arange(6000) < 3000, 1.0, 4.0)
    found = cover_record(record(T, [780.0] * 6000))
    assert found["followed_above"] == pytest.approx(0.95, abs=0.01)
    assert found["followed_below"] == pytest.approx(0.95, abs=0.01)


def test_a_reading_is_held_against_the_prediction_of_the_tick_it_was_of() -> None:
    T = 780.0 + 50.0 * np.sin(np.arange(400) / 5.0)
    late = np.concatenate((np.full(3, np.nan), T[:-3]))
    found = cover_record(record(T, T, seen=late, late=3))
    assert found["followed_margin_k"] == 0.0
    assert cover_record(record(T, T, seen=late, late=2))["followed_margin_k"] > 5.0


def test_no_margin_is_judged_by_the_tick_it_has_learned_from() -> None:
    jump = np.full(101, 780.0)
    jump[-1] = 900.0
    found = cover_record(record(jump, [780.0] * 101))
    assert found["followed_above"] == pytest.approx(1.0 - 1.0 / (101 - 19))


def test_what_lies_beyond_is_told_of_settled_ticks_with_a_prediction() -> None:
    found = find_beyond(record([*HEATING, 783, 776, 780], [*[780] * 12, None]))
    assert found.tolist() == [3.0, -4.0]
