"""The one exception that speaks to people: an input broke a rule; a short account of what it got or meant."""

from collections.abc import Iterable
from math import isfinite
from numbers import Integral, Real
from typing import TypeVar

Kind = TypeVar("Kind")


class BadInput(ValueError):
    """An input breaks a stated rule; the message is one sentence: the rule, the value, what to do."""


def show(value: object) -> str:
    """A short account of any value: the repr of a hostile one may be endless."""
    if value is None:
        return "nothing"
    if isinstance(value, str | float) or (isinstance(value, int) and abs(value) < 1e18):
        return repr(value)[:60]
    return f"a {type(value).__name__}"


def check_kind(value: object, kind: type[Kind], what: str, cure: str) -> Kind:
    """The value itself, if it is of the kind that people need here."""
    if isinstance(value, kind):
        return value
    article = "an" if kind.__name__[0] in "AEIO" else "a"
    name = "text" if kind is str else f"{article} {kind.__name__}"
    raise BadInput(f"{what} must be {name}, but got {show(value)}; {cure}.")


def guess(wrong: object, known: Iterable[object]) -> str:
    """` (did you mean …?)` with the known word nearest to what was given, if one is near enough."""
    from difflib import get_close_matches

    words = {str(word).lower(): str(word) for word in known}
    near = get_close_matches(str(wrong)[:100].lower(), list(words), n=1, cutoff=0.7)
    return f" (did you mean {words[near[0]]}?)" if near else ""


def is_finite(value: object) -> bool:
    """Whether a value of any type is a finite number."""
    return not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)


def is_whole(value: object) -> bool:
    """Whether a value of any type is a whole number."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def count(number: int, noun: str) -> str:
    """`1 tick`, `2 ticks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plain(value: float, digits: int = 3) -> str:
    """To so many digits, without an exponent: 1860 and not 1.86e+03."""
    return f"{float(f'{value:.{digits}g}'):.15g}"
