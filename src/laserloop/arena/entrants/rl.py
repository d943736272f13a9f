"""Deep reinforcement learning: a small network by trial and reward, on twins first and then on the plant.

python -m laserloop.arena.train rl
"""

from pathlib import Path

from laserloop.arena.entrant import Cost, Entrant, Seat
from laserloop.arena.shelf import SHELF
from laserloop.bad_input import BadInput
from laserloop.control.controller import Controller
from laserloop.control.policy import PolicyController, find_policy

NAME = "rl"


def make(seat: Seat, folder: Path = SHELF / NAME) -> Controller:
    """The policy of the seat's process; without one the entrant cannot take part."""
    return PolicyController(find_policy(folder, seat.process), seat.process, name=NAME)


def train(lessons: Path, seed: int, folder: Path) -> Cost:
    """By PPO; lessons of the plant are not needed."""
    try:
        from laserloop.arena.training.ppo import LEARNER, STAGE, PpoSettings, train_ppo
    except ModuleNotFoundError as missing:
        raise BadInput(f"training needs {missing.name}: pip install 'laserloop[rl]'") from None

    train_ppo(PpoSettings(seed=seed), folder)
    for file in (*folder.glob(f"*{STAGE}"), *folder.glob(f"*{LEARNER}")):
        file.unlink()
    return Cost.read(folder)


RL = Entrant(
    name=NAME,
    about="A small network by PPO: millions of ticks on twins, some thousand on the plant.",
    make=make,
    learns=True,
    model=SHELF / NAME,
    train=train,
    sources=(Path(__file__),),
)
