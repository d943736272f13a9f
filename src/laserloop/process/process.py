"""The process: everything a user has, in one noun."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

from laserloop.bad_input import BadInput, check_kind, show
from laserloop.process.beam import Beam
from laserloop.process.camera import CameraSettings
from laserloop.process.laser import Laser
from laserloop.process.material import Material
from laserloop.process.material_file import (
    count_numbers,
    describe_material,
    find_material,
    parse_material,
)
from laserloop.process.schema import (
    ENTRIES,
    FORMAT,
    check_keys,
    drop_value,
    find_entry,
    get_value,
    set_value,
)

PARTS: dict[str, tuple[type, str]] = {  # what each part must be, and how to make one
    "material": (Material, "find one, such as find_material('316')"),
    "beam": (Beam, "make one, such as Beam(sigma=80e-6)"),
    "laser": (Laser, "make one, such as Laser(power=(0.0, 30.0))"),
    "camera": (CameraSettings, "make one, such as CameraSettings(noise=5.0)"),
}


# No slots: cached_property keeps the hash.
@dataclass(frozen=True, kw_only=True, eq=False)
class Process:
    """Material, plate, beam, laser, control period, speed, window and camera; SI units.

    Two processes are equal if their numbers are; names are for people.
    """

    name: str = "paper"
    material: Material = field(default_factory=lambda: find_material("304"))
    plate: tuple[float, float, float] = (15e-3, 10e-3, 2e-3)  # m; the origin is the centre of its surface
    ambient: float = 300.0  # K, at the start, and always at the plate's bottom
    beam: Beam = field(default_factory=Beam)
    laser: Laser = field(default_factory=Laser)
    tick: float = 1.25e-4  # s, during which the power is constant
    speed: float = 0.304  # m/s, where a path does not say its own
    window: tuple[float, float] = (760.0, 800.0)  # K, where T_max is wanted
    camera: CameraSettings = field(default_factory=CameraSettings)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", read_name(self.name, "a process"))
        for name, (kind, cure) in PARTS.items():
            check_kind(getattr(self, name), kind, f"the {name} of a process", cure)
        for entry in ENTRIES:
            entry.check(get_value(self, entry))
        self.material.check_diffusivity(self.ambient)

    def __repr__(self) -> str:
        (low, high), (least, most) = self.window, self.laser.power
        return (
            f"Process({self.name!r}: {self.material.name}, {low:g}–{high:g} K, {least:g}–{most:g} W, "
            f"σ {1e6 * self.beam.sigma:g} µm, {1e3 * self.speed:g} mm/s, ticks of {1e6 * self.tick:g} µs)"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Process) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    @cached_property
    def hash(self) -> str:
        """The first 16 hex digits of the hash of all numbers; names and sources do not count.

        Nor do the melting that ships with an alloy, see `count_numbers`, and keys that came later where they
        say what was so before.
        """
        told = self.to_json()
        told.pop("name")
        for entry in ENTRIES:
            if entry.newly is not None and get_value(self, entry) == entry.newly:
                drop_value(told, entry)
        told["material"] = count_numbers(self.material)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The process whole, as its file has it: units are in the names, the material's numbers inside."""
        told: dict[str, Any] = {
            "laserloop_process": FORMAT,
            "name": self.name,
            "material": describe_material(self.material),
        }
        for entry in ENTRIES:
            set_value(told, entry, entry.tell(get_value(self, entry)))
        return told

    @classmethod
    def from_json(cls, given: Mapping[str, Any], *, where: str = "a process") -> "Process":
        """The process of these keys, the rest by default; a key that means nothing is refused."""
        found = check_keys(given, where)
        changes: dict[str, Any] = {entry.field: entry.read(value, where) for entry, value in found.items()}
        if "material" in given:
            changes["material"] = read_inline(given["material"], where)
        if "name" in given:
            changes["name"] = read_name(given["name"], where)
        return Process()._with(changes)

    def change(self, **values: Any) -> "Process":
        """The same process with some values changed, by the names and units of its file: sigma_um=80."""
        changes = {}
        for key, value in values.items():
            if key == "material":
                changes["material"] = value if isinstance(value, Material) else find_material(value)
            else:
                entry = find_entry(key)
                changes[entry.field] = entry.read(value, "the process")
        return self._with(changes)

    def describe_power(self) -> str:
        """What a watt means in files that are planned for this process."""
        share = self.beam.absorptivity
        if share == 1.0:
            return "absorbed power (absorptivity 1)"
        return f"emitted power, of which {100 * share:.3g} % are absorbed"

    def differences(self, other: "Process") -> list[str]:
        """The keys whose values differ."""
        keys = [] if count_numbers(self.material) == count_numbers(other.material) else ["material"]
        return keys + [e.key for e in ENTRIES if e.tell(get_value(self, e)) != e.tell(get_value(other, e))]

    def _with(self, changes: Mapping[str, Any]) -> "Process":
        """Replace fields by dotted name."""
        parts: dict[str, Any] = {}
        for place, value in changes.items():
            owner, _, name = place.rpartition(".")
            if owner:
                parts.setdefault(owner, {})[name] = value
            else:
                parts[place] = value
        nested = {item.name for item in fields(self) if is_dataclass(getattr(self, item.name))} - {"material"}
        return replace(
            self,
            **{
                name: replace(getattr(self, name), **value)
                if name in nested and isinstance(value, dict)
                else value
                for name, value in parts.items()
            },
        )


def read_name(given: object, where: str) -> str:
    """The name that people give a process; 304 without quotes is one too."""
    text = show(given) if isinstance(given, int) and not isinstance(given, bool) else given
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if not (0 < len(words) <= 100 and words.isprintable()):
        raise BadInput(
            f"the name of {where} must be 1 to 100 printable characters, but is {show(given)}; correct it."
        )
    return words


def read_inline(given: object, where: str) -> Material:
    """A material by name, or the whole of it as a mapping."""
    if isinstance(given, str):
        return find_material(given)
    if not isinstance(given, Mapping):
        raise BadInput(
            f"the material of {where} must be the name of a shipped one, a file or its properties, but is "
            f"{show(given)}; choose one."
        )
    return parse_material(given, f"the material of {where}")
