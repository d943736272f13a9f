"""TiDE with quantiles.

python -m laserloop.arena.train tide-quantile --lessons out/arena/lessons
"""

from pathlib import Path

from laserloop.arena.learners import enter_sequence_network
from laserloop.predict.networks import TideQuantile

EPOCHS = 40

TIDE_QUANTILE = enter_sequence_network(
    TideQuantile(),
    epochs=EPOCHS,
    about="The same with quantiles: holds the median in the middle and the upper quantile below the top.",
    source=Path(__file__),
)
