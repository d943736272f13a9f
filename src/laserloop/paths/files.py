"""Scan files: their formats, by the ending of the name or by what is inside; read, and written again."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from os.path import isfile
from pathlib import Path

from laserloop.bad_input import BadInput
from laserloop.paths.move import Moves
from laserloop.paths.path import ScanPath
from laserloop.paths.text import Schedule, Text, decode_text, read_bytes
from laserloop.paths.track import Track, lay_layers, lay_track

FORMATS: dict[str, tuple[str, ...]] = {  # where a format is → the endings that name it
    "tables.EVENTS": (".inp", ".txt"),
    "layer_file.LAYER_FILE": (".cli",),
    "tables.SEGMENTS": (".txt",),
    "waypoints.WAYPOINTS": (".csv",),
    "gcode.GCODE": (".gcode", ".nc", ".ngc", ".tap", ".gco", ".g", ".cnc"),
}
SHAPE = ".stl"
ENDINGS = ".csv, .gcode, .cli, .txt or .inp"
BEGINNING = 100_000  # bytes; who writes longer comments than this names the file properly


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format of scan files: how it is known, read, written again and marked."""

    recognises: "Callable[[str], bool]"  # by the beginning of a file
    read: "Callable[[ScanFile], Moves | Track]"  # a track only where a file is one
    rewrite: "Callable[[ScanFile, Schedule], bytes]"  # with what is wanted, and otherwise as it is
    mark: "Callable[[bytes, str], bytes] | None" = None  # with a comment in place of an older one; none of it
    is_polyline: bool = False  # where it says no speed, light or power
    takes_s_max: bool = False  # are its powers numbers of a range that somebody has to tell?
    find_step: "Callable[[ScanFile], float]" = lambda _: 0.0  # W, least change of power it can say; 0: any


@dataclass(frozen=True, slots=True)
class ScanFile:
    """A file's content under its name; of G-code whose S is not in W, which S is the full power, W."""

    name: str
    content: bytes = field(repr=False)
    s_max: float | None = None
    power_max: float | None = None  # W

    def __post_init__(self) -> None:
        if not self.format.takes_s_max and self.s_max is not None:
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
        from laserloop.paths.waypoints import describe_path

        return cls(path.name, describe_path(path).encode())

    def __str__(self) -> str:
        return self.name

    @property
    def format(self) -> Format:
        """By its ending, else by its content."""
        return find_format(self.name, self.content)

    @property
    def text(self) -> str:
        """The content decoded."""
        return decode_text(self.content, self)

    def split(self) -> Text:
        """The content line by line."""
        return Text(self.content, self)

    def read_layer(self, layer: int | None = None) -> Track:
        """One layer, counted from 1, with all notes; else the first that has lit moves."""
        with _without_collector():
            scan = self.format.read(self)
            if isinstance(scan, Moves):
                return lay_track(scan, file=self.name, layer=layer).add_notes(scan.notes())
        if layer not in (None, 1):
            raise BadInput(f"{self}: the layer of a CSV file must be 1, but is {layer}; leave it out.")
        return scan

    def read_layers(self) -> list[Track]:
        """All layers with lit moves, in the order of the file; the first has the notes."""
        with _without_collector():
            scan = self.format.read(self)
            layers = lay_layers(scan, file=self.name) if isinstance(scan, Moves) else [scan]
            if isinstance(scan, Moves):
                layers[0] = layers[0].add_notes(scan.notes())
        for track in layers if self.power_max is not None else []:
            track.check_power(self.name, self.power_max or 0.0)
        return layers

    def find_step(self) -> float:
        """The least change of power, W, that the file's own numbers can tell; 0: any."""
        return self.format.find_step(self)

    def write(self, schedule: Schedule) -> bytes:
        """The content of a file with what is wanted and otherwise as this one."""
        with _without_collector():
            return self.format.rewrite(self, schedule) if schedule else self.content

    def mark(self, content: bytes, text: str) -> bytes:
        """Content of this format with a comment at its head, or with none, in place of an older mark."""
        mark = self.format.mark
        return content if mark is None else mark(content, text)

    @property
    def takes_marks(self) -> bool:
        """Whether a file of this format can say something to people."""
        return self.format.mark is not None


def names_file(text: str) -> bool:
    """Whether a person who types `text` means a file rather than a built-in path."""
    ending = Path(text).suffix.lower()
    known = ending == SHAPE or any(ending in endings for endings in FORMATS.values())
    return known or (not _is_built_in(text) and isfile(text))


def share_format(one: str, other: str) -> bool:
    """Whether two names may be of one format; one whose ending says nothing goes with any."""
    mine, others = (set(_name_formats(name)) for name in (one, other))
    return not mine or not others or bool(mine & others)


def find_format(name: str, content: bytes) -> Format:
    """The format of a file."""
    if Path(name).suffix.lower() == SHAPE:
        raise BadInput(
            f"{name}: a shape is no path; hatch it with laserloop plan {Path(name).name} --out part.cli, and "
            "take part.cli."
        )
    named = _name_formats(name)
    if len(named) == 1:
        return _import_format(named[0])
    beginning = content[:BEGINNING].removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n").decode("latin-1")
    formats = [_import_format(place) for place in named or FORMATS]
    known = next((each for each in formats if each.recognises(beginning)), formats[-1] if named else None)
    if known is None:
        raise BadInput(
            f"{name}: a path file must be G-code, Common Layer Interface, a segment table, an event series "
            f"or CSV, but is none of these by its content; export it as one, or name it {ENDINGS}."
        )
    return known


def _name_formats(name: str) -> list[str]:
    """The formats that a file's name ends in."""
    ending = Path(name).suffix.lower()
    return [place for place, endings in FORMATS.items() if ending in endings]


def _import_format(place: str) -> Format:
    """Each when it is needed: a path that is built in needs none."""
    file, _, name = place.partition(".")
    found: Format = getattr(import_module(f"laserloop.paths.{file}"), name)
    return found


def _is_built_in(text: str) -> bool:
    """Whether `text` is the name of a shape, or of a random polyline with its seed."""
    return text in ("vertical", "horizontal", "spiral", "diagonal") or text.partition(":")[0] == "polyline"


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
