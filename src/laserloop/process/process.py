"""The process: everything a user has, in one noun and one file; and what a plate may really be like."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from importlib.resources import files
from math import exp
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from numpy.polynomial import Polynomial
from scipy.interpolate import PchipInterpolator

from laserloop.bad_input import BadInput, check_kind, guess, is_finite, show
from laserloop.process.keys import (
    DIGITS,
    FORMAT,
    HEAT_RATIO,
    KEYS,
    LARGEST_FILE,
    SECTIONS,
    Key,
    check_keys,
    drop_value,
    find_key,
    get_value,
    load_yaml,
    read_text,
    set_value,
)
from laserloop.process.material import (
    Material,
    Property,
    count_numbers,
    describe_material,
    find_material,
    parse_material,
    shipped_materials,
)

Sampling = Literal["nearest", "bilinear", "smooth"]
"""How an image is read at a point: at the nearest pixel (the paper), bilinearly, or by a C¹ cubic."""
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)
SHIPPED = files("laserloop.process") / "processes"
FACTORS = ("absorptivity", "conductivity", "heat-capacity", "emissivity", "laser-lag")
LAG = "laser-lag-us"  # a lag in µs, which is no factor: for a process that says there is none
LOWEST, HIGHEST = 0.1, 10.0
LONGEST_LAG = 1e5  # µs


@dataclass(frozen=True, slots=True, kw_only=True)
class Beam:
    """A Gaussian, q(x, y) = ηP/(2πσ²) · exp(−r²/2σ²), W/m²."""

    sigma: float = 100e-6  # m, standard deviation of the Gaussian
    absorptivity: float = 1.0  # η, share of the power that becomes heat

    def __post_init__(self) -> None:
        if not (is_finite(self.sigma) and self.sigma > 0):
            raise BadInput(
                f"the beam's sigma must be a positive length in m, got {show(self.sigma)}: correct it"
            )
        if not (is_finite(self.absorptivity) and 0 < self.absorptivity <= 1):
            raise BadInput(f"absorptivity must lie in (0, 1], got {show(self.absorptivity)}: correct it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Laser:
    """Power limits, and a first-order lag: Ṗ = (command − P)/τ."""

    power: tuple[float, float] = (0.0, 20.0)  # W
    lag: float = 0.0  # τ, s; 0 follows at once

    def __post_init__(self) -> None:
        pair = self.power if isinstance(self.power, tuple | list) and len(self.power) == 2 else (1, 0)
        if not (all(is_finite(limit) for limit in pair) and 0 <= pair[0] < pair[1]):
            shown = show(self.power) if not isinstance(self.power, tuple | list) else self.power
            raise BadInput(
                f"the laser's power must be two numbers from 0 W on, low before high, got {shown}: "
                "correct them"
            )
        if not (is_finite(self.lag) and self.lag >= 0):
            raise BadInput(
                f"the laser's lag must be a finite time of at least 0 s, got {show(self.lag)}: correct it"
            )

    def follow(self, power: float, command: float, tick: float) -> tuple[float, float]:
        """What it gives on average during a tick that begins at `power`, and at its end, W."""
        if self.lag == 0.0:
            return command, command
        left = exp(-tick / self.lag)
        mean = command + (power - command) * (1.0 - left) * self.lag / tick
        return mean, command + (power - command) * left


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraSettings:
    """How good the camera is; the default is the paper's: it sees every node, at once and exactly."""

    pixel: float | None = None  # m, edge of a square pixel on the plate; None: the grid's nodes themselves
    noise: float = 0.0  # K, standard deviation in each pixel of each image, whatever the exposure
    exposure: int = 1  # ticks averaged into an image; more blurs a moving beam
    delay: int = 0  # ticks from the end of the exposure until the image is there
    every: int = 1  # ticks from one image to the next
    emissivity: float = 1.0  # true over assumed; temperatures read ε^¼ of what they are
    seed: int = 0  # of the noise
    sampling: Sampling = "nearest"  # how temperatures ahead are read; the paper says no more than "directly"
    heat_ratio: tuple[float, float] = HEAT_RATIO  # of seen to expected: beyond, an image is not of this plate
    subgrid: bool = False  # is the peak found between the pixels, or is it the hottest one (the paper)?

    def __post_init__(self) -> None:
        if self.pixel is not None and not (is_finite(self.pixel) and self.pixel > 0):
            raise BadInput(
                f"a camera's pixel must be a positive length in m or None, got {show(self.pixel)}: correct it"
            )
        if not (is_finite(self.noise) and self.noise >= 0):
            raise BadInput(
                f"a camera's noise must be a finite number ≥ 0 K, got {show(self.noise)}: correct it"
            )
        if not (is_finite(self.emissivity) and self.emissivity > 0):
            raise BadInput(
                f"a camera's emissivity must be a positive number, got {show(self.emissivity)}: correct it"
            )
        check_sampling(self.sampling)
        for name, least in (("exposure", 1), ("delay", 0), ("every", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise BadInput(f"a camera's {name} must be a whole number ≥ {least}, got {value}: correct it")


def check_sampling(sampling: object) -> None:
    """Refuse a sampling that nobody knows."""
    if sampling not in SAMPLINGS:
        raise BadInput(f"a sampling must be one of {', '.join(SAMPLINGS)}, got {sampling!r}: choose one")


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
        object.__setattr__(self, "name", _read_name(self.name, "a process"))
        for name, (kind, cure) in PARTS.items():
            check_kind(getattr(self, name), kind, f"the {name} of a process", cure)
        for entry in KEYS:
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
        content = self.to_json()
        content.pop("name")
        for entry in KEYS:
            if entry.newly is not None and get_value(self, entry) == entry.newly:
                drop_value(content, entry)
        content["material"] = count_numbers(self.material)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """The process whole, as its file has it: units are in the names, the material's numbers inside."""
        content: dict[str, Any] = {
            "laserloop_process": FORMAT,
            "name": self.name,
            "material": describe_material(self.material),
        }
        for entry in KEYS:
            set_value(content, entry, entry.tell(get_value(self, entry)))
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any], *, where: str = "a process") -> "Process":
        """The process of these keys, the rest by default; a key that means nothing is refused."""
        entries = check_keys(content, where)
        changes: dict[str, Any] = {entry.field: entry.read(value, where) for entry, value in entries.items()}
        if "material" in content:
            changes["material"] = _read_inline(content["material"], where)
        if "name" in content:
            changes["name"] = _read_name(content["name"], where)
        return Process()._with(changes)

    def change(self, **values: Any) -> "Process":
        """The same process with some values changed, by the names and units of its file: sigma_um=80."""
        changes = {}
        for key, value in values.items():
            if key == "material":
                changes["material"] = value if isinstance(value, Material) else find_material(value)
            else:
                entry = find_key(key)
                changes[entry.field] = entry.read(value, "the process")
        return self._with(changes)

    def limit_power(self, most: float | None) -> "Process":
        """The same with a laser that gives at most so many W, and its least no more than half of them."""
        return self if most is None else self.change(power_w=(min(self.laser.power[0], most / 2), most))

    def describe_power(self) -> str:
        """What a watt means in files that are planned for this process."""
        share = self.beam.absorptivity
        if share == 1.0:
            return "absorbed power (absorptivity 1)"
        return f"emitted power, of which {100 * share:.3g} % are absorbed"

    def differences(self, other: "Process") -> list[str]:
        """The keys whose values differ."""
        keys = [] if count_numbers(self.material) == count_numbers(other.material) else ["material"]
        return keys + [e.key for e in KEYS if e.tell(get_value(self, e)) != e.tell(get_value(other, e))]

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


