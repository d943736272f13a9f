"""Margins: the rank that a promise needs, and files that belong to one process."""

import json
from math import inf
from pathlib import Path

import numpy as np
import pytest

from laserloop.bad_input import BadInput
from laserloop.control.margins import Margins, count_needed, find_margins, find_quantile, read_margins
from laserloop.process import Process


@pytest.mark.parametrize(
    ("count", "level", "rank"), [(19, 0.95, 19), (39, 0.95, 38), (18, 0.95, 19), (9, 0.9, 9), (99, 0.9, 90)]
)
def test_the_quantile_is_the_score_of_its_rank(count: int, level: float, rank: int) -> None:
    scores = np.random.default_rng(0).permutation(np.arange(1.0, count + 1))
    assert find_quantile(scores, level) == (rank if rank <= count else inf)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_the_fewest_runs_that_promise_are_just_enough(level: float) -> None:
    fewest = count_needed(level)
    assert find_quantile(np.ones(fewest), level) == 1.0
    assert find_quantile(np.ones(fewest - 1), level) == inf


def test_a_new_score_is_covered_as_often_as_promised() -> None:
    """Over many calibrations with skewed scores: at least the level, and not much more."""
    rng = np.random.default_rng(1)
    covered = [rng.exponential() <= find_quantile(rng.exponential(size=39), 0.9) for _ in range(4000)]
    assert 0.885 <= np.mean(covered) <= 0.925  # 36/40 by the theory


def test_margins_come_back_from_their_file_for_their_process_only(tmp_path: Path) -> None:
    margins = Margins(above=3.25, below=2.5, level=0.9, runs=39)
    process = Process()
    file = tmp_path / "margins.json"
    file.write_text(json.dumps({"process": process.to_json(), "margins": margins.to_json()}))
    assert read_margins(file, process) == margins
    with pytest.raises(BadInput, match=r"another camera.noise_k"):
        read_margins(file, process.change(noise_k=5.0))


@pytest.mark.parametrize("text", ["", "[]", '{"process": {}}', '{"margins": {"above_k": 1}}', "\x00"])
def test_a_file_that_is_none_is_refused_in_a_sentence(text: str, tmp_path: Path) -> None:
    file = tmp_path / "margins.json"
    file.write_text(text)
    with pytest.raises(BadInput, match="laserloop calibrate"):
        read_margins(file, Process())


def test_the_papers_process_ships_with_margins_and_another_does_not() -> None:
    shipped = find_margins("graded", Process())
    assert shipped is not None
    assert shipped.runs >= count_needed(shipped.level)
    assert 0.5 < shipped.above < 8.0
    assert 0.5 < shipped.below < 8.0
    assert find_margins("paper", Process()) is None
    assert find_margins("graded", Process().change(window_k=(700.0, 740.0))) is None


@pytest.mark.parametrize("value", [-1.0, float("nan"), inf])
def test_a_margin_is_a_number_of_kelvin(value: float) -> None:
    with pytest.raises(BadInput, match="finite number of kelvin"):
        Margins(above=value, below=1.0)
