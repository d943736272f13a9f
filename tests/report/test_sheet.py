"""What every page must be, whatever it is about."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from matplotlib.figure import Figure

from laserloop.report.page import make_plate, render_comparison

VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture(scope="module")
def page(mpc: dict[str, Any], pi: dict[str, Any], constant: dict[str, Any]) -> str:
    return render_comparison([mpc, pi, constant], command="laserloop demo")


def test_a_page_needs_nothing_from_elsewhere(page: str) -> None:
    text = re.sub(r"base64,[^\"]*", "", page)
    assert not re.search(r"https?:|//|@import|url\([^#]|<script|<link|<iframe", text)
    assert all(target.startswith(("#", "data:")) for target in re.findall(r'(?:href|src)="([^"]*)"', page))


def test_no_two_things_on_a_page_share_a_name(page: str) -> None:
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:url\(|href=")#([^")]+)', page)) <= set(names)


def test_the_ink_of_the_figures_follows_the_page(page: str) -> None:
    assert "currentColor" in page
    assert "prefers-color-scheme: dark" in page
    assert "#1f2933" not in page[page.index("<svg") :]


def test_every_tag_is_closed(page: str) -> None:
    stack: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in VOID:
                stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert stack.pop() == tag

    Reader().feed(page)
    assert stack == []


def test_a_number_is_not_parted_from_its_unit(page: str) -> None:
    story = "".join(re.findall(r"<p>(.*?)</p>", page))
    assert "\N{NO-BREAK SPACE}K" in story
    assert not re.search(r"\d K\b", story)


def test_a_hostile_caption_stays_text() -> None:
    assert '"><b>' not in make_plate(Figure(), "x", '"><b>').svg
