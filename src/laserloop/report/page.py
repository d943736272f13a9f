"""The page: one HTML file that tells what was simulated, needs nothing else and reads well everywhere."""

import io
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from laserloop.bad_input import BadInput
from laserloop.episode import WINDOW, Episode, Summary
from laserloop.report.figures import INK, draw_history, draw_path, draw_surface, find_limits
from laserloop.report.story import compare, introduce, tell, write_headline


@dataclass(frozen=True, slots=True)
class Plate:
    """A figure on the page, in the printers' sense of the word."""

    svg: Markup
    caption: str


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
    environment = Environment(
        loader=PackageLoader("laserloop.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["symbols"] = _set_symbols
    return environment.get_template("page.html").render(
        headline=write_headline(episodes),
        story=[introduce(episodes), *map(tell, episodes)],
        lesson=_compare_plants(episodes),
        chapters=_write_chapters(episodes),
        window=WINDOW,
        command=command,
        version=version("laserloop"),
        python=platform.python_version(),
    )


def _write_chapters(episodes: Sequence[Episode]) -> list[Chapter]:
    limits = find_limits(episodes)
    return [
        Chapter(
            episode,
            episode.summarise(),
            _make_plate(
                draw_history(episode, limits=limits), f"t{i}", f"T_max over time, {episode.plant} plant"
            ),
            _make_plate(draw_path(episode), f"p{i}", f"T_max along the path, {episode.plant} plant"),
            _make_plate(
                draw_surface(episode), f"s{i}", f"Surface at the hottest tick, {episode.plant} plant"
            ),
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


def _make_plate(figure: Figure, prefix: str, caption: str) -> Plate:
    """The figure as inline SVG: its ink follows the page's colour, its names do not clash with another's."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing, dpi=200)
    svg = stream.getvalue()
    head, body = svg[svg.index("<svg") :].split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    body = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", body).replace(INK, "currentColor")
    return Plate(Markup(f'<svg role="img" aria-label="{escape(caption)}" {box[0]}>{body}'), caption)


def _set_symbols(text: str) -> Markup:
    return Markup(str(escape(text)).replace("T_max", "T<sub>max</sub>"))
