"""The page about the claims."""

from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.findings import write_findings
from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.write import Parts, write_page
from laserloop.papers.halilovic.report.blocks import Block, Heading, Page, Prose, Table
from laserloop.papers.halilovic.words import say

HEADS = ("claim", "verdict", "the paper says", "the figures that say so: ours (the paper's)")


def write_claims(results: Results) -> Page:
    """One line each, then the checks behind it; nothing of it needs a clock."""
    verdicts = judge_paper(results)
    rows = [
        (v.key, f"{v.sign} {v.word}", v.claim, f"{v.says} [{v.count} checks]" if v.says else "–")
        for v in verdicts
    ]
    checks: list[Block] = []
    for verdict in verdicts:
        if verdict.checks:
            checks += [Heading(f"{verdict.key}: {verdict.word}", 3), tabulate_claims(verdict.checks)]
    parts: Parts = {
        "table": Table(HEADS, rows, wordy=True),
        "rules": [Prose(say("rules")), Prose(say("claims.clock"))],
        "checks": [Heading("The checks"), *checks] if checks else None,
        "findings": write_findings(results, verdicts),
    }
    return write_page("claims", parts, words="claims_page")
