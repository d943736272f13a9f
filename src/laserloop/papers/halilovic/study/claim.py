"""Claims: sentences with a rule, judged on figures so that they can be found wrong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from laserloop.papers.halilovic.words import read_entries

FACTOR = 1.5  # a difference that matters
STEADY = 1.25  # "no improvement", "nearly unaffected", "flat", "matches": within this factor

Figures = TypeVar("Figures")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence with its rule, the paper's figures, ours, and whether ours obey the rule."""

    key: str
    group: str  # of the paper's claims, or its finding
    sentence: str
    paper: str
    ours: str
    holds: bool


def judge(key: str, holds: bool, /, **figures: object) -> Claim:
    """The claim of claims.md called `key`, with its figures."""
    group, lines = read_sentences()[key]
    sentence, paper, ours = (line.format(**figures, factor=FACTOR, steady=STEADY) for line in lines)
    return Claim(key, group, sentence, paper, ours, bool(holds))


def judge_all(judges: Iterable[Callable[[Figures], Iterable[Claim]]], figures: Figures) -> list[Claim]:
    """What each judge says of the figures; one whose figures are not there says nothing."""
    found: list[Claim] = []
    for judge_one in judges:
        try:
            found += judge_one(figures)
        except (
            KeyError,
            ValueError,
        ):  # a model that is not trained yet, a run that was not kept tick by tick
            continue
    return found


@cache
def read_sentences() -> Mapping[str, tuple[str, Sequence[str]]]:
    """Of claims.md: key → group and lines."""
    heads = ((head.split(), lines) for head, lines in read_entries("claims").items())
    return {key: (group, lines) for (group, key), lines in heads}


def is_flat(steps: Sequence[float]) -> bool:
    """Steady "from the first to the fifth prediction step"; the paper's example is 2.7 to 3.0 K."""
    return 1 / STEADY <= steps[-1] / steps[0] <= STEADY


def is_near(ours: float, paper: float) -> bool:
    """Within the factor that matters, either way, and of the same sign."""
    return paper != 0 and 1 / FACTOR <= ours / paper <= FACTOR


def join(values: Iterable[float | None], between: str = " → ", form: str = ".1f") -> str:
    """Figures in a row; … for one that is not known."""
    return between.join("…" if value is None else format(value, form) for value in values)
