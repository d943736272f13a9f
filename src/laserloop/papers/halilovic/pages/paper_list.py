"""The figures of the paper, and where ours of each is, or why there is none."""

from collections.abc import Collection

from laserloop.papers.halilovic.report.blocks import Table
from laserloop.papers.halilovic.words import read_text, say


def list_figures(drawn: Collection[str]) -> Table:
    """Numbered in the order of the paper's text, as in figures.md; `drawn` are the names of our pictures."""
    rows = []
    for line in read_text("figures").splitlines():
        number, what, names = (part.strip() for part in line.split("|"))
        there = [f"[{name}](figures/{name}.png)" for name in names.split() if name in drawn]
        missing = say("figures.not_drawn" if names else "figures.schematic")
        rows.append((f"Fig. {number}", what, ", ".join(there) or missing))
    return Table(("the paper's", "what it shows", "ours"), rows, wordy=True)
