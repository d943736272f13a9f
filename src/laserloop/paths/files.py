"""Scan files and their formats, read and written again; and paths by what a person types."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from laserloop.bad_input import BadInput, check_kind, guess
from laserloop.paths.path import (
    DEFAULT_PLATE,
    DEFAULT_SPEED,
    DEFAULT_TICK,
    ScanPath,
    check_ticks,
    first_off_plate,
    off_plate,
)
from laserloop.paths.text import Schedule, Text, decode_text, guess_file, read_bytes
from laserloop.paths.track import (
    DEFAULT_JUMP_SPEED,
    Moves,
    Track,
    hop_length,
    join_moves,
    sample_polyline,
    sample_track,
    split_layers,
)

if TYPE_CHECKING:
    from laserloop.process import Process

FORMATS: dict[str, tuple[str, ...]] = {  # where a format is → the endings that name it
    "tables.EVENTS": (".inp", ".txt"),
    "layer_file.LAYER_FILE": (".cli",),
    "tables.SEGMENTS": (".txt",),
    "waypoints.WAYPOINTS": (".csv",),
    "gcode.GCODE": (".gcode", ".nc", ".ngc", ".tap", ".gco", ".g", ".cnc"),
}
SHAPE = ".stl"
ENDINGS = ".csv, .gcode, .cli, .txt or .inp"
DEFAULT_TICKS = 400  # of a built-in path
MAX_SEED = 2**32 - 1
SHAPES = ("vertical", "horizontal", "spiral", "diagonal")
NOWHERE = (0.0, 0.0)  # m; no offset
FASTEST = 1.5  # times the usual speed, of a family whose speed changes
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
        return _find_format(self.name, self.content)

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
                return join_moves(scan, file=self.name, layer=layer).add_notes(scan.notes())
        if layer not in (None, 1):
            raise BadInput(f"{self}: the layer of a CSV file must be 1, but is {layer}; leave it out.")
        return scan

    def read_layers(self) -> list[Track]:
        """All layers with lit moves, in the order of the file; the first has the notes."""
        with _without_collector():
            scan = self.format.read(self)
            layers = split_layers(scan, file=self.name) if isinstance(scan, Moves) else [scan]
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


def _find_format(name: str, content: bytes) -> Format:
    """The format of a file."""
    if Path(name).suffix.lower() == SHAPE:
        raise BadInput(
            f"{name}: a shape is no path and is not hatched here; hatch it with PySLM as "
            "examples/hatch_stl.py does, and take the .cli that it writes."
        )
    named = _name_formats(name)
    if len(named) == 1:
        return _import_format(named[0])
    beginning = content[:BEGINNING].removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n").decode("latin-1")
    formats = [_import_format(place) for place in named or FORMATS]
    known = next((each for each in formats if each.recognises(beginning)), formats[-1] if named else None)
    if known is None or (not named and "\0" in beginning):
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
    known: Format = getattr(import_module(f"laserloop.paths.{file}"), name)
    return known


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Which layer of a file is meant, where it lies on the plate, and what the file does not say."""

    layer: int | None = None  # from 1; None: the first, or all where all are meant
    offset: tuple[float, float] = NOWHERE  # m, added to its coordinates
    centre: bool = False  # the bounding box of its lit part on the plate's centre instead
    jump_speed: float = DEFAULT_JUMP_SPEED  # m/s, of dark moves to which the file gives none
    s_max: float | None = None  # S of G-code that is the laser's full power; None: S is in W

    def move(self, track: Track) -> Track:
        """A track where it is meant to lie."""
        if self.centre and self.offset != NOWHERE:
            raise BadInput(
                f"a path must be centred or moved, but both were asked for, by {self.offset} m; choose one."
            )
        return track.centre() if self.centre else track.shift(self.offset)


