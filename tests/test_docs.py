"""Every code block of the pages runs here: Python as it stands, commands as a newcomer types them."""

import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from os import environ, pathsep
from pathlib import Path
from unittest.mock import patch

import pytest
from markdown_it import MarkdownIt
from tests.conftest import need

from laserloop.cli import main

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"  # pages of measurements, made by benchmarks
PAGES = sorted(
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    if RESULTS not in page.parents and "_build" not in page.parts
)

LINKED = sorted({*PAGES, *RESULTS.glob("*.md"), ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"})
OUTSIDE = {  # links that leave these pages; looked at before a release
    "https://jobqueue.dask.org",
    "https://doi.org/10.1016/j.jcp.2013.08.021",
}

RUNNABLE = {"python", "bash", "c"}
DIRECTIVES = {
    *("{toctree}", "{include}", "{eval-rst}", "{verbs}", "{container}"),  # of Sphinx; none of them shows code
    "{literalinclude}",  # shows an example, which tests/test_examples.py runs
}
LOOKS_RUNNABLE = re.compile(r"^\s*(laserloop|make|pip|python|import|from)\s", re.MULTILINE)
# What a text block may need that is not here, or takes too long.
ELSEWHERE = re.compile(r"tcp://|SLURMCluster|--host 0\.0\.0\.0|laserloop\.arena\.lessons")
SHELL = re.compile(r"[|<>&;$`]")

# Options added to commands that would take minutes. Everything else runs as the page says it.
SHORTER = {
    "laserloop ensemble corner --out data/corner": "--runs 2 --workers 1",
    "laserloop ensemble corner --out data/corner --workers 1": "--runs 2",
    "laserloop ensemble mine.yaml --out data/mine": "--runs 2 --workers 1",
    "laserloop ensemble slow.yaml --out data/slow": "--runs 2 --workers 1",
    "laserloop train ms-deeponet --data data/slow --out models/slow": "--max-epochs 2",
    "laserloop arena --quick --controller mine.py:Mine --out out/arena": "--paths 1 --entrants pi",
    "laserloop arena --split public --paths 2 --levels off --entrants pi --out out/look": "--help",
    "laserloop reproduce --quick --out quick": "--help",  # minutes; the report is its run
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    language: str
    text: str
    line: int
    end: int


def read_blocks(page: Path) -> Iterator[Block]:
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            first, end = token.map or (0, 0)
            yield Block(language=token.info.split(" ")[0], text=token.content, line=first + 1, end=end)


def read_commands(text: str) -> Iterator[tuple[str, str | None]]:
    """Each command with the exit status that its comment tells, and of `cat > file <<END` the lines."""
    lines = iter(text.replace("\\\n", " ").splitlines())
    for line in lines:
        command = " ".join(shlex.split(line, comments=True, posix=False))
        if not command:
            continue
        end = re.fullmatch(r"cat > (\S+) <<'?(\w+)'?", command)
        if end is None:
            status = re.search(r"# exit status \d+$", line)
            yield (f"{command} {status[0]}" if status else command), None
        else:
            yield end[1], "".join(f"{row}\n" for row in iter(lambda: next(lines), end[2]))


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_escapes_its_test(page: Path) -> None:
    for block in read_blocks(page):
        where = f"{name(page)}, line {block.line}"
        assert block.language in {*RUNNABLE, *DIRECTIVES, "text"}, where
        if block.language == "text" and LOOKS_RUNNABLE.search(block.text):
            assert ELSEWHERE.search(block.text), f"{where}: this could run, so it must"


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b.language in RUNNABLE for b in read_blocks(p))], ids=name
)
def test_every_block_of_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if page.parent == ROOT:  # what is typed in a clone
        (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {"__name__": "page"}
    before = 0
    for block in read_blocks(page):
        where = f"{name(page)}, line {block.line}"
        printed = capsys.readouterr().out  # by the block before
        match block.language:
            case "python":
                exec(compile(block.text, where, "exec"), names)
            case "bash":
                for command, content in read_commands(block.text):
                    if content is not None:
                        Path(command).write_text(content, encoding="utf-8")
                    else:
                        run(f"{command} {SHORTER.get(command, '')}", where)
            case "c":
                compile_and_run(block, where)
            case "text" if printed and block.line <= before + 2:  # nothing stands between them
                check_output(block.text, printed, where)
        before = block.end


def check_output(shown: str, printed: str, where: str) -> None:
    """A text block after commands shows lines of what they print; numbers may be of another processor."""
    lines = iter(printed.splitlines())
    for line in shown.splitlines():
        words, numbers = take_apart(line)
        found = next((other for other in lines if take_apart(other)[0] == words), None)
        assert found is not None, f"{where}: {line!r} is not what is printed"
        assert take_apart(found)[1] == pytest.approx(numbers, rel=0.03, abs=3), (
            f"{where}: {line!r}, {found!r}"
        )


def take_apart(line: str) -> tuple[str, list[float]]:
    number = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
    return " ".join(number.sub("#", line).split()), [float(found) for found in number.findall(line)]


def run(command: str, where: str) -> None:
    words = shlex.split(command, comments=True)
    if SHELL.search(command):
        need(*(tool for tool in ("cc", "bash") if tool in words or tool == "bash"))
        path = pathsep.join((str(Path(sys.executable).parent), environ["PATH"]))
        subprocess.run(["bash", "-euc", command], env={**environ, "PATH": path}, check=True)
        return
    match words:
        case ["laserloop", "view", *tokens]:  # everything but to wait for Ctrl-C
            with patch("laserloop.live.server.Server.serve_forever") as serve, patch("webbrowser.open"):
                assert main(["view", *tokens, "--port", "0"]) == 0, f"{where}: {command}"
            serve.assert_called_once()
        case ["laserloop", *tokens]:
            told = re.search(r"# exit status (\d+)", command)
            assert main(tokens) == (int(told[1]) if told else 0), f"{where}: {command}"
        case ["source", ".venv/bin/activate"]:  # what make has made
            assert "VENV := .venv\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
        case ["make", *targets]:
            need("make")
            subprocess.run(["make", "-n", *targets], cwd=ROOT, check=True, capture_output=True)
        case ["pip", "install", requirement]:
            check_requirement(requirement, where)
        case _:
            pytest.fail(f"{where}: nobody knows how to run {command!r}")


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_the_readme_names_every_extra_that_users_install() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    users = set(project["optional-dependencies"]) - {"docs", "dev", "gym", "rl"}
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {extra for extra in users if f"`{extra}`" in said} == users


def check_requirement(requirement: str, where: str) -> None:
    """Is it this project, with extras that it has?"""
    found = re.fullmatch(r"(?:laserloop|\.)(?:\[([\w,]+)\])?", requirement)
    assert found, f"{where}: {requirement}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set((found[1] or "data").split(",")) <= set(project["optional-dependencies"]), where


def compile_and_run(block: Block, where: str) -> None:
    """Beside the exported controller, a twin or a network."""
    need("cc")
    unit = Path("twin/twin.c" if "laserloop_twin.h" in block.text else "firmware/laserloop.c")
    Path("block.c").write_text(block.text, encoding="utf-8")
    strict = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror")
    command = ["cc", *strict, f"-I{unit.parent}", "block.c", str(unit), "-o", "block", "-lm"]
    subprocess.run(command, check=True)
    assert subprocess.run([Path.cwd() / "block"], check=False).returncode == 0, where


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_an_extra_is_quoted_since_zsh_reads_brackets(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert not re.findall(r"pip install [^'\"`\n]*\[", said)


def test_what_is_run_shorter_is_still_in_the_pages() -> None:
    said = {
        command
        for page in PAGES
        for block in read_blocks(page)
        if block.language == "bash"
        for command, _ in read_commands(block.text)
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
