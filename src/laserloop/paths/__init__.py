"""Where the beam goes: scan paths, built in or read from files, sampled once per tick."""

from laserloop.paths.csv_file import read_csv
from laserloop.paths.find import find_path
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, ScanPath
from laserloop.paths.polyline import sample_polyline
from laserloop.paths.random_polyline import draw_polyline
from laserloop.paths.shapes import trace_diagonal, trace_horizontal, trace_spiral, trace_vertical

__all__ = [
    "DEFAULT_SPEED",
    "DEFAULT_TICK",
    "ScanPath",
    "draw_polyline",
    "find_path",
    "read_csv",
    "sample_polyline",
    "trace_diagonal",
    "trace_horizontal",
    "trace_spiral",
    "trace_vertical",
]
