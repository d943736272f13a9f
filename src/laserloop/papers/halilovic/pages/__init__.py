"""The report of a reproduction: Markdown pages to keep, and one HTML page to look at."""

from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.papers.halilovic.pages.results import read_results


def write_report(directory: Path) -> Path:
    """Read `directory`/results, write `directory`/report; returns the HTML page."""
    from laserloop.papers.halilovic.pages.book import write_book

    results = read_results(directory)
    try:
        return write_book(results, directory / "report")
    except KeyError as missing:  # results of another version of this program
        raise BadInput(
            f"a report needs what this version writes, but a file of {str(directory / 'results')!r} lacks "
            f"{missing}: run `laserloop reproduce` into a new folder"
        ) from missing


__all__ = ["write_report"]
