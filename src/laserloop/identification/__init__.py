"""WHAT THE MACHINE REALLY IS: a process fitted to a recording, with what the data cannot tell apart."""

from laserloop.identification.fit import Fit, FitSettings, identify
from laserloop.identification.parameters import NAMES

__all__ = ["NAMES", "Fit", "FitSettings", "identify"]
