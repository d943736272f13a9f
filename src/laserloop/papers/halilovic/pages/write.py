"""Pages from their words: headings, paragraphs and places for tables and pictures, in a file of text/."""

from collections.abc import Mapping, Sequence

from laserloop.papers.halilovic.report.blocks import Block, Bullets, Heading, Page, Prose
from laserloop.papers.halilovic.words import read_text

NOT_RUN = Prose("Not run yet: run `laserloop reproduce --out DIR`.")

Parts = Mapping[str, Block | Sequence[Block] | None]


def write_page(name: str, parts: Parts | None, /, *, words: str = "", **figures: object) -> Page:
    """The page of text/NAME.md: a line @part is that part, {figure} that figure; no parts: it was not run."""
    title, *paragraphs = read_text(words or name).strip().split("\n\n")
    if parts is None:
        return Page(name, title.removeprefix("# "), (NOT_RUN,))
    blocks: list[Block] = []
    for text in paragraphs:
        if text.startswith("@"):
            part = parts[text[1:]]
            blocks += part if isinstance(part, Sequence) else [part] if part is not None else []
        elif text.startswith("#"):
            marks, _, heading = text.partition(" ")
            blocks.append(Heading(heading, len(marks)))
        elif text.startswith("- "):
            blocks.append(Bullets([line.removeprefix("- ") for line in text.splitlines()]))
        else:
            blocks.append(Prose(" ".join(text.split("\n")).format(**figures)))
    return Page(name, title.removeprefix("# "), blocks)
