"""WHAT A MACHINE WROTE DOWN: one reader per format, all to one noun; runs as tables and fields."""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.logs.recording import FaultCounts, Readings, Recording, count_faults, read_log

__all__ = ["FaultCounts", "Readings", "Recording", "count_faults", "read_log"]

__getattr__ = fetch_from(__name__, {"recording": tuple(__all__)})
