"""WHAT A MACHINE WROTE DOWN: one reader per format, all to one noun; runs as tables and fields."""

from typing import TYPE_CHECKING

from laserloop.lazy import fetch_from

if TYPE_CHECKING:
    from laserloop.logs.export import can_parquet, render_rows
    from laserloop.logs.recording import FaultCounts, Readings, Recording, count_faults, read_log

__all__ = [
    "FaultCounts",
    "Readings",
    "Recording",
    "can_parquet",
    "count_faults",
    "read_log",
    "render_rows",
]

__getattr__ = fetch_from(__name__)
