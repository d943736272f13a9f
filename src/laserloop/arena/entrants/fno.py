"""A Fourier neural operator on the surface patch.

python -m laserloop.arena.train fno --lessons out/arena/lessons
"""

from pathlib import Path

from laserloop.arena.learners import enter_sequence_network
from laserloop.predict.networks import Fno

EPOCHS = 15

FNO = enter_sequence_network(
    Fno(),
    epochs=EPOCHS,
    about="A Fourier neural operator on the surface around the beam, affine in the plan: one QP.",
    source=Path(__file__),
)
