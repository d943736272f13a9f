"""What a page says about the size of the run it comes from."""

from laserloop.papers.halilovic.pages.results import Results
from laserloop.papers.halilovic.words import say

WORDS = {  # of settings.json
    "ensemble_runs": "{} episodes an ensemble",
    "full_epochs": "at most {} epochs for the deployed models",
    "short_epochs": "{} for the others",
    "realisations": "{} of each excitation",
    "ticks": "{} ticks a run",
    "problems": "{} problems for the solvers",
}


def write_banner(results: Results) -> str:
    """The warning of a run that was not of the full size, or nothing."""
    if not results.quick:
        return ""
    known = [words.format(results.settings[key]) for key, words in WORDS.items() if key in results.settings]
    return say("banner", told=f" ({', '.join(known)})" if known else "")
