"""All pages of a report, written to disk."""

from pathlib import Path

from laserloop.papers.halilovic.pages.ablations import write_ablations
from laserloop.papers.halilovic.pages.calibration import write_calibration
from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.claims_page import write_claims
from laserloop.papers.halilovic.pages.closed_loop import write_closed_loop
from laserloop.papers.halilovic.pages.findings import write_findings
from laserloop.papers.halilovic.pages.paper_list import list_figures
from laserloop.papers.halilovic.pages.plant import write_plant
from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.size import write_banner
from laserloop.papers.halilovic.pages.stages import write_stages
from laserloop.papers.halilovic.pages.story import draw_picture, write_headline, write_story
from laserloop.papers.halilovic.pages.table_1 import write_table_1
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.timing import write_timing
from laserloop.papers.halilovic.pages.verdict import RULES
from laserloop.papers.halilovic.report.blocks import (
    Block,
    Bullets,
    Card,
    Heading,
    Page,
    Picture,
    Prose,
    Table,
)
from laserloop.papers.halilovic.report.markdown import FIGURES, write_markdown
from laserloop.papers.halilovic.report.page import Cover, render_paper
from laserloop.report.save import save, save_figure

DPI = 150


def write_book(results: Results, folder: Path) -> Path:
    """Markdown pages with their pictures, then the HTML page; returns the latter's file."""
    banner = write_banner(results)
    tables = [
        write_table_1(results),
        write_closed_loop(results),
        write_calibration(results),
        write_ablations(results),
    ]
    plant, timing, stages = write_plant(results), write_timing(results), write_stages(results)
    picture = draw_picture(results)
    pictures = [
        block for page in (*tables, plant, timing) for block in page.blocks if isinstance(block, Picture)
    ]
    names = [one.name for one in pictures]
    readme = write_readme(results, picture, list_figures(names))
    for page in (readme, write_claims(results), *tables, plant, timing, stages):
        name = "README" if page is readme else page.name
        save(folder / f"{name}.md", write_markdown(page, banner))
    for one in [*pictures, *([picture] if picture else [])]:
        save_figure(folder / FIGURES / f"{one.name}.png", one.figure, dpi=DPI)
        one.figure.set_layout_engine("none")  # its layout is found; the HTML page need not search again
    verdicts = judge_paper(results, clock=True)
    cover = Cover(
        headline=write_headline(verdicts), story=write_story(results), picture=picture, banner=banner
    )
    cards = [
        Card(
            key=v.key,
            word=v.word,
            sign=v.sign,
            claim=v.claim,
            says=_capitalise(v.says),
            checks=tabulate_claims(v.checks),
        )
        for v in verdicts
    ]
    chapters = [
        *tables,
        Page(
            "figures",
            "The paper's figures",
            [Prose("Numbered in the order of its text."), list_figures(names)],
        ),
        Page("findings", "What reproduces, what does not, and why", write_findings(results, verdicts)),
        plant,
        timing,
        stages,
    ]
    file = folder / "index.html"
    save(file, render_paper(cover, cards, RULES, chapters))
    return file


def write_readme(results: Results, picture: Picture | None, figures: Table) -> Page:
    """The index of the Markdown pages; nothing of it needs a clock."""
    verdicts = judge_paper(results)
    blocks: list[Block] = [
        Prose(
            f"{write_headline(verdicts)}. Made by `laserloop reproduce`; `index.html` is all of it on one "
            "page, with C5 judged by the clock too."
        ),
        *([picture] if picture else []),
        Heading("The claims"),
        Bullets([f"{v.sign} **{v.key} {v.word}**: {v.claim} {_capitalise(v.says)}" for v in verdicts]),
        Heading("The pages"),
        Bullets(
            [
                "[claims](claims.md): every check with its rule; what reproduces, what does not, and why",
                "[table_1](table_1.md): offline accuracy",
                "[closed_loop](closed_loop.md): Tables 2 and 3, the corner failure, seeds, the gradient",
                "[calibration](calibration.md): the margin",
                "[ablations](ablations.md): horizon, trunk, size, noise, structure",
                "[plant](plant.md): what T_max on a grid is worth",
                "[timing](timing.md): the ladder to real time, deadlines; depends on the machine",
                "[stages](stages.md): provenance, wall times, the project's size; depends on the machine",
            ]
        ),
        Heading("The paper's figures"),
        figures,
    ]
    return Page("README", "The paper by one command", blocks)


def _capitalise(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
