"""All pages of a report, written to disk."""

from pathlib import Path

from laserloop.papers.halilovic.pages.ablations import write_ablations
from laserloop.papers.halilovic.pages.calibration import write_calibration
from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.closed_loop import write_closed_loop
from laserloop.papers.halilovic.pages.findings import write_claims, write_findings
from laserloop.papers.halilovic.pages.paper_list import list_figures
from laserloop.papers.halilovic.pages.plant import write_plant
from laserloop.papers.halilovic.pages.previews import write_previews
from laserloop.papers.halilovic.pages.results import Results, write_banner
from laserloop.papers.halilovic.pages.stages import write_stages
from laserloop.papers.halilovic.pages.story import draw_picture, write_headline, write_story
from laserloop.papers.halilovic.pages.table_1 import write_table_1
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.timing import write_timing
from laserloop.papers.halilovic.pages.verdict import Verdict
from laserloop.papers.halilovic.pages.write import write_page
from laserloop.papers.halilovic.report.blocks import Block, Bullets, Card, Page, Picture, Prose, Table
from laserloop.papers.halilovic.report.markdown import FIGURES, write_markdown
from laserloop.papers.halilovic.report.page import Cover, render_paper
from laserloop.papers.halilovic.words import say
from laserloop.report.save import save, save_figure

DPI = 150
CHAPTERS = (
    write_table_1,
    write_closed_loop,
    write_calibration,
    write_ablations,
    write_previews,
    write_plant,
    write_timing,
)


def write_book(results: Results, folder: Path) -> Path:
    """Markdown pages with their pictures, then the HTML page; returns the latter's file."""
    banner, picture = write_banner(results), draw_picture(results)
    chapters, stages = [write(results) for write in CHAPTERS], write_stages(results)
    pictures = [block for page in chapters for block in page.blocks if isinstance(block, Picture)]
    figures = list_figures([one.name for one in pictures])
    for page in (write_readme(results, picture, figures), write_claims(results), *chapters, stages):
        save(folder / f"{page.name}.md", write_markdown(page, write_banner(results, page.name)))
    for one in [*pictures, *([picture] if picture else [])]:
        save_figure(folder / FIGURES / f"{one.name}.png", one.figure, dpi=DPI)
        one.figure.set_layout_engine("none")  # its layout is found; the HTML page need not search again
    verdicts = judge_paper(results, clock=True)
    listed: list[Block] = [Prose("Numbered in the order of its text."), figures]
    findings = write_findings(results, verdicts)
    chapters[4:4] = [
        Page("figures", "The paper's figures", listed),
        Page("findings", "What reproduces, what does not, and why", findings),
    ]
    cover = Cover(
        headline=write_headline(verdicts), story=write_story(results), picture=picture, banner=banner
    )
    file = folder / "index.html"
    cards = [_make_card(verdict) for verdict in verdicts]
    save(file, render_paper(cover, cards, say("rules"), [*chapters, stages]))
    return file


def write_readme(results: Results, picture: Picture | None, figures: Table) -> Page:
    """The index of the Markdown pages; nothing of it needs a clock."""
    verdicts = judge_paper(results)
    claims = [f"{v.sign} **{v.key} {v.word}**: {v.claim} {_capitalise(v.says)}" for v in verdicts]
    parts = {"picture": picture, "claims": Bullets(claims), "figures": figures}
    return write_page("README", parts, headline=write_headline(verdicts))


def _make_card(verdict: Verdict) -> Card:
    return Card(
        key=verdict.key,
        word=verdict.word,
        sign=verdict.sign,
        claim=verdict.claim,
        says=_capitalise(verdict.says),
        checks=tabulate_claims(verdict.checks),
    )


def _capitalise(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
