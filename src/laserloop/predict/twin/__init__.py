"""The physics twin: heat as superposed Gaussians, nothing trained, one number fed back."""

from laserloop.predict.twin.starts import Counted, Starts, find_counted, find_excused, score_starts
from laserloop.predict.twin.twin import TwinPredictor, TwinSettings

__all__ = [
    "Counted",
    "Starts",
    "TwinPredictor",
    "TwinSettings",
    "find_counted",
    "find_excused",
    "score_starts",
]
