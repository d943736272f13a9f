"""A Fourier neural operator on the surface patch.

python -m laserloop.arena.train fno --lessons out/arena/lessons
"""

from pathlib import Path

from laserloop.arena.learners import enter_memory_net
from laserloop.predict.networks import Fno

EPOCHS = 15

FNO = enter_memory_net(
    Fno(),
    epochs=EPOCHS,
    about="A Fourier neural operator on the surface around the beam, affine in the plan: one QP.",
    source=Path(__file__),
)
