"""What a page says about the size of the run it comes from."""

from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.report.blocks import Prose

WORDS = {  # of settings.json
    "ensemble_runs": "{} episodes an ensemble",
    "full_epochs": "at most {} epochs for the deployed models",
    "short_epochs": "{} for the others",
    "realisations": "{} of each excitation",
    "ticks": "{} ticks a run",
    "problems": "{} problems for the solvers",
}
NOT_RUN = Prose("Not run yet: run `laserloop reproduce --out DIR`.")


def write_banner(results: Results) -> str:
    """The warning of a run that was not of the full size, or nothing."""
    if not results.quick:
        return ""
    known = [words.format(results.settings[key]) for key, words in WORDS.items() if key in results.settings]
    told = f" ({', '.join(known)})" if known else ""
    return f"QUICK RUN: reduced size{told}; figures are not those of the paper's protocol"
