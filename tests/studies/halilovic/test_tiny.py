"""A whole reproduction, so small that it fits into a test: what stages leave is what pages are made of."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from laserloop.predict.training import FitSettings
from laserloop.studies.halilovic.cases import QUICK
from laserloop.studies.halilovic.report import summarise, write_report
from laserloop.studies.halilovic.run import (
    StageProgress,
    Stopwatch,
    _run_stage,
    _sign,
    _sign_off,
    open_folder,
)
from laserloop.studies.halilovic.stages import STAGES

FULL_REPORT = Path(__file__).parents[3] / "docs" / "reproduction" / "report"
BRIEF = FitSettings(halve_after=1, patience=1, max_epochs=1)
TINY = replace(
    QUICK,
    runs=4,
    protocol=replace(BRIEF, halve_after=20, patience=80, max_epochs=80),  # or no margin fits the window
    short=BRIEF,
    ticks=12,
    problems=2,
    repeats=2,
    seeds=("base seed 1",),
    corners=("135°", "180°, slowing"),
    spread=True,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every stage, in this process, then the report."""
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("laserloop.bench.mpc.TICKS", 12)
        patch.setattr("laserloop.bench.mpc_twin.TICKS", 12)
        patch.setattr("laserloop.studies.halilovic.measures.LINE_TICKS", 6)
        patch.setattr("laserloop.studies.halilovic.measures.LINE_SETTLED", 3)
        folder = open_folder(tmp_path_factory.mktemp("tiny") / "out", TINY)
        _sign(folder, 1)
        watch, progress = (
            Stopwatch(folder),
            StageProgress("quick", {stage.name: stage.title for stage in STAGES}),
        )
        watch.start()
        with progress.bars:
            for stage in STAGES:
                _run_stage(stage, folder, None, progress, watch)
        _sign_off(folder)
        write_report(folder.root)
    return folder.root


def read_shape(page: Path) -> list[str]:
    """The headings and the heads of the tables, in their order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    heads = [line for line, rule in pairwise(lines) if rule.startswith("|---")]
    kept = [line for line in lines if line.startswith("#") or line in heads]
    return [re.sub(r": (confirmed|partly|not)$", "", line) for line in kept]  # whatever became of a claim


def find_missing(page: Path, made: Path) -> list[str]:
    """Parts of a page that another does not have in this order; a new part may not be published yet."""
    there = iter(read_shape(made))
    return [part for part in read_shape(page) if part not in there]


def test_every_page_has_every_part_of_the_full_report_and_every_claim_is_judged(tiny: Path) -> None:
    """In one test, so that one worker of two makes the reproduction."""
    pages = sorted(FULL_REPORT.glob("*.md"))
    assert len(pages) == 10
    missing = {page.name: find_missing(page, tiny / "report" / page.name) for page in pages}
    assert not any(missing.values()), missing
    found = summarise(tiny)
    assert len(found["claims"]) == 6
    assert "not judged" not in {claim["verdict"] for claim in found["claims"]}
