"""The oracle: plans on the plant itself, so no model can know better."""

from pathlib import Path

from laserloop.arena.entrant import Entrant, Seat
from laserloop.control.action import Controller
from laserloop.loop.controllers import make_controller


def make(seat: Seat) -> Controller:
    """Asked for the same as everybody else."""
    return make_controller("oracle", seat.problem, plant=seat.plant)


ORACLE = Entrant(
    name="oracle",
    about="Rehearses every plan on the plant itself: what could be had, not a contestant.",
    make=make,
    camera=False,
    bound=True,
    sources=(Path(__file__),),
)