def _read_name(name: object, where: str) -> str:
    """The name that people give a process; 304 without quotes is one too."""
    text = show(name) if isinstance(name, int) and not isinstance(name, bool) else name
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if not (0 < len(words) <= 100 and words.isprintable()):
        raise BadInput(
            f"the name of {where} must be 1 to 100 printable characters, but is {show(name)}; correct it."
        )
    return words


def _read_inline(content: object, where: str) -> Material:
    """A material by name, or the whole of it as a mapping."""
    if isinstance(content, str):
        return find_material(content)
    if not isinstance(content, Mapping):
        raise BadInput(
            f"the material of {where} must be the name of a shipped one, a file or its properties, but is "
            f"{show(content)}; choose one."
        )
    return parse_material(content, f"the material of {where}")


def shipped_processes() -> tuple[str, ...]:
    """The names of the processes that come with the package."""
    return tuple(
        sorted(file.name.removesuffix(".yaml") for file in SHIPPED.iterdir() if file.name.endswith(".yaml"))
    )


def find_process(text: str) -> Process:
    """A built-in process by name, or one read from a YAML file by path."""
    check_kind(text, str, "a process", "name a built-in one, such as '316', or a .yaml file")
    if text.lower() in shipped_processes():
        name = text.lower()
        return _parse((SHIPPED / f"{name}.yaml").read_text(encoding="utf-8"), name, Path())
    if Path(text).suffix.lower() in (".yaml", ".yml"):
        return read_process(text)
    known, meant = ", ".join(shipped_processes()), guess(text, shipped_processes())
    raise BadInput(f"a process must be {known} or a .yaml file, but got {text[:80]!r}{meant}; choose one.")


def read_process(file: str | Path) -> Process:
    """Read a process; a material's file is looked for beside it."""
    path = Path(file)
    text = read_text(path, f"the process file {str(file)!r} must be", LARGEST_FILE)
    return _parse(text, path.stem, path.parent)


