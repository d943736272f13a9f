"""Who takes part, one file each; the order is that of the tables before they are sorted."""

from laserloop.arena.booth import enter_own
from laserloop.arena.entrant import Entrant
from laserloop.arena.entrants.constant import CONSTANT
from laserloop.arena.entrants.feedforward import FEEDFORWARD
from laserloop.arena.entrants.ilc import ILC
from laserloop.arena.entrants.oracle import ORACLE
from laserloop.arena.entrants.paper import PAPER_BASE, PAPER_CORNER, PAPER_IPOPT
from laserloop.arena.entrants.pi import PI
from laserloop.arena.entrants.pi_calm import PI_CALM
from laserloop.arena.entrants.twin import (
    TWIN,
    TWIN_WITHOUT_CAMERA,
    TWIN_WITHOUT_HISTORY,
    TWIN_WITHOUT_PREVIEW,
)
from laserloop.bad_input import BadInput
from laserloop.loop.own_file import names_own

ENTRANTS: tuple[Entrant, ...] = (
    *(ORACLE, TWIN, TWIN_WITHOUT_CAMERA, TWIN_WITHOUT_PREVIEW, TWIN_WITHOUT_HISTORY),
    *(ILC, PI, PI_CALM, FEEDFORWARD, CONSTANT),
    *(PAPER_CORNER, PAPER_BASE, PAPER_IPOPT),
)


def find_entrant(name: str) -> Entrant:
    """The entrant of a name; FILE.py:NAME is a user's own."""
    found = {entrant.name: entrant for entrant in ENTRANTS}
    if names_own(name):
        own = enter_own(name)
        if own.name in found:
            raise BadInput(f"{own.name} is an entrant already: give the class of {name} another name")
        return own
    if name not in found:
        raise BadInput(f"an entrant must be one of {', '.join(found)} or FILE.py:NAME, got {name!r}")
    return found[name]
