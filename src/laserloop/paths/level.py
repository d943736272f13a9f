"""The height of a lit move: within one layer."""

from laserloop.bad_input import BadInput

FLAT = 1e-9  # m


def check_level(before: float, after: float, where: str) -> None:
    """Refuse a move with the laser on that climbs, m."""
    if abs(after - before) > FLAT:
        raise BadInput(
            f"{where}: a move with the laser on must stay in its layer, but goes from z = {1e3 * before:g} "
            f"to {1e3 * after:g} mm; export layer by layer."
        )
