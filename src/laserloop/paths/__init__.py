"""WHERE THE BEAM GOES: scan paths, built in or read from files, sampled once a tick; files written again.

May import `process` for its numbers, and nothing else of the house.
"""

from laserloop.paths.files import Placement, ScanFile, find_path, names_file
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, Preview, ScanPath, mark_settled
from laserloop.paths.shapes import (
    FAMILIES,
    draw_polyline,
    trace_diagonal,
    trace_horizontal,
    trace_spiral,
    trace_vertical,
)
from laserloop.paths.track import Track, sample_polyline, sample_track

__all__ = [
    "DEFAULT_SPEED",
    "DEFAULT_TICK",
    "FAMILIES",
    "Placement",
    "Preview",
    "ScanFile",
    "ScanPath",
    "Track",
    "draw_polyline",
    "find_path",
    "mark_settled",
    "names_file",
    "sample_polyline",
    "sample_track",
    "trace_diagonal",
    "trace_horizontal",
    "trace_spiral",
    "trace_vertical",
]
