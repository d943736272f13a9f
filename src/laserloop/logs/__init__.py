"""WHAT A MACHINE WROTE DOWN: one reader per format, all to one noun; runs as tables and fields."""

from laserloop.logs.recording import FaultCounts, Readings, Recording, count_faults, read_log

__all__ = ["FaultCounts", "Readings", "Recording", "count_faults", "read_log"]
