"""The reference pages name every key of a process file and every field of a result."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.pages import ROOT
from tests.test_sentences import HOUSE

import laserloop as ll
from laserloop.cli import main
from laserloop.loop.record import MARGINS, WINDOWS
from laserloop.process.keys import KEYS, OTHERS, Key, get_value
from laserloop.process.material import LIQUID, MELTING

PAGES = ROOT / "docs" / "reference"


def read_rows(page: Path, heading: str = "") -> list[list[str]]:
    """The cells of every table, or of those below a heading."""
    text = page.read_text(encoding="utf-8")
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"
    ]


def read_names(cell: str) -> list[str]:
    return re.findall(r"`([\w.]+)`", cell)


ROWS = {row[0].strip("`"): row for row in read_rows(PAGES / "process-file.md")}


@pytest.mark.parametrize("entry", KEYS, ids=lambda entry: entry.key)
def test_the_page_of_the_process_file_has_each_key_with_unit_default_and_range(entry: Key) -> None:
    _, unit, default, allowed, how = ROWS[entry.key]
    value = entry.tell(get_value(ll.find_process("304"), entry))
    numbers = [f"{part:g}" for part in value] if entry.names else [] if value is None else [f"{value:g}"]
    assert unit == (entry.unit or "–")
    assert default == (f"[{', '.join(numbers)}]" if entry.names else numbers[0] if numbers else "empty")
    assert allowed == f"{entry.low:g} to {entry.high:.12g}{' or empty' if entry.optional else ''}"
    assert len(how.split()) > 4


def test_the_page_of_the_process_file_has_the_keys_of_a_material() -> None:
    said = {name for key in ROWS for name in re.findall(r"[\w.]+", key)}
    text = (PAGES / "process-file.md").read_text(encoding="utf-8")
    assert {*OTHERS, "valid", "polynomial", "table", *(f"melting.{key}" for key in MELTING)} <= said
    assert all(f"`{key}`" in text for key in (*LIQUID, *LIQUID.values()))


def find_fields(found: dict[str, Any], into: tuple[str, ...], above: str = "") -> Iterator[str]:
    for name, value in found.items():
        yield f"{above}{name}"
        if name in into:
            yield from find_fields(value, (), f"{name}.")


@pytest.mark.parametrize(
    ("command", "into"),
    [
        ("control diagonal --ticks 12", ("starts", "worst_residual", "iterations")),
        ("simulate diagonal --ticks 3 --power-w 11", ("energy_j",)),
        ("plan line.csv --out planned.csv", ()),
    ],
)
def test_the_page_of_results_has_each_field_and_no_other(
    command: str, into: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("line.csv").write_text("x_mm,y_mm\n-0.2,0\n0.2,0\n")
    assert main([*command.split(), "--json", "found.json"]) == 0
    found = json.loads(Path("found.json").read_text())
    verb = command.split(maxsplit=1)[0]
    rows = read_rows(PAGES / "results.md", verb)
    cells = [cell for row in rows for cell in (row[0], row[-1] if "." in row[-1] else "")]
    said = {name for cell in cells for name in read_names(cell)}
    there = {*find_fields(found, into), *found.get("series", ())}
    if verb == "plan":
        there |= {f"verified.{name}" for name in found["verified"].keys() - found.keys()}
    optional = {"melt_length_um", "melt_width_um", "melt_depth_um", *MARGINS, *WINDOWS}
    assert there - said == set()
    assert {
        name for name in said - there - optional if name not in ("absorptivity", "control", "point")
    } == set()


def test_the_page_of_results_marks_what_score_has() -> None:
    run = ll.close_loop("twin", ll.find_path("diagonal", ticks=12))
    rows = [row for row in read_rows(PAGES / "results.md", "control") if len(row) == 3]
    assert {name for row in rows if row[1] == "✓" for name in read_names(row[0])} == ll.score(run).keys()


def test_every_sentence_on_the_page_of_troubles_is_one_that_the_program_says() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in sorted(HOUSE.rglob("*.py")))
    sources = " ".join(re.sub(r'"\s+f?"', "", sources).split())
    rows = read_rows(ROOT / "docs" / "how-to" / "troubleshooting.md")
    quoted = [sentence for row in rows for sentence in re.findall('"(.+?)"', row[0])]
    assert len(quoted) > 15
    for sentence in quoted:
        for part in sentence.split("…"):
            assert part.strip() in sources, part
