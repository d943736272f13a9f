"""A report's folder: the page, its figures and the data it shows."""

from collections.abc import Sequence
from pathlib import Path

from laserloop.episode import Episode
from laserloop.report.figures import draw_history, draw_path, draw_surface, find_limits
from laserloop.report.page import render_page
from laserloop.report.save import dump, save, save_figure


def save_report(folder: Path, episodes: Sequence[Episode], *, command: str) -> Path:
    """Write a report about episodes on different plants and return its page; other files stay."""
    limits = find_limits(episodes)
    for episode in episodes:
        save(folder / f"episode-{episode.plant}.json", dump(episode.to_json()))
        save_figure(folder / f"history-{episode.plant}.png", draw_history(episode, limits=limits))
        save_figure(folder / f"path-{episode.plant}.png", draw_path(episode))
        save_figure(folder / f"surface-{episode.plant}.png", draw_surface(episode))
    page = folder / "index.html"
    save(page, render_page(episodes, command=command))
    return page
