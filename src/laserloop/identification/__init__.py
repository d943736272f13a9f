"""WHAT THE MACHINE REALLY IS: a process fitted to a recording, with what the data cannot tell apart."""

from laserloop.identification.fit import Fit
from laserloop.identification.parameters import NAMES
from laserloop.identification.search import FitSettings, identify

__all__ = ["NAMES", "Fit", "FitSettings", "identify"]
