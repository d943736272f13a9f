"""The same words as Markdown and as HTML."""

from matplotlib.figure import Figure

from laserloop.papers.halilovic.report.blocks import (
    Block,
    Bullets,
    Cell,
    Heading,
    Page,
    Picture,
    Prose,
    Table,
)
from laserloop.papers.halilovic.report.inline import set_inline
from laserloop.papers.halilovic.report.markdown import write_markdown
from laserloop.papers.halilovic.report.page import Cover, render_paper

TABLE = Table(("what", "how far, K"), [("a|b", Cell("10.9", "51.1", -2))], source="results/x.json")
BLOCKS: list[Block] = [Heading("Part"), Prose("See [there](other.md)."), Bullets(["one", "two"]), TABLE]
PAGE = Page("page", "Title", BLOCKS)


def test_markdown_has_a_banner_headings_and_marks() -> None:
    assert write_markdown(PAGE, "BEWARE") == (
        "# Title\n\n> **BEWARE**\n\n## Part\n\nSee [there](other.md).\n\n- one\n- two\n\n"
        "| what | how far, K |\n|---|---|\n| a\\|b | 10.9 (51.1) ▼▼ |\n"
    )


def test_prose_is_escaped_and_set() -> None:
    assert set_inline("a < b, `T_max`, T_max, **so**, 5 K, [it](page.md), [f](figures/f-1.png)") == (
        "a &lt; b, <code>T_max</code>, T<sub>max</sub>, <strong>so</strong>, 5\N{NO-BREAK SPACE}K, "
        '<a href="#page">it</a>, <a href="#fig-f-1">f</a>'
    )


def test_the_html_page_colours_a_difference_and_says_it_too() -> None:
    figure = Figure()
    for axes in figure.subplots(1, 2):
        axes.plot([1, 2], gid="same")
    picture = Picture("drawn", "a caption", figure)
    cover = Cover(headline="Head", story=["One."], picture=picture, banner="QUICK <RUN>")
    text = render_paper(cover, [], "rules", [PAGE])
    assert 'class="lower far">10.9<span class="mark">▼▼</span> <span class="theirs">51.1</span>' in text
    assert "QUICK &lt;RUN&gt;" in text
    assert text.count('id="p-drawn-same') == 2
    assert text.count('id="p-drawn-same"') == 1
