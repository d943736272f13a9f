"""WHAT A MACHINE WROTE DOWN: one reader per format, all to one noun; runs as tables and fields."""

from laserloop.logs.find import read_log
from laserloop.logs.recording import Readings, Recording
from laserloop.logs.tally import Tally, count_faults

__all__ = ["Readings", "Recording", "Tally", "count_faults", "read_log"]
