"""PI control of the measured peak."""

from pathlib import Path

from laserloop.arena.entrant import Entrant, Seat
from laserloop.arena.entrants.gains import find_pi_gains
from laserloop.control.controller import Controller
from laserloop.control.simple import PiController


def make(seat: Seat) -> Controller:
    """With the gains that were best on three training paths."""
    return PiController(find_pi_gains(seat), seat.problem.power)


PI = Entrant(
    name="pi",
    about="The practitioner's loop: power by the error of the measured peak and its integral.",
    make=make,
    foresight="none",
    sources=(Path(__file__),),
)
