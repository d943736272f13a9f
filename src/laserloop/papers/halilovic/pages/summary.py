"""A reproduction in a few lines: for machines, and for the terminal at its end."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.results import read_results, write_banner


def summarise(directory: Path) -> dict[str, Any]:
    """The verdicts with their checks, the times of the stages, and where all of it is told."""
    results = read_results(directory)
    return {
        "size": results.size,
        "note": write_banner(results),
        "page": str(directory / "report" / "index.html"),
        "claims": [
            {
                "key": verdict.key,
                "verdict": verdict.word,
                "claim": verdict.claim,
                "figures": verdict.says,
                "checks": [asdict(check) for check in verdict.checks],
            }
            for verdict in judge_paper(results, clock=True)
        ],
        "stages": list((results.stages or {}).get("stages", [])),
    }
