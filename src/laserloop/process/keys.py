"""The keys of a process file: what each is, its unit, its range, and where it stands in a `Process`.

One table is behind the file, the JSON, the options of the command line and the comments that `init` writes.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import yaml

from laserloop.bad_input import BadInput, guess, show
from laserloop.quantity import Quantity

FORMAT = 1
DIGITS = 12  # that a file keeps of a number, so that units cost no bits on the way there and back
LARGEST_FILE = 1_000_000  # bytes; a material's table of a thousand rows takes 40 kB
HEAT_RATIO = (0.5, 5.0)
MILLI, MICRO = 1e3, 1e6  # in one
PAIR = ("low", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Quantity):
    """What is allowed of a value, and where that stands."""

    key: str  # in a file, with its section before a dot
    field: str  # in a Process, likewise
    per: float = 1.0  # of `unit` in one SI unit; dividing by it keeps 125 µs at 1.25e-4 s exactly
    newly: Any = None  # its value in files from before there was this key; the hash does not count that

    def check(self, value: Any) -> None:
        """Refuse an SI value out of range."""
        try:
            written = self.tell(value)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(
                f"{self.key} of a process must be {self.rule}, in SI units here, but is {show(value)}; "
                "correct it."
            ) from None
        try:
            self.read(written, "a process")
        except BadInput:
            if (meant := self._read_as_written(value)) is None:
                raise
            raise BadInput(
                f"{self.key} of a process must be {self.rule}, but is {_show(written)}; give {meant}, "
                "since a script takes SI units."
            ) from None

    def _read_as_written(self, value: Any) -> str | None:
        """What to give instead, if a script gave the number that a file would have."""
        numbers = [float(part) for part in value] if self.names else [float(value)]
        if self.per == 1.0 or not all(self.low <= number <= self.high for number in numbers):
            return None
        shown = ", ".join(f"{number / self.per:g}" for number in numbers)
        return f"({shown})" if self.names else shown

    def tell(self, value: Any) -> Any:
        """An SI value as a file has it."""
        if value is None:
            return None
        if self.names:
            return [self._round(part) for part in value]
        return int(value) if self.whole else self._round(value)

    def read(self, value: object, where: str) -> Any:
        """The SI value of what a file has."""
        if value is None and self.optional:
            return None
        parts = list(value) if self.names and isinstance(value, list | tuple) else [value]
        numbers = [to_number(part) for part in parts]
        if bool(self.names) != isinstance(value, list | tuple) or not self.allows(numbers):
            raise BadInput(
                f"{self.key} of {where} must be {self.rule}, but is {_show(value)}; "
                f"{self.hint(numbers) or 'correct it'}."
            )
        if self.whole:
            return int(numbers[0])
        scaled = tuple(number / self.per for number in numbers)
        return scaled if self.names else scaled[0]

    def _round(self, value: float) -> float:
        scaled = float(value) * self.per
        return float(f"{scaled:.{DIGITS}g}") + 0.0 if isfinite(scaled) else scaled  # + 0.0: −0 is 0


def _show(value: object) -> str:
    """A short account of what a file has."""
    if not isinstance(value, list | tuple):
        return show(value)
    return f"[{', '.join(show(part) for part in value[:4])}{', …' if len(value) > 4 else ''}]"


def to_number(value: object) -> float:
    """As a float; NaN, which is in no range, if it is none. CSV is text, and PyYAML reads 1e-4 as text."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return float("nan")
    try:
        return float(value)
    except (ValueError, OverflowError):
        return float("nan")


KEYS = (
    Key(
        key="plate_mm", field="plate", low=0.2, high=1000.0, unit="mm", per=MILLI, names=("x", "y", "z"),
        slips=(("m", 1e3, 0.0), ("µm", 1e-3, 0.0)),
        text="Edges of the plate; the origin is the centre of its surface.",
    ),
    Key(
        key="ambient_k", field="ambient", low=200.0, high=5e3, unit="K", slips=(("°C", 1.0, 273.15),),
        text="Temperature at the start, and always at the plate's bottom.",
    ),
    Key(
        key="beam.sigma_um", field="beam.sigma", low=5.0, high=1e4, unit="µm", per=MICRO,
        slips=(("mm", 1e3, 0.0), ("m", 1e6, 0.0)),
        text="Standard deviation of the Gaussian beam (a quarter of its 1/e² diameter); wider is cooler.",
    ),
    Key(
        key="beam.absorptivity", field="beam.absorptivity", low=1e-4, high=1.0, slips=(("%", 0.01, 0.0),),
        text="Share of the power that becomes heat; 1 if powers are absorbed powers.",
    ),
    Key(
        key="laser.power_w", field="laser.power", low=0.0, high=1e4, unit="W", names=PAIR, rising=True,
        text="The least and the most that the laser can give while it is on.",
    ),
    Key(
        key="laser.lag_us", field="laser.lag", low=0.0, high=1e5, unit="µs", per=MICRO,
        text="Time constant with which the laser follows its command; 0 is at once.",
    ),
    Key(
        key="tick_us", field="tick", low=1e-2, high=1e6, unit="µs", per=MICRO, slips=(("s", 1e6, 0.0),),
        text="Control period, during which the power is constant.",
    ),
    Key(
        key="speed_mm_s", field="speed", low=1e-3, high=2e4, unit="mm/s", per=MILLI,
        slips=(("mm/min", 1 / 60, 0.0),),
        text="Scan speed where a path does not give its own; slower is hotter.",
    ),
    Key(
        key="window_k", field="window", low=1.0, high=1e4, unit="K", names=PAIR, rising=True,
        text="Process window of the peak temperature: soft below, hard above.",
    ),
    Key(
        key="camera.pixel_um", field="camera.pixel", low=1.0, high=1e4, unit="µm", per=MICRO, optional=True,
        slips=(("mm", 1e3, 0.0), ("m", 1e6, 0.0)),
        text="Edge of a pixel on the plate; empty: as fine as the simulation's grid.",
    ),
    Key(
        key="camera.noise_k", field="camera.noise", low=0.0, high=1e3, unit="K",
        text="Standard deviation of the noise in each pixel.",
    ),
    Key(
        key="camera.exposure_ticks", field="camera.exposure", low=1, high=1000, unit="ticks", whole=True,
        text="Ticks averaged into an image; more blurs a moving beam.",
    ),
    Key(
        key="camera.delay_ticks", field="camera.delay", low=0, high=1000, unit="ticks", whole=True,
        text="Ticks from the end of the exposure until the image is there.",
    ),
    Key(
        key="camera.every_ticks", field="camera.every", low=1, high=1000, unit="ticks", whole=True,
        text="Ticks from one image to the next.",
    ),
    Key(
        key="camera.heat_ratio", field="camera.heat_ratio", low=0.05, high=20.0, names=PAIR, rising=True,
        newly=HEAT_RATIO,
        text="Least and most of the heat expected that an image may show; the twin's gain stays within.",
    ),
)  # fmt: skip

