"""The arcs of G-code: a centre by I and J or a radius by R, checked, as points."""

from laserloop.bad_input import BadInput
from laserloop.paths.arc import count_chords, find_centre, is_arc, trace_arc

MAX_CHORDS = 100_000  # a whole turn of 20 m radius; no plate is as large


def follow_arc(
    ends: tuple[complex, complex],
    values: dict[str, float],
    *,
    clockwise: bool,
    unit: float,
    zero: complex,
    where: str,
) -> list[complex]:
    """From one end to the other, m; `unit` in m, `zero` is where I and J count from."""
    centre = find_arc_centre(ends, values, clockwise=clockwise, unit=unit, zero=zero, where=where)
    return trace_arc(*ends, centre, clockwise=clockwise)


def find_arc_centre(
    ends: tuple[complex, complex],
    values: dict[str, float],
    *,
    clockwise: bool,
    unit: float,
    zero: complex,
    where: str,
) -> complex:
    """The centre of an arc as `follow_arc` takes it, m."""
    start, end = ends
    if values.get("P", 1.0) != 1:
        raise BadInput(f"{where}: an arc must have one turn, but P is {values['P']:g}; write each turn.")
    if "R" in values:
        centre = find_centre(start, end, values["R"] * unit, clockwise=clockwise)
        if centre is None:
            raise BadInput(
                f"{where}: an arc's radius must reach from its start to its end, "
                f"{1e3 * abs(end - start):g} mm apart, but R is {1e3 * values['R'] * unit:g} mm; "
                "correct R or give I and J."
            )
    elif "I" in values or "J" in values:
        centre = zero + complex(values.get("I", 0.0), values.get("J", 0.0)) * unit
    else:
        raise BadInput(
            f"{where}: an arc needs its centre by I and J or its radius by R, but has none; add one."
        )
    if not is_arc(start, end, centre):
        raise BadInput(
            f"{where}: start and end of an arc must be equally far from its centre, but are "
            f"{1e3 * abs(start - centre):g} and {1e3 * abs(end - centre):g} mm from it; correct I and J."
        )
    if count_chords(start, end, centre, clockwise=clockwise) > MAX_CHORDS:
        raise BadInput(
            f"{where}: an arc must fit on a plate, but its radius is {abs(start - centre):g} m; check units."
        )
    return centre
