"""Where the beam goes: scan paths, built in or read from files, sampled once per tick."""

from laserloop.paths.files import ScanFile, names_file
from laserloop.paths.find import find_path
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, ScanPath
from laserloop.paths.polyline import sample_polyline
from laserloop.paths.random_polyline import draw_polyline
from laserloop.paths.sampling import DEFAULT_JUMP_SPEED, sample_track
from laserloop.paths.shapes import trace_diagonal, trace_horizontal, trace_spiral, trace_vertical
from laserloop.paths.track import Track

__all__ = [
    "DEFAULT_JUMP_SPEED",
    "DEFAULT_SPEED",
    "DEFAULT_TICK",
    "ScanFile",
    "ScanPath",
    "Track",
    "draw_polyline",
    "find_path",
    "names_file",
    "sample_polyline",
    "sample_track",
    "trace_diagonal",
    "trace_horizontal",
    "trace_spiral",
    "trace_vertical",
]
