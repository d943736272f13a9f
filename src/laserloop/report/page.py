"""The page: one HTML file that tells what was simulated, needs nothing else and reads well everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from laserloop.bad_input import BadInput
from laserloop.data.episode import WINDOW, Episode, Summary
from laserloop.report.figures import draw_history, draw_path, draw_surface, find_limits
from laserloop.report.sheet import Plate, make_plate, render
from laserloop.report.story import compare, introduce, tell, write_headline


@dataclass(frozen=True, slots=True)
class Chapter:
    """All the page says about one episode."""

    episode: Episode
    summary: Summary
    history: Plate
    path: Plate
    surface: Plate


def render_page(episodes: Sequence[Episode], *, command: str) -> str:
    """The HTML text of a page about one or more episodes; `command` is how to make them again."""
    if not episodes:
        raise BadInput("a page needs at least one episode, but got none; simulate one first.")
    return render(
        "report/page.html",
        headline=write_headline(episodes),
        story=[introduce(episodes), *map(tell, episodes)],
        lesson=_compare_plants(episodes),
        chapters=_write_chapters(episodes),
        window=WINDOW,
        command=command,
    )


def _write_chapters(episodes: Sequence[Episode]) -> list[Chapter]:
    limits = find_limits(episodes)
    return [
        Chapter(
            episode,
            episode.summarise(),
            make_plate(
                draw_history(episode, limits=limits), f"t{i}", f"T_max over time, {episode.plant} plant"
            ),
            make_plate(draw_path(episode), f"p{i}", f"T_max along the path, {episode.plant} plant"),
            make_plate(draw_surface(episode), f"s{i}", f"Surface at the hottest tick, {episode.plant} plant"),
        )
        for i, episode in enumerate(episodes)
    ]


def _compare_plants(episodes: Sequence[Episode]) -> list[str]:
    """Lessons, if these are a paper and a graded episode of the same power on the same path."""
    by_plant = {episode.plant: episode for episode in episodes}
    if len(episodes) != 2 or by_plant.keys() != {"paper", "graded"}:
        return []
    paper, graded = by_plant["paper"], by_plant["graded"]
    if paper.path != graded.path or paper.power.shape != graded.power.shape:
        return []
    return compare(paper, graded) if (paper.power == graded.power).all() else []
