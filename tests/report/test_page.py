import re
from dataclasses import replace

import pytest

from laserloop.bad_input import BadInput
from laserloop.data.episode import Episode
from laserloop.report.page import render_page


@pytest.fixture(scope="module")
def page(paper: Episode, graded: Episode) -> str:
    return render_page([paper, graded], command="laserloop demo --out <here>")


def test_three_figures_of_each_episode_are_embedded(page: str) -> None:
    assert page.count("<svg") == page.count("</svg>") == 6
    assert len(re.findall(r'<svg role="img" aria-label="[^"]+ plant"', page)) == 6


def test_the_table_shows_the_numbers_of_the_episodes(page: str, paper: Episode, graded: Episode) -> None:
    for episode in (paper, graded):
        s = episode.summarise()
        row = re.search(rf"<tr><td>{episode.plant}</td>.*?</tr>", page)
        assert row
        assert f"{s.lowest:.0f}–{s.highest:.0f}" in row[0]
        assert f"<td>{s.above} of {s.ticks}</td><td>{s.below} of {s.ticks}</td>" in row[0]


def test_the_command_and_the_settings_are_told(page: str) -> None:
    assert "laserloop demo --out &lt;here&gt;" in page
    for fact in ("151 × 101 × 21 nodes", "backward Euler", "SDIRK2", "ambient 300 K", "tick 125 µs", "Kim"):
        assert fact in page


def test_two_plants_are_compared_only_under_the_same_power(
    page: str, paper: Episode, graded: Episode
) -> None:
    other = replace(graded, power=graded.power * 0.5)
    assert "colder on average" in page
    assert "colder on average" not in render_page([paper, other], command="")


def test_a_hostile_path_name_stays_text(paper: Episode) -> None:
    page = render_page([replace(paper, path="<b>$x_{$&.csv")], command="")
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_a_page_about_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="at least one episode"):
        render_page([], command="")
