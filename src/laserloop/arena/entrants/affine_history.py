"""The heading-frame, history, control-affine network.

python -m laserloop.arena.train affine-history --lessons out/arena/lessons
"""

from pathlib import Path

from laserloop.arena.learners import enter_sequence_network
from laserloop.predict.networks import AffineNet

EPOCHS = 60

AFFINE_HISTORY = enter_sequence_network(
    AffineNet(),
    epochs=EPOCHS,
    about="Ten ticks of history and the way ahead, along the heading, in a network affine in the plan.",
    source=Path(__file__),
)
