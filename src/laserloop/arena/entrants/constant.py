"""Constant power: what most machines do."""

from pathlib import Path

from laserloop.arena.entrant import Entrant, Seat
from laserloop.arena.entrants.gains import find_seat_gains
from laserloop.control.controller import Controller
from laserloop.control.simple import ConstantController


def make(seat: Seat) -> Controller:
    """The power that was best on three training paths."""
    return ConstantController(find_seat_gains(seat).constant)


CONSTANT = Entrant(
    name="constant",
    about="One power for all, the best one on three training paths.",
    make=make,
    foresight="none",
    camera=False,
    sources=(Path(__file__),),
)
