"""TiDE time-series MPC.

python -m laserloop.arena.train tide --lessons out/arena/lessons
"""

from pathlib import Path

from laserloop.arena.learners import enter_sequence_network
from laserloop.predict.networks import Tide

EPOCHS = 40

TIDE = enter_sequence_network(
    Tide(),
    epochs=EPOCHS,
    about="A time-series dense encoder of past and path, the whole horizon at once, by sequential QPs.",
    source=Path(__file__),
)
