"""What is allowed of a number: its range, its unit and the sentence that says so.

Behind the keys of a process file, the options of the command line and what a page may ask for.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One number, or some in a list."""

    low: float
    high: float
    unit: str = ""
    text: str = ""  # a whole sentence
    names: tuple[str, ...] = ()  # of the numbers in a list; none: a single number
    rising: bool = False  # must a list rise?
    equal: bool = False  # may it then have the same number twice?
    whole: bool = False
    optional: bool = False  # may it be empty?
    slips: tuple[tuple[str, float, float], ...] = ()  # units given by mistake: name, factor, then offset

    @property
    def rule(self) -> str:
        """What is allowed."""
        kind = "whole number" if self.whole else "number"
        span = f"from {self.low:g} to {self.high:.12g}{' ' + self.unit if self.unit else ''}"
        order = ", low before high" if self.rising else ""
        if self.names:
            return f"{len(self.names)} {kind}s [{', '.join(self.names)}] {span}{order}"
        return f"a {kind} {span}{' or empty' if self.optional else ''}"

    def allows(self, numbers: Sequence[float]) -> bool:
        """Whether these are as many as there must be, in range and in order; NaN is in no range."""
        return (
            len(numbers) == max(len(self.names), 1)
            and all(self.low <= number <= self.high for number in numbers)
            and not (self.whole and any(number % 1 for number in numbers))
            and not (self.rising and list(numbers) != sorted(numbers if self.equal else set(numbers)))
        )

    def hint(self, numbers: Sequence[float]) -> str:
        """What to give instead, if the numbers would do in a unit that is often mistaken for this one."""
        for unit, factor, offset in self.slips:
            meant = [number * factor + offset for number in numbers]
            if all(self.low <= number <= self.high for number in meant):
                shown = ", ".join(f"{number:.6g}" for number in meant)
                return f"give {f'[{shown}]' if self.names else shown} if it is in {unit}"
        return ""

    def parse(self, text: str) -> tuple[tuple[float, ...] | None, str]:
        """The numbers of a text with commas between them, if they are allowed, else what to do about it."""
        try:
            numbers = tuple(float(part) for part in text.split(","))
        except ValueError:
            return None, "correct it"
        if "_" in text or not self.allows(numbers) or (self.whole and not text.strip("+- ").isdigit()):
            return None, self.hint(numbers) or "correct it"  # Python alone would read 1_4 as 14
        return tuple(map(int, numbers)) if self.whole else numbers, ""
