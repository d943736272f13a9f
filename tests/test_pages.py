"""Errors planted in a page: the test of the pages notices each of them."""

import re
from pathlib import Path

import pytest
from tests.pages import agree, judge_results, make_clone, run_page

GOOD = """# A page

```bash
cat > part.cli <<'END'
$$HEADERSTART
END
head -1 part.cli
laserloop init --sigma-um 80 --out mine.yaml
laserloop plan nowhere.csv --process mine.yaml --out new.csv  # exit status 2
```

```text
$$HEADERSTART
mine.yaml: 304, 760 – 800 K, powers are absorbed power (absorptivity 1). Next: laserloop check mine.yaml
```

```python
from laserloop.process import find_process

print(f"{find_process('mine.yaml').beam.sigma * 1e6:.1f} µm")
```

```text
80.0 µm
```

```bash
make lint
laserloop view . --open
pip install 'laserloop[logs]'
```
"""
ERRORS = {  # what is planted, and how it is told
    "a digit": ("760 – 800 K, powers", "761 – 800 K, powers", "761 is 760"),
    "the last digit": ("80.0 µm\n```", "80.1 µm\n```", "80.1 is 80.0"),
    "a word": ("powers are absorbed power (", "powers are emitted power (", "is not what is printed"),
    "an option": ("--sigma-um 80", "--sigma-mm 80", "exit status 2"),
    "a heredoc": ("<<'END'", "<<END", "is not what is printed"),  # $$ is the number of the process then
    "a file's name": ("head -1 part.cli", "head -1 part.gcode", "exit status 1"),
    "an exit status": ("# exit status 2", "# exit status 3", "exit status 1"),
    "a name in Python": ("beam.sigma *", "beam.width *", "no attribute 'width'"),
    "a target of make": ("make lint", "make lints", "exit status 2"),
    "a folder": ("view . --open", "view part.cli --open", "exit status 2"),
    "an extra": ("[logs]", "[log]", "log]"),
}
SHORTER = {"make lint": "--dry-run"}


def write(folder: Path, text: str) -> Path:
    (folder / "page.md").write_text(text, encoding="utf-8")
    make_clone(folder)
    return folder / "page.md"


def test_a_page_without_an_error_passes(tmp_path: Path) -> None:
    run_page(write(tmp_path, GOOD), tmp_path, SHORTER)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_that_is_planted_in_a_page_is_noticed(error: str, tmp_path: Path) -> None:
    right, wrong, told = ERRORS[error]
    assert right in GOOD
    page = write(tmp_path, GOOD.replace(right, wrong))
    with pytest.raises((AssertionError, AttributeError), match=re.escape(told)):
        run_page(page, tmp_path, SHORTER)


@pytest.mark.parametrize(
    ("shown", "printed", "right"),
    [
        ("784.4", "784.4", True),
        ("784.4", "784.5", False),
        ("784", "784.4", True),  # rounded to the digits shown
        ("784", "784.6", False),
        ("784.4 ± 0.3", "784.7", True),
        ("784.4 ± 0.3", "784.8", False),
        ("-0.1", "0.1", False),
    ],
)
def test_numbers_agree_to_the_last_digit_shown_or_within_what_is_beside_them(
    shown: str, printed: str, right: bool
) -> None:
    assert agree(shown, printed) == right


MADE = "Made by `python benchmarks/mine.py` (measured with version 0.2.0)."


@pytest.mark.parametrize(
    ("code", "version", "page", "told"),
    [
        ("old", "0.2.0", MADE, ""),
        ("new", "0.2.0", "Made by `python benchmarks/mine.py`.", ""),
        ("old", "0.2.0", "Made by `python benchmarks/mine.py`.", "measured with version 0.2.0"),
        ("old", "0.1.0", MADE, "measured with version 0.1.0"),
        ("new", None, MADE, "under versions.laserloop"),
        ("new", "0.2.0", "Measured with version 0.2.0.", "the command"),
    ],
)
def test_a_results_file_of_other_code_needs_its_version_on_the_page(
    code: str, version: str | None, page: str, told: str
) -> None:
    found = {"code": code} | ({"versions": {"laserloop": version}} if version else {})
    said = judge_results(found, page, {"new"})
    assert told in said
    assert bool(told) == bool(said)
