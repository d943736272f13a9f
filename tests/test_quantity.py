"""What is allowed of a number."""

import pytest

from laserloop.quantity import Quantity

WHOLE = Quantity(low=1, high=10_000_000, unit="ticks", whole=True)
PAIR = Quantity(low=0.0, high=1e4, unit="K", names=("low", "high"), rising=True)
SIGMA = Quantity(low=5.0, high=1e4, unit="µm", slips=(("mm", 1e3, 0.0),))


@pytest.mark.parametrize(
    ("quantity", "text", "numbers"),
    [
        (WHOLE, "12", (12,)),
        (WHOLE, "1.5", None),
        (WHOLE, "1e3", None),
        (WHOLE, "0", None),
        (PAIR, "760,800", (760.0, 800.0)),
        (PAIR, "800,760", None),
        (PAIR, "760,760", None),
        (PAIR, "760", None),
        (PAIR, "760,nan", None),
        (SIGMA, "80", (80.0,)),
        (SIGMA, "8_0", None),
        (SIGMA, "inf", None),
        (SIGMA, "wide", None),
    ],
)
def test_only_what_the_rule_allows_is_read(
    quantity: Quantity, text: str, numbers: tuple[float, ...] | None
) -> None:
    assert quantity.parse(text)[0] == numbers


def test_the_rule_names_count_range_unit_and_order() -> None:
    assert WHOLE.rule == "a whole number from 1 to 10000000 ticks"
    assert PAIR.rule == "2 numbers [low, high] from 0 to 10000 K, low before high"


def test_a_number_in_another_unit_is_told_in_this_one() -> None:
    assert SIGMA.parse("0.08") == (None, "give 80 if it is in mm")
    assert SIGMA.parse("1e6") == (None, "correct it")
