"""Sentences with a rule, judged on figures, and the claims that follow from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

FACTOR = 1.5  # a difference that matters
STEADY = 1.25  # "no improvement", "nearly unaffected", "flat", "matches": within this factor
SIGNS = {"confirmed": "●", "partly": "◐", "not": "○", "not judged": "–"}

Figures = TypeVar("Figures")


@dataclass(frozen=True, slots=True)
class Check:
    """One sentence with its rule, the paper's figures, ours, and whether ours obey the rule."""

    key: str
    group: str  # of the paper's claims, or its finding
    sentence: str
    paper: str
    ours: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One of the paper's claims, judged by its checks."""

    key: str  # C1 … C5, or the closing finding
    sentence: str  # the paper's, in one line
    figures: str = ""  # that say so, ours (the paper's)
    checks: Sequence[Check] = ()

    @property
    def verdict(self) -> str:
        """Confirmed, partly, not, or not judged."""
        held = [check.holds for check in self.checks]
        if not held:
            return "not judged"
        return "confirmed" if all(held) else "partly" if any(held) else "not"

    @property
    def sign(self) -> str:
        """A full, half or empty circle."""
        return SIGNS[self.verdict]

    @property
    def count(self) -> str:
        """How many of its checks hold."""
        return f"{sum(check.holds for check in self.checks)} of {len(self.checks)}"


def judge_all(judges: Iterable[Callable[[Figures], Iterable[Check]]], figures: Figures) -> list[Check]:
    """What each judge says of the figures; one whose figures are not there says nothing."""
    found: list[Check] = []
    for judge in judges:
        try:
            found += judge(figures)
        except (KeyError, ValueError):  # a model not trained yet, a run not kept tick by tick
            continue
    return found


def is_flat(steps: Sequence[float]) -> bool:
    """Steady "from the first to the fifth prediction step"; the paper's example is 2.7 to 3.0 K."""
    return 1 / STEADY <= steps[-1] / steps[0] <= STEADY


def is_near(ours: float, paper: float) -> bool:
    """Within the factor that matters, either way, and of the same sign."""
    return paper != 0 and 1 / FACTOR <= ours / paper <= FACTOR


def describe_both(tell: Callable[[Figures], str], paper: Figures, ours: Figures) -> tuple[str, str]:
    """The paper's figures and ours in the same words."""
    return tell(paper), tell(ours)


def join(values: Iterable[float | None], between: str = " → ", form: str = ".1f") -> str:
    """Figures in a row; … for one that is not known."""
    return between.join("…" if value is None else format(value, form) for value in values)
