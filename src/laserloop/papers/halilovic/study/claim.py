"""Claims: sentences with a rule, judged on figures so that they can be found wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from laserloop.papers.halilovic.words import read_entries

FACTOR = 1.5  # a difference that matters
STEADY = 1.25  # "no improvement", "nearly unaffected", "flat", "matches": within this factor


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence with its rule, the paper's figures, ours, and whether ours obey the rule."""

    sentence: str
    paper: str
    ours: str
    holds: bool


def judge(key: str, holds: bool, /, **figures: object) -> Claim:
    """The claim of claims.md called `key`, with its figures."""
    sentence, paper, ours = (
        line.format(**figures, factor=FACTOR, steady=STEADY) for line in read_entries("claims")[key]
    )
    return Claim(sentence, paper, ours, holds)


def format_claims(claims: Iterable[Claim]) -> str:
    """What the paper says, and whether our figures say it too, in Markdown."""
    rows = [(claim.sentence, claim.paper, claim.ours, "yes" if claim.holds else "**no**") for claim in claims]
    return format_rows(("the paper says", "its figures, K", "ours, K", "holds"), rows)


def format_rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    lines.insert(1, "|" + "---|" * len(heads))
    return "\n".join(lines) + "\n"


def is_flat(steps: Sequence[float]) -> bool:
    """Steady "from the first to the fifth prediction step"; the paper's example is 2.7 to 3.0 K."""
    return 1 / STEADY <= steps[-1] / steps[0] <= STEADY


def is_near(ours: float, paper: float) -> bool:
    """Within the factor that matters, either way."""
    return 1 / FACTOR <= ours / paper <= FACTOR
