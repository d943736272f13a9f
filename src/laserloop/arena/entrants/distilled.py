"""An amortised policy: one small network that gives, of what is seen, the power that the twin would plan.

python -m laserloop.arena.train distilled
"""

from pathlib import Path

from laserloop.arena.entrant import Cost, Entrant, Seat
from laserloop.arena.shelf import SHELF
from laserloop.control.controller import Controller
from laserloop.control.policy import PolicyController, find_policy

NAME = "distilled"


def make(seat: Seat, folder: Path = SHELF / NAME) -> Controller:
    """The policy of the seat's process; without one the entrant cannot take part."""
    return PolicyController(find_policy(folder, seat.process), seat.process, name=NAME)


def train(lessons: Path, seed: int, folder: Path) -> Cost:
    """On loops of twins alone; lessons of the plant are not needed."""
    from laserloop.arena.training.distil import SAMPLES, Distillation, distil

    distil(Distillation(seed=seed), folder)
    for file in folder.glob(f"*{SAMPLES}"):
        file.unlink()
    return Cost.read(folder)


DISTILLED = Entrant(
    name=NAME,
    about="A small network that learned from the twin's planner which power follows from what is seen.",
    make=make,
    learns=True,
    model=SHELF / NAME,
    train=train,
    sources=(Path(__file__),),
)
