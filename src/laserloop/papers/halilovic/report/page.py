"""The one page about the paper: story, claims, tables, figures, provenance, in a file that needs nothing "
"else."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from laserloop.papers.halilovic.report.blocks import FAR, NEAR, Card, Page, Picture
from laserloop.papers.halilovic.report.inline import set_inline
from laserloop.report.sheet import make_plate, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """The first screen."""

    headline: str
    story: Sequence[str]
    picture: Picture | None
    banner: str  # the warning of a run of reduced size, or nothing


def render_paper(cover: Cover, cards: Sequence[Card], rules: str, chapters: Sequence[Page]) -> str:
    """The HTML text; `rules` say how a card got its word, `chapters` follow in their order."""
    return render(
        "papers/halilovic/report/page.html",
        headline=cover.headline,
        cover=cover,
        cards=cards,
        rules=rules,
        chapters=chapters,
        inline=set_inline,
        draw=draw_picture,
        near=NEAR,
        far=FAR,
    )


def draw_picture(picture: Picture) -> Markup:
    """Inline SVG in which no two things share a name, though panels of a figure may repeat theirs."""
    seen = Counter[str]()

    def rename(match: re.Match[str]) -> str:
        seen[match[1]] += 1
        return match[0] if seen[match[1]] == 1 else f'id="{match[1]}-{seen[match[1]]}"'

    svg = make_plate(picture.figure, f"p-{picture.name}", picture.caption).svg
    return Markup(re.sub(r'\bid="([^"]*)"', rename, svg))
