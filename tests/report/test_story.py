from dataclasses import replace

import numpy as np

from laserloop.data.episode import Episode
from laserloop.report.story import compare, conclude, count_after_turns, describe_power, tell, write_headline


def test_the_numbers_of_an_episode_are_told(paper: Episode) -> None:
    s = paper.summarise()
    text = tell(paper)
    assert f"from {s.lowest:.0f} to {s.highest:.0f} K" in text
    assert f"{s.above} are too hot and {s.below} too cold" in text


def test_what_is_hot_on_the_diagonal_follows_its_turn(paper: Episode) -> None:
    assert 0 < count_after_turns(paper) == paper.summarise().above
    assert f"All {paper.summarise().above} hot ones follow a sharp turn" in tell(paper)


def test_heat_before_a_turn_is_not_blamed_on_it(paper: Episode) -> None:
    hot_before = np.where(np.arange(len(paper)) < paper.turns[0], 900.0, 780.0)
    assert count_after_turns(replace(paper, t_max=hot_before)) == 0


def test_a_plant_that_is_always_too_hot_is_told_as_such(graded: Episode) -> None:
    assert "All 50 ticks are too hot" in tell(graded)


def test_a_quiet_episode_stays_in_the_window(paper: Episode) -> None:
    quiet = replace(paper, t_max=np.full(len(paper), 780.0))
    assert write_headline([quiet]) == "Constant power stays in the window"
    assert "No tick leaves the window" in tell(quiet)
    assert write_headline([quiet, paper]) == "Constant power leaves the window"


def test_random_power_is_not_called_constant(shaken: Episode) -> None:
    assert write_headline([shaken]).startswith("This power")
    assert "constant" not in describe_power(shaken)


def test_the_paper_plant_is_told_to_read_colder(paper: Episode, graded: Episode) -> None:
    difference = np.mean((graded.t_peak - paper.t_max)[10:])
    assert 100 < difference < 150
    assert f"{difference:.0f} K colder" in compare(paper, graded)[0]
    assert f"{difference:.0f} K colder" in conclude(paper, graded)
