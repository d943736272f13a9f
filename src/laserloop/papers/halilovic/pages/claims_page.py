"""The page about the claims."""

from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.findings import write_findings
from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.verdict import RULES
from laserloop.papers.halilovic.report.blocks import Block, Heading, Page, Prose, Table


def write_claims(results: Results, *, clock: bool = False) -> Page:
    """One line each, then the checks behind it; with `clock` also by measured times."""
    verdicts = judge_paper(results, clock=clock)
    rows = [
        (v.key, f"{v.sign} {v.word}", v.claim, f"{v.says} [{v.count} checks]" if v.says else "–")
        for v in verdicts
    ]
    blocks: list[Block] = [
        Table(
            ("claim", "verdict", "the paper says", "the figures that say so: ours (the paper's)"),
            rows,
            wordy=True,
        ),
        Prose(RULES),
    ]
    if not clock:
        blocks.append(
            Prose("C5 is judged here without a clock; how long things take is on [timing](timing.md).")
        )
    if any(verdict.checks for verdict in verdicts):
        blocks.append(Heading("The checks"))
    for verdict in verdicts:
        if verdict.checks:
            blocks += [Heading(f"{verdict.key}: {verdict.word}", 3), tabulate_claims(verdict.checks)]
    findings = write_findings(results, verdicts)
    return Page(
        "claims",
        "The paper's claims, judged",
        [*blocks, Heading("What reproduces, what does not, and why"), *findings],
    )
