"""WHAT THE MACHINE REALLY IS: a process fitted to a recording, with what the data cannot tell apart."""

from laserloop.identify.fit import Fit
from laserloop.identify.parameters import NAMES
from laserloop.identify.search import FitSettings, identify

__all__ = ["NAMES", "Fit", "FitSettings", "identify"]
