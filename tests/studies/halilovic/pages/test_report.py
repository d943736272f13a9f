"""A report is whole, needs nothing from elsewhere, and is the same whenever its results are."""

import json
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from laserloop.bad_input import BadInput
from laserloop.studies.halilovic.contexts import beside
from laserloop.studies.halilovic.report import set_html, set_symbols, write_report

REPRODUCTION = Path(__file__).parents[4] / "docs" / "reproduction"
PAGES = {
    "README",
    "claims",
    "table_1",
    "closed_loop",
    "calibration",
    "ablations",
    "previews",
    "plant",
    "timing",
    "stages",
}
ON_A_CLOCK = {"timing.md", "stages.md", "ladder.png", "decisions.png", "index.html"}
Put = Callable[..., Path]
Make = Callable[[], dict[str, Any]]


def hurry(value: Any) -> Any:
    """Every number in it, doubled."""
    if isinstance(value, dict):
        return {key: hurry(one) for key, one in value.items()}
    if isinstance(value, list):
        return [hurry(one) for one in value]
    return 2 * value if isinstance(value, int | float) else value


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, put_results: Put, make_results: Make) -> Path:
    return write_report(put_results(tmp_path_factory.mktemp("full"), make_results())).parent


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory, put_results: Put, make_results: Make) -> Path:
    """The same results, measured on another machine."""
    found = make_results()
    found = {name: hurry(part) if name.startswith("clock") else part for name, part in found.items()}
    return write_report(put_results(tmp_path_factory.mktemp("other"), found)).parent


@pytest.fixture(scope="module")
def partial(tmp_path_factory: pytest.TempPathFactory, put_results: Put, make_results: Make) -> Path:
    """A quick run of which only the plant is there."""
    found = {"plant": make_results()["plant"]}
    return write_report(put_results(tmp_path_factory.mktemp("partial"), found, size="quick")).parent


def test_the_committed_report_is_what_the_committed_results_give(tmp_path: Path) -> None:
    shutil.copytree(REPRODUCTION / "results", tmp_path / "results")
    shutil.copy(REPRODUCTION / "settings.json", tmp_path)
    made = write_report(tmp_path).parent
    pages = {file.name: file.read_text() for file in (REPRODUCTION / "report").glob("*.md")}
    assert {file.name: file.read_text() for file in made.glob("*.md")} == pages
    figures = {file.name for file in (REPRODUCTION / "report" / "figures").iterdir()}
    assert {file.name for file in (made / "figures").iterdir()} == figures


def test_all_pages_are_there(report: Path) -> None:
    assert {file.stem for file in report.glob("*.md")} == PAGES
    assert (report / "index.html").stat().st_size < 3e6


def test_the_same_results_give_the_same_bytes_whatever_the_clock_said(report: Path, other: Path) -> None:
    files = {str(file.relative_to(report)) for file in report.rglob("*") if file.is_file()}
    assert files == {str(file.relative_to(other)) for file in other.rglob("*") if file.is_file()}
    changed = {name for name in files if (report / name).read_bytes() != (other / name).read_bytes()}
    assert {Path(name).name for name in changed} == ON_A_CLOCK


def test_every_link_and_picture_of_a_page_is_there(report: Path) -> None:
    for page in report.glob("*.md"):
        targets = re.findall(r"\]\(([^)]+)\)", page.read_text())
        assert all((report / target).is_file() for target in targets), page.name
    assert len(list((report / "figures").glob("*.png"))) > 20


def test_headings_go_down_one_level_at_a_time(report: Path) -> None:
    for page in report.glob("*.md"):
        levels = [len(marks) for marks in re.findall(r"^(#+) ", page.read_text(), re.MULTILINE)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels)), page.name


def test_the_html_page_needs_nothing_from_elsewhere(report: Path) -> None:
    page = (report / "index.html").read_text()
    text = re.sub(r"base64,[^\"]*", "", page)
    assert not re.search(r"https?:|@import|url\([^#]|<script|<link|<iframe", text)
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(names)


def test_every_figure_of_the_paper_is_accounted_for(report: Path) -> None:
    text = (report / "README.md").read_text()
    assert set(map(int, re.findall(r"^\| Fig\. (\d+) \|", text, re.MULTILINE))) == set(range(1, 21))
    assert "not drawn" not in text


def test_ours_stands_beside_the_papers_with_the_sign_of_the_difference(
    tmp_path: Path, put_results: Put, make_results: Make
) -> None:
    found = make_results()
    chosen = {"closed_loop": found["closed_loop"]}
    chosen["closed_loop"]["table_2"][2]["overshoot_k"] = 10.9
    text = (write_report(put_results(tmp_path / "one", chosen)).parent / "closed_loop.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| baseline | diagonal |"))
    assert row.startswith("| baseline | diagonal | 10.9 (51.1) ▼▼ | 22 (22) ≈ |")


def test_a_quick_run_says_so_on_every_page(partial: Path, report: Path) -> None:
    pages = [*partial.glob("*.md"), partial / "index.html"]
    assert all("QUICK RUN: reduced size (24 episodes" in page.read_text() for page in pages)
    assert not any("QUICK RUN" in page.read_text() for page in report.glob("*.*"))


