"""Every code block of the pages runs here: Python as it stands, commands as a newcomer types them."""

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest
from tests.pages import ROOT, Block, judge_results, make_clone, read_blocks, run_page

from laserloop.versions import hash_code, hash_loop

RESULTS = ROOT / "docs" / "results"  # pages of measurements, made by benchmarks
PAGES = sorted(
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    if RESULTS not in page.parents and "_build" not in page.parts
)

LINKED = sorted({*PAGES, *RESULTS.glob("*.md"), ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"})
OUTSIDE = {  # links that leave these pages; looked at before a release
    "https://jobqueue.dask.org",
    *("https://github.com/adamantine-sim/adamantine", "https://github.com/ORNL/AdditiveFOAM"),
    *("https://github.com/ORNL-MDF/3DThesis", "https://github.com/drlukeparry/pyslm"),
    *("https://www.do-mpc.com", "https://web.casadi.org", "https://gymnasium.farama.org"),
    "https://doi.org/10.1016/j.jcp.2013.08.021",
}

RUNNABLE = {"python", "bash", "c"}
DIRECTIVES = {
    *("{toctree}", "{include}", "{eval-rst}", "{verbs}", "{container}"),  # of Sphinx; none of them shows code
    "{literalinclude}",  # shows an example, which tests/test_examples.py runs
}
LOOKS_RUNNABLE = re.compile(r"^\s*(laserloop|make|pip|python|import|from)\s", re.MULTILINE)
# What a text block may need that is not here, or takes too long.
ELSEWHERE = re.compile(r"tcp://|SLURMCluster|--host 0\.0\.0\.0|laserloop\.studies\.arena\.training_set")
# Options added to commands that would take minutes. Everything else runs as the page says it.
SHORTER = {
    "laserloop ensemble corner --out data/corner": "--runs 2 --workers 1",
    "laserloop ensemble corner --out data/corner --workers 1": "--runs 2",
    "laserloop ensemble mine.yaml --out data/mine": "--runs 2 --workers 1",
    "laserloop ensemble slow.yaml --out data/slow": "--runs 2 --workers 1",
    "laserloop train ms-deeponet --data data/slow --out models/slow": "--max-epochs 2",
    "laserloop arena --quick --controller mine.py:Mine --out out/arena": "--paths 1 --entrants pi",
    "laserloop arena --split public --paths 2 --levels off --entrants pi --out out/look": "--help",
    "laserloop ensemble corner --process process.yaml --runs 12 --out data/alloy": "--workers 1",
    "laserloop control diagonal --noise-k 5 --delay 1 --mismatch absorptivity=0.9 --json run.json "
    "--plot run.png": "--ticks 80",  # its log is fitted then
    **dict.fromkeys(  # these tests are in it, or it takes minutes
        (
            f"make {target}"
            for target in ("test", "docs", "validate", "package-check", "wheel", "platform-wheel")
        ),
        "--dry-run",
    ),
    "laserloop reproduce --quick --out quick": "--help",  # minutes; the report is its run
}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> list[Block]:
    return list(read_blocks(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_escapes_its_test(page: Path) -> None:
    for block in blocks_of(page):
        where = f"{name(page)}, line {block.line}"
        assert block.language in {*RUNNABLE, *DIRECTIVES, "text"}, where
        if block.language == "text" and LOOKS_RUNNABLE.search(block.text):
            assert ELSEWHERE.search(block.text), f"{where}: this could run, so it must"


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b.language in RUNNABLE for b in blocks_of(p))], ids=name
)
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    if page.parent == ROOT or any(re.search("^make ", block.text, re.MULTILINE) for block in blocks_of(page)):
        make_clone(tmp_path)
    run_page(page, tmp_path, SHORTER)


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_the_readme_names_every_extra_that_users_install() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    users = set(project["optional-dependencies"]) - {"docs", "dev", "gym"}
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {extra for extra in users if f"`{extra}`" in said} == users


SHOWN_ON = {  # results files that another page shows than docs/results/NAME.md, for NAME.json or NAME/….json
    "demo": "README.md",
    "starts": "docs/results/nested_plant.md",
    "dark_jumps": "docs/how-to/own-path.md",
    "environments": "docs/how-to/gymnasium.md",
    "melting": "docs/decisions/0008-melting.md",
    "mutants": "docs/development/mutants.md",
    "view": "docs/development/attacks.md",
    "gallery": "docs/gallery.md",
    "figures": "docs/how-it-works.md",
}
FILES = [
    *RESULTS.rglob("*.json"),
    ROOT / "docs" / "gallery.json",
    ROOT / "docs" / "how-it-works" / "figures.json",
]


@pytest.mark.parametrize("file", sorted(FILES), ids=name)
def test_a_page_says_with_which_version_its_figures_were_measured(file: Path) -> None:
    about = (
        file.stem if file.parent in (RESULTS, *(other.parent for other in FILES[-2:])) else file.parent.name
    )
    page = ROOT / SHOWN_ON.get(about, f"docs/results/{about}.md")
    found = json.loads(file.read_text(encoding="utf-8"))
    wrong = judge_results(found, page.read_text(encoding="utf-8"), {hash_code(), hash_loop()})
    assert not wrong, f"{name(page)}, of {name(file)}: {wrong}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_an_extra_is_quoted_since_zsh_reads_brackets(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert not re.findall(r"pip install [^'\"`\n]*\[", said)


def test_what_is_run_shorter_is_still_in_the_pages() -> None:
    said = {
        re.sub(r"\s+#.*", "", line)
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "bash"
        for line in block.text.splitlines()
    }
    assert set(SHORTER) <= said


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            assert target in OUTSIDE, f"{name(page)}: {target}: look at it, then add it to OUTSIDE"
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file) if file else page
        assert there.exists(), f"{name(page)}: {target}"
        if anchor:
            assert anchor in find_anchors(there), f"{name(page)}: {target}"


def find_anchors(page: Path) -> set[str]:
    """Of headings, as Sphinx and code hosts make them, and those that are written down."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "report"], ids=name)
def test_a_picture_for_light_pages_has_one_for_dark_pages(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for file in re.findall(r"\(([^)\s]+)-light\.\w+\)\{\.only-light\}", text):
        assert re.search(rf"\({re.escape(file)}-dark\.\w+\)\{{\.only-dark\}}", text), file


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_source_that_a_page_names_is_there(page: Path) -> None:
    files = {
        file for part in ("src", "tests", "benchmarks", "examples") for file in (ROOT / part).rglob("*.py")
    }
    for named in re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8")):
        assert any(str(file).endswith(f"/{named}") for file in files), f"{name(page)}: {named}"


def test_the_tables_of_the_readme_are_those_of_the_results() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "_ext" / "readme_table.py"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert script["fill"](text) == text, "run `make readme`"
