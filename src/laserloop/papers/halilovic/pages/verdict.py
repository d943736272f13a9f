"""Verdicts: a claim of the paper's, the checks it is put to, and what follows from them by rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from laserloop.papers.halilovic.study.claim import Claim

SIGNS = {"confirmed": "●", "partly": "◐", "not": "○", "not judged": "–"}

T = TypeVar("T")


class NotThere(Exception):
    """What a claim would be judged by was not computed yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One of the paper's claims, judged."""

    key: str  # C1 … C5, or the closing finding
    claim: str  # the paper's, in one line
    says: str = ""  # the figures that say so, ours (the paper's)
    checks: Sequence[Claim] = ()

    @property
    def word(self) -> str:
        """Confirmed, partly, not, or not judged."""
        held = [check.holds for check in self.checks]
        if not held:
            return "not judged"
        return "confirmed" if all(held) else "partly" if any(held) else "not"

    @property
    def sign(self) -> str:
        """A full, half or empty circle."""
        return SIGNS[self.word]

    @property
    def count(self) -> str:
        """How many of its checks hold."""
        return f"{sum(check.holds for check in self.checks)} of {len(self.checks)}"


def need(thing: T | None) -> T:
    """The thing, if it is there."""
    if thing is None:
        raise NotThere
    return thing
