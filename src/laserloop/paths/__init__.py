"""Where the beam goes: scan paths, built in or read from files, sampled once per tick."""

from laserloop.paths.cli_file import read_cli
from laserloop.paths.csv_file import read_csv
from laserloop.paths.find import find_path
from laserloop.paths.formats import names_file
from laserloop.paths.gcode_file import read_gcode
from laserloop.paths.path import DEFAULT_SPEED, DEFAULT_TICK, ScanPath
from laserloop.paths.polyline import sample_polyline
from laserloop.paths.random_polyline import draw_polyline
from laserloop.paths.sampling import DEFAULT_JUMP_SPEED, sample_track
from laserloop.paths.segment_file import read_segments
from laserloop.paths.shapes import trace_diagonal, trace_horizontal, trace_spiral, trace_vertical
from laserloop.paths.track import Track

__all__ = [
    "DEFAULT_JUMP_SPEED",
    "DEFAULT_SPEED",
    "DEFAULT_TICK",
    "ScanPath",
    "Track",
    "draw_polyline",
    "find_path",
    "names_file",
    "read_cli",
    "read_csv",
    "read_gcode",
    "read_segments",
    "sample_polyline",
    "sample_track",
    "trace_diagonal",
    "trace_horizontal",
    "trace_spiral",
    "trace_vertical",
]
