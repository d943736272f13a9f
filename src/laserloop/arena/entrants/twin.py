"""The physics twin, and the twin without one of the things it lives on."""

from dataclasses import replace
from pathlib import Path

from laserloop.arena.entrant import Entrant, Seat
from laserloop.control.controller import Controller
from laserloop.native.twin import make_twin
from laserloop.predict.twin import TwinSettings


def make(seat: Seat) -> Controller:
    """As it ships."""
    return make_twin(seat.problem, replace(seat.process, speed=seat.fastest))


def make_forgetful(seat: Seat) -> Controller:
    """Heat older than the ticks kept one by one is forgotten; in NumPy, so it is slow."""
    process = replace(seat.process, speed=seat.fastest)
    return make_twin(seat.problem, process, TwinSettings(history=False))


HERE = (Path(__file__),)
TWIN = Entrant(
    name="twin",
    about="The physics twin: heat of all past ticks, five ticks ahead, one number learned from the camera.",
    make=make,
    sources=HERE,
)
TWIN_WITHOUT_CAMERA = Entrant(
    name="twin-without-camera",
    about="The twin that never sees an image: power from the path and the process alone.",
    make=make,
    camera=False,
    sources=HERE,
)
TWIN_WITHOUT_PREVIEW = Entrant(
    name="twin-without-preview",
    about="The twin that knows where the beam is but not where it goes: straight on, it believes.",
    make=make,
    foresight="none",
    sources=HERE,
)
TWIN_WITHOUT_HISTORY = Entrant(
    name="twin-without-history",
    about="The twin that forgets heat after the newest ticks; the camera has to make up for it.",
    make=make_forgetful,
    sources=HERE,
)