def _parse(text: str, name: str, folder: Path) -> Process:
    where = f"the process {name}"
    content = load_yaml(text, "a process", where)
    if not isinstance(content, Mapping):
        raise BadInput(
            f"{where} must be lines of name: value, but holds something else; start from a built-in one."
        )
    material = content.get("material")
    if isinstance(material, int) and not isinstance(material, bool):
        material = str(material)  # 304 without quotes
    if isinstance(material, str) and material.lower() not in shipped_materials():
        material = str(folder / material)
    named = {"name": name, **content}
    return Process.from_json(named if material is None else {**named, "material": material}, where=where)


def write_process(process: Process, *, material: str | None = None, folder: Path | None = None) -> str:
    """The text of a process file: every key with its unit, its range and what it does.

    `material` is the name or file to write in place of the whole table. What would be read again as another
    process, a material's file being in `folder`, is refused.
    """
    text = _write(process, material)
    if (material is None or folder is not None) and _parse(text, "", folder or Path()) != process:
        raise BadInput(
            f"a process file must say what it was given, but that of {process.name} would not; write the "
            "numbers into it by hand."
        )
    return text


def _write(process: Process, material: str | None) -> str:
    inside = describe_material(process.material)
    whole = yaml.safe_dump({"material": inside}, sort_keys=False, allow_unicode=True, default_flow_style=None)
    lines = [
        f"laserloop_process: {FORMAT}",
        f"name: {json.dumps(process.name, ensure_ascii=False)}",  # JSON's quotes are YAML's too
        f"# {', '.join(shipped_materials())}, a .yaml or .csv file beside this one, or its properties.",
        whole.strip() if material is None else f"material: {json.dumps(material, ensure_ascii=False)}",
    ]
    section = ""
    for entry in KEYS:
        owner, _, key = entry.key.rpartition(".")
        if owner != section and owner in SECTIONS:
            lines.append(f"{owner}:")
        section = owner
        lines += [f"{'  ' if owner else ''}{line}" for line in _write_entry(process, entry, key)]
    return "\n".join(lines) + "\n"


def _write_entry(process: Process, entry: Key, key: str) -> list[str]:
    value = entry.tell(get_value(process, entry))
    if value is None:
        shown = ""
    elif entry.names:
        shown = f" [{', '.join(f'{part:.{DIGITS}g}' for part in value)}]"
    else:
        shown = f" {value:.{DIGITS}g}"
    return [f"# {entry.text} ({entry.rule})", f"{key}:{shown}"]


def check_factors(factors: Mapping[str, float]) -> None:
    """Refuse a name that means nothing and a factor out of range."""
    for name, factor in factors.items():
        if name == LAG:
            _check_lag(factor, factors)
            continue
        if name not in FACTORS:
            raise BadInput(
                f"a mismatch must be one of {', '.join(FACTORS)} or {LAG}, got "
                f"{name[:40]!r}{guess(name, (*FACTORS, LAG))}: choose one"
            )
        if not LOWEST <= factor <= HIGHEST:
            raise BadInput(
                f"a factor of mismatch must lie between {LOWEST:g} and {HIGHEST:g}, got {factor:g} for "
                f"{name}: 0.9 is 10 % less than the process says"
            )


def _check_lag(lag: float, factors: Mapping[str, float]) -> None:
    if not 0.0 <= lag <= LONGEST_LAG:
        raise BadInput(f"{LAG} of a mismatch must be 0 to {LONGEST_LAG:g} µs, got {lag:g}: correct it")
    if "laser-lag" in factors:
        raise BadInput(f"a lag is a factor or a time, but laser-lag and {LAG} are both given: drop one")


def mismatch(process: Process, factors: Mapping[str, float]) -> Process:
    """The process as it really is; absorptivity and emissivity are not part of it, see `PlantSettings`."""
    check_factors(factors)
    k, cp = factors.get("conductivity", 1.0), factors.get("heat-capacity", 1.0)
    material = scale_material(process.material, k=k, cp=cp)
    lag = process.laser.lag * factors.get("laser-lag", 1.0) if LAG not in factors else 1e-6 * factors[LAG]
    return replace(process, material=material, laser=replace(process.laser, lag=lag))


def scale_material(material: Material, *, k: float, cp: float) -> Material:
    """The same alloy with conductivity and heat capacity multiplied."""
    if k == cp == 1.0:
        return material
    melting = None if material.melting is None else material.melting.scale(k=k, cp=cp)
    return replace(material, k=_scale(material.k, k), cp=_scale(material.cp, cp), melting=melting)


def _scale(curve: Property, factor: float) -> Property:
    if isinstance(curve, Polynomial):
        return curve * factor
    return PchipInterpolator(curve.x, factor * curve(curve.x), extrapolate=False)
