"""The physics twin: heat as superposed Gaussians, nothing trained, one number fed back."""

from laserloop.predict.twin.twin import TwinPredictor, TwinSettings

__all__ = ["TwinPredictor", "TwinSettings"]
