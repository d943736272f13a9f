"""The words of the report: files of text with places for figures; code holds the figures and the rules."""

from functools import cache
from importlib.resources import files


@cache
def read_text(name: str) -> str:
    """A file of text/."""
    return files("laserloop.papers.halilovic").joinpath(f"text/{name}.md").read_text(encoding="utf-8")


@cache
def read_entries(name: str) -> dict[str, list[str]]:
    """Entries of a file, which empty lines part: the first line of each is its key."""
    entries = (entry.splitlines() for entry in read_text(name).strip().split("\n\n"))
    return {lines[0]: lines[1:] for lines in entries}


def say(key: str, /, **figures: object) -> str:
    """A sentence of sentences.md, with its figures."""
    return " ".join(read_entries("sentences")[key]).format(**figures)
