"""The scan area: the square at the centre of the plate in which the built-in paths stay."""

from laserloop.bad_input import BadInput

HALF_WIDTH = 1.5e-3  # m
MAX_LENGTH = 100.0  # m of built-in path; five and a half minutes at the default speed


def check_length(length: float) -> None:
    """Refuse a length that no scan has."""
    if not 0 < length <= MAX_LENGTH:
        raise BadInput(
            f"a built-in path must be longer than 0 and at most {MAX_LENGTH:g} m, but {length:g} m were "
            "asked for; its speed or its number of ticks is off, so check their units."
        )