def find_path(
    text: str,
    process: "Process | None" = None,
    *,
    ticks: int | None = None,
    speed: float | None = None,
    placement: Placement | None = None,
) -> ScanPath:
    """The path that `text` names: vertical, horizontal, spiral, diagonal, FAMILY:SEED or a file.

    Built-in paths last 400 ticks unless told otherwise; a file is followed to its end. A file is G-code
    (.gcode, .nc, .ngc, .tap, .gco, .g, .cnc), Common Layer Interface (.cli), a segment table (.txt), an event
    series (.inp) or waypoints (.csv); with any other ending it is known by its content.

    The process gives the tick, the plate, the speed where a file says none, and the full power of the laser,
    of which tables may give shares; without one they are 125 µs, 15 × 10 mm, 304 mm/s and not known. `speed`
    (m/s) is for lit moves, whatever the file says.
    """
    check_kind(text, str, "a path", "name a built-in one, such as 'diagonal', or a file")
    if ticks is not None:
        check_ticks(ticks)
    usual, tick, plate, full = DEFAULT_SPEED, DEFAULT_TICK, DEFAULT_PLATE, None
    if process is not None:
        usual, tick, plate, full = process.speed, process.tick, process.plate[:2], process.laser.power[1]
    where = placement or Placement()
    if not names_file(text):
        if where != Placement(jump_speed=where.jump_speed):
            raise BadInput(
                "a layer, an offset, a centring or a range of S must be for a file, but the path is "
                f"{text!r}; leave them out or name a file."
            )
        path = _find_built_in(text, ticks or DEFAULT_TICKS, usual if speed is None else speed, tick, where)
        off = first_off_plate(path.positions, plate)
        if off is not None:
            raise off_plate(f"the path {text}, tick {off}", path.positions[off], plate)
        return path
    file = ScanFile.open(text, where.s_max, full)
    track = where.move(file.read_layer(where.layer))
    track.check(text, plate)
    if full is not None:
        track.check_power(text, full)
    if file.format.is_polyline and track.is_plain:
        own = usual if speed is None else speed
        return sample_polyline(track.points, name=text, speed=own, tick=tick, ticks=ticks)
    path = sample_track(
        track,
        name=text,
        speed=speed,
        default_speed=usual,
        jump_speed=where.jump_speed,
        tick=tick,
        ticks=ticks,
    )
    return keep_on_plate(path, plate)


def keep_on_plate(path: ScanPath, plate: tuple[float, float]) -> ScanPath:
    """The same path with the ends of ticks with light on the plate, which a jump within one may have left."""
    light = path.lit_shares > 0
    ends = np.append(light, False) | np.append(False, light)
    half = np.array(plate) / 2
    clipped = np.where(ends[:, np.newaxis], np.clip(path.positions, -half, half), path.positions)
    return path if first_off_plate(path.positions[ends], plate) is None else replace(path, positions=clipped)


def _is_built_in(text: str) -> bool:
    """Whether `text` is the name of a shape, or of a random polyline with its seed."""
    return text in SHAPES or text.partition(":")[0] == "polyline"


def _find_built_in(text: str, ticks: int, speed: float, tick: float, where: Placement) -> ScanPath:
    from laserloop.paths.shapes import FAMILIES, draw_family

    length = (ticks + 1) * hop_length(speed, tick)
    family, colon, seed = text.partition(":")
    if not colon or family not in FAMILIES or family == "polyline":
        return sample_polyline(_trace(text, length), name=text, speed=speed, tick=tick, ticks=ticks)
    track = join_moves(draw_family(family, _parse_seed(seed, text), FASTEST * length, speed), file=text)
    return sample_track(
        track, name=text, default_speed=speed, jump_speed=where.jump_speed, tick=tick, ticks=ticks
    )


def _trace(text: str, length: float) -> NDArray[np.float64]:
    """Waypoints of a shape or of a random polyline."""
    from laserloop.paths import shapes

    if text in SHAPES:
        traced: NDArray[np.float64] = getattr(shapes, f"trace_{text}")(length)
        return traced
    family, _, seed = text.partition(":")
    if family == "polyline":
        return shapes.draw_polyline(np.random.default_rng(_parse_seed(seed, text)), length=length)
    if Path(text).suffix:
        raise BadInput(
            f"a path file must exist, and end in {ENDINGS} or look like one of these, but {text!r} is no "
            f"file{guess_file(text)}; check its name and folder."
        )
    raise BadInput(
        "a path must be one of vertical, horizontal, spiral, diagonal, FAMILY:SEED (of the families "
        f"{', '.join(shapes.FAMILIES)}) or a file that ends in {ENDINGS}, but got {text!r}"
        f"{guess(family, (*SHAPES, *shapes.FAMILIES)) or guess_file(text)}; choose one of these."
    )


def _parse_seed(seed: str, text: str) -> int:
    if seed.isascii() and seed.isdigit() and len(seed) <= len(str(MAX_SEED)) and int(seed) <= MAX_SEED:
        return int(seed)
    raise BadInput(
        f"a family needs a whole seed from 0 to {MAX_SEED}, but got {text!r}; write for example polyline:7."
    )
