"""A scan file: read layer by layer, and written again with other powers and speeds."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.paths.cli_file import read_cli, scan_cli
from laserloop.paths.cli_writer import write_cli
from laserloop.paths.csv_file import read_csv
from laserloop.paths.csv_writer import tell_path, write_csv
from laserloop.paths.event_file import read_events, scan_events
from laserloop.paths.event_writer import write_events
from laserloop.paths.file_mark import mark_csv, mark_gcode, mark_layers, mark_nothing, mark_table
from laserloop.paths.formats import Reader, find_reader, names_file
from laserloop.paths.gcode_file import read_gcode, scan_gcode
from laserloop.paths.gcode_writer import find_step, write_gcode
from laserloop.paths.move import Scan
from laserloop.paths.orders import Orders
from laserloop.paths.path import ScanPath
from laserloop.paths.segment_file import read_segments, scan_segments
from laserloop.paths.segment_writer import write_segments
from laserloop.paths.text_file import NamedContent, read_bytes
from laserloop.paths.track import Track, lay_layers

SCANNERS: dict[Reader, Callable[..., Scan]] = {
    read_gcode: scan_gcode,
    read_cli: scan_cli,
    read_segments: scan_segments,
    read_events: scan_events,
}
WRITERS: dict[Reader, Callable[..., bytes]] = {
    read_csv: write_csv,
    read_gcode: write_gcode,
    read_cli: write_cli,
    read_segments: write_segments,
    read_events: write_events,
}
MARKERS: dict[Reader, Callable[[bytes, str], bytes]] = {
    read_csv: mark_csv,
    read_gcode: mark_gcode,
    read_cli: mark_layers,
    read_segments: mark_table,
    read_events: mark_nothing,
}


@dataclass(frozen=True, slots=True)
class ScanFile:
    """A file's content under its name; of G-code whose S is not in W, which S is the full power, W."""

    name: str
    content: bytes = field(repr=False)
    s_max: float | None = None
    power_max: float | None = None  # W
    _reader: Reader = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_reader", find_reader(self._source))
        if self.s_max is not None and self._reader is not read_gcode:
            raise BadInput(f"{self.name}: a range of S must be for G-code, but this is none; leave it out.")

    @classmethod
    def open(cls, name: str, s_max: float | None = None, power_max: float | None = None) -> "ScanFile":
        """The file of that name on disk, read once."""
        if not names_file(name):
            raise BadInput(f"what is written again must be a file, but the path is {name!r}; name a file.")
        return cls(name, read_bytes(name), s_max, power_max)

    @classmethod
    def of(cls, path: ScanPath) -> "ScanFile":
        """A path as waypoints with their speeds, as if it had been read from a file."""
        return cls(path.name, tell_path(path).encode())

    def read_layers(self) -> list[Track]:
        """All layers with lit moves, in the order of the file; the first has the notes."""
        layers = self._read()
        for track in layers if self.power_max is not None else []:
            track.check_power(self.name, self.power_max or 0.0)
        return layers

    def _read(self) -> list[Track]:
        if self._reader is read_csv:
            return [read_csv(self._source)]
        with _without_collector():
            scan = SCANNERS[self._reader](self._source, **self._scale)
            first, *others = lay_layers(scan.moves, file=self._source)
        return [first.add_notes(scan.tell()), *others]

    def find_step(self) -> float:
        """The least change of power, W, that the file's own numbers can tell; 0: any."""
        if self._reader is not read_gcode or self.s_max is None or self.power_max is None:
            return 0.0
        return find_step(self._source, self.s_max, self.power_max)

    def write(self, orders: Orders) -> bytes:
        """The content of a file with what is ordered and otherwise as this one."""
        with _without_collector():
            return WRITERS[self._reader](self._source, orders, **self._scale)

    def mark(self, content: bytes, text: str) -> bytes:
        """Content of this format with a comment at its head, or with none, in place of an older mark."""
        return MARKERS[self._reader](content, text)

    @property
    def takes_marks(self) -> bool:
        """Whether a file of this format can say something to people."""
        return MARKERS[self._reader] is not mark_nothing

    @property
    def _source(self) -> NamedContent:
        return NamedContent(self.name, self.content)

    @property
    def _scale(self) -> dict[str, Any]:
        if self._reader in (read_segments, read_events):
            return {"power_max": self.power_max}
        if self._reader is not read_gcode or self.s_max is None:
            return {}
        return {"s_max": self.s_max, "power_max": self.power_max}


@contextmanager
def _without_collector() -> Iterator[None]:
    """Millions of lines make millions of objects, none of them in a cycle: looking for some takes a third."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
