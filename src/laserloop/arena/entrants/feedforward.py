"""Feed-forward by the local dwell of the path."""

from pathlib import Path

from laserloop.arena.entrant import Entrant, Seat
from laserloop.arena.entrants.gains import find_feedforward_gains
from laserloop.control.controller import Controller
from laserloop.control.simple import FeedforwardController


def make(seat: Seat) -> Controller:
    """With the gains that were best on three training paths."""
    return FeedforwardController(find_feedforward_gains(seat), seat.problem.power)


FEEDFORWARD = Entrant(
    name="feedforward",
    about="Less power where the beam comes back to where it has just been; no camera.",
    make=make,
    camera=False,
    sources=(Path(__file__),),
)