BY_NAME = {entry.key: entry for entry in KEYS}
SECTIONS = tuple(dict.fromkeys(entry.key.partition(".")[0] for entry in KEYS if "." in entry.key))
OTHERS = ("laserloop_process", "name", "material")


def find_key(name: str) -> Key:
    """The entry with this key, its section left out or not."""
    entries = [entry for entry in KEYS if name in (entry.key, entry.key.rpartition(".")[2])]
    if len(entries) != 1:
        raise BadInput(
            f"a process has the keys {_list_keys()}, but {name[:40]!r} was given"
            f"{guess(name, _name_keys())}; choose one."
        )
    return entries[0]


def check_keys(content: Mapping[str, Any], where: str) -> dict[Key, Any]:
    """The entries that are given, with what was given; a key that means nothing is refused by name."""
    if content.get("laserloop_process", FORMAT) != FORMAT:
        raise BadInput(
            f"{where} must have the format {FORMAT}, but has {_show(content['laserloop_process'])}; "
            "update laserloop or correct laserloop_process."
        )
    flat: dict[str, Any] = {}
    for key, value in content.items():
        if key in SECTIONS:
            if not isinstance(value, Mapping):
                raise BadInput(
                    f"{key} of {where} must be a section of lines, but is {_show(value)}; indent them."
                )
            values = {f"{key}.{name}": part for name, part in value.items()}
        else:
            values = {} if key in OTHERS else {str(key): value}
        if flat.keys() & values.keys():
            raise BadInput(
                f"a key of {where} may come once, but {key} and its section are both there; keep one."
            )
        flat |= values
    for key in flat:
        if key not in BY_NAME:
            raise BadInput(
                f"{where} may have the keys {_list_keys()}, but has {str(key)[:40]!r}"
                f"{guess(key, _name_keys())}; correct or remove it."
            )
    return {BY_NAME[key]: value for key, value in flat.items()}


def get_value(process: Any, entry: Key) -> Any:
    """The SI value of an entry in a process."""
    for name in entry.field.split("."):
        process = getattr(process, name)
    return process


def set_value(content: dict[str, Any], entry: Key, value: Any) -> None:
    """Put a value where a file has it."""
    section, _, name = entry.key.rpartition(".")
    (content.setdefault(section, {}) if section else content)[name] = value


def drop_value(content: dict[str, Any], entry: Key) -> None:
    """Take a value away from where a file has it."""
    section, _, name = entry.key.rpartition(".")
    del (content[section] if section else content)[name]


def _name_keys() -> list[str]:
    """Keys as people write them, with their section and without."""
    return [*OTHERS, *BY_NAME, *(key.rpartition(".")[2] for key in BY_NAME), *SECTIONS]


def _list_keys() -> str:
    return ", ".join((*OTHERS[1:], *BY_NAME))


def read_text(file: str | Path, rule: str, largest: int) -> str:
    """What is in `file`; `rule` begins the sentence that says what it must be."""
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(largest + 1)
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the name
        reason = getattr(problem, "strerror", None) or "not a path"
        raise BadInput(f"{rule} readable, but is not ({reason}); check its name.") from None
    if len(content) > largest:
        raise BadInput(f"{rule} at most {largest} bytes long, but is longer; keep only what is needed.")
    if not content.strip():
        raise BadInput(f"{rule} filled, but is empty; start from one that is shipped.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadInput(f"{rule} UTF-8 text, but byte {problem.start + 1} is not; save it as text.") from None


def load_yaml(text: str, noun: str, where: str) -> object:
    """The content of a YAML text; what is no YAML, an alias or a key that comes twice is refused."""
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except Exception as problem:  # PyYAML leaks KeyError, AttributeError, RecursionError and more
        line = getattr(getattr(problem, "problem_mark", None), "line", None)
        place = where if line is None else f"line {line + 1} of {where}"
        reason = problem.problem if isinstance(problem, _NotPlain) else "cannot be read as such"
        raise BadInput(f"{noun} must be plain YAML, but {place} {reason}; correct it.") from None


class _NotPlain(yaml.MarkedYAMLError):
    """YAML that a program writes, not a person."""


class _PlainLoader(yaml.SafeLoader):
    """Safe YAML without aliases, which a few lines can grow beyond any memory, and without double keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # of PyYAML's stubs
            raise _NotPlain(problem="has an alias", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set[str]()
        for key, _ in node.value:
            if str(key.value) in seen:
                raise _NotPlain(problem=f"has the key {key.value[:40]!r} twice", problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)