def test_pages_of_models_that_read_between_the_nodes_say_so(
    tmp_path: Path, report: Path, put_results: Put, make_results: Make
) -> None:
    found = make_results()
    older = {key: value for key, value in found["trainings"]["paper-corner"].items() if key != "sampling"}
    chosen = {"trainings": {"paper-corner": older}, "calibration": found["calibration"]}
    pages = list(write_report(put_results(tmp_path / "older", chosen)).parent.glob("*.md"))
    told = {page.stem for page in pages if "MEASURED WITH BILINEAR PREVIEWS" in page.read_text()}
    assert told == PAGES - {"plant", "stages", "previews"}
    assert not any("BILINEAR" in page.read_text() for page in report.glob("*.md"))


def test_a_stage_not_run_yet_says_so(partial: Path) -> None:
    for name in ("table_1", "closed_loop", "calibration", "ablations", "previews", "timing"):
        assert "Not run yet: run `laserloop reproduce --out DIR`." in (partial / f"{name}.md").read_text()
    assert "Not run yet" not in (partial / "plant.md").read_text()


def test_a_folder_that_is_no_reproduction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="run `laserloop reproduce --out DIR` first"):
        write_report(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "settings.json").write_text("{}")
    with pytest.raises(BadInput, match="at least one stage"):
        write_report(tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", ""])
def test_a_damaged_result_is_named(tmp_path: Path, put_results: Put, content: str) -> None:
    root = put_results(tmp_path / "one", {"plant": {}})
    (root / "results" / "plant.json").write_text(content)
    with pytest.raises(BadInput, match=r"plant\.json' is damaged: delete it"):
        write_report(root)


def test_a_result_of_another_version_is_refused(tmp_path: Path, put_results: Put) -> None:
    root = put_results(tmp_path / "one", {"plant": {"reference": {"0": {}}}})
    with pytest.raises(BadInput, match="into a new folder"):
        write_report(root)


def test_provenance_names_hashes_seeds_and_times(report: Path) -> None:
    text = (report / "stages.md").read_text()
    for fact in (
        "`abababab",
        "`efefefef",
        "1 h 07 min",
        "1 min",
        "0000000000",
        "results/closed_loop.json",
        "| numpy | 2.0 |",
    ):
        assert fact in text
    assert json.loads((report.parent / "settings.json").read_text())["name"] in text


@pytest.mark.parametrize(
    ("ours", "paper", "mark"),
    [
        (10.0, 10.0, "≈"),
        (12.4, 10.0, "≈"),
        (12.6, 10.0, "▲"),
        (15.1, 10.0, "▲▲"),
        (8.1, 10.0, "≈"),
        (7.9, 10.0, "▼"),
        (6.6, 10.0, "▼▼"),
        (0.04, 0.0, "≈"),  # as it is written
        (0.06, 0.0, "▲▲"),
    ],
)
def test_a_ratio_decides_how_far_apart_two_figures_are(ours: float, paper: float, mark: str) -> None:
    assert beside(ours, paper) == f"{ours:.1f} ({paper:.1f}) {mark}"


@pytest.mark.parametrize(
    ("ours", "mark"), [(13.85, "≈"), (14.10, "≈"), (14.11, "▲"), (14.35, "▲"), (14.36, "▲▲"), (13.59, "▼")]
)
def test_steps_decide_where_a_ratio_says_nothing(ours: float, mark: str) -> None:
    assert beside(ours, 13.85, ".2f", 0.25) == f"{ours:.2f} (13.85) {mark}"


def test_a_missing_figure_is_not_compared() -> None:
    assert beside(None, 3.0) == "– (3.0)"
    assert beside(3.04) == "3.0"
    assert beside(3.0, 3.0, spread=" ± 0.1") == "3.0 ± 0.1 (3.0) ≈"


def test_prose_is_escaped_and_set() -> None:
    assert set_symbols("a < b, T_max, 5 K") == "a &lt; b, T<sub>max</sub>, 5\N{NO-BREAK SPACE}K"
    html = set_html("page", "# Title\n\n`T_max` <b>, [it](page.md), [f](figures/f-1.png)", {})
    assert html == (
        '<h2 id="page">Title</h2>\n<p><code>T_max</code> &lt;b&gt;, <a href="#page">it</a>, '
        '<a href="#fig-f-1">f</a></p>\n'
    )


def test_the_html_page_colours_a_difference_and_says_it_too() -> None:
    html = set_html("", "| a | b | c |\n|---|---|---|\n| x | 10.9 (51.1) ▼▼ | 1 (1) ≈ |\n", {})
    assert 'class="lower far">10.9<span class="mark">▼▼</span> <span class="theirs">51.1</span>' in html
    assert '<td>1 <span class="theirs">1</span></td>' in html
    assert "<details>" not in html
    assert "<summary>30 rows</summary>" in set_html("", "| a |\n|---|\n" + "| x |\n" * 30, {})
