"""Materials: conductivity, density and heat capacity against temperature, and how an alloy melts.

Between solidus and liquidus the liquid's share rises in proportion to temperature, and with it properties and
latent heat. The melt is at rest and loses nothing: evaporation and flow are not modelled.

T  temperature, K      k  conductivity, W/mK      rho  density, kg/m³      cp  heat capacity, J/kgK
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator

from laserloop.bad_input import BadInput, check_kind, guess, show
from laserloop.process.keys import DIGITS, LARGEST_FILE, load_yaml, read_text, to_number

FloatArray = NDArray[np.float64]
Property = Polynomial | PchipInterpolator

COLUMNS = ("T", "k", "rho", "cp")
LEAST, MOST = 1e-6, 1e9  # in the units above; beyond, the heat balance loses its digits
DIFFUSIVITY = 1e-7, 2e-4  # m²/s, from polymers to silver
SLIPS = (  # a property, what it is multiplied with if it is in the first unit, and where it lies then
    ("rho", 1e3, "g/cm³", "kg/m³", (500.0, 25_000.0)),
    ("cp", 1e3, "J/gK", "J/kgK", (50.0, 5e3)),
    ("k", 1e2, "W/cmK", "W/mK", (0.1, 500.0)),
)
SLACK = 0.5  # K, less is not worth a sentence
CSV_HEADERS = (("T_K", "k_W_mK", "rho_kg_m3", "cp_J_kgK"), COLUMNS, ("T", "k", "ρ", "c_p"))
MOST_COEFFICIENTS = 20
MELTING = {  # key → field, and how many of its SI units
    "solidus_k": ("solidus", 1.0),
    "liquidus_k": ("liquidus", 1.0),
    "latent_heat_kj_kg": ("latent", 1e3),
    "boiling_k": ("boiling", 1.0),
}
LIQUID = {"T_k": "T", "k_w_mk": "k", "rho_kg_m3": "rho", "cp_j_kgk": "cp"}
NARROWEST = 0.01  # K between solidus and liquidus; nearer, and the latent heat has no finite capacity
NOT_MODELLED = "evaporation and flow of the melt are not modelled"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Melting:
    """Two temperatures, a heat between them, and the liquid's properties; held above its last row."""

    source: str  # where the numbers come from
    solidus: float  # K
    liquidus: float  # K
    latent: float  # J/kg
    boiling: float  # K, above which nothing here is true
    T: FloatArray  # K, rising, of the rows below
    k: FloatArray  # W/mK
    rho: FloatArray  # kg/m³
    cp: FloatArray  # J/kgK

    def __post_init__(self) -> None:
        order = (self.solidus, self.liquidus, self.boiling)
        if not (0 < order[0] <= order[1] - NARROWEST and order[1] < order[2] < np.inf):
            raise BadInput(
                "solidus, liquidus and boiling point must rise, the first two by at least "
                f"{NARROWEST:g} K, got {order[0]:g}, {order[1]:g} and {order[2]:g} K: correct them"
            )
        if not (np.isfinite(self.latent) and self.latent > 0):
            raise BadInput(f"the latent heat must be positive, got {self.latent:g} J/kg: correct it")

    def fraction(self, T: ArrayLike) -> FloatArray:
        """The liquid's share, 0 to 1."""
        return np.asarray(np.clip((np.asarray(T) - self.solidus) / (self.liquidus - self.solidus), 0.0, 1.0))

    def carry_on(self, T: FloatArray, at_solidus: FloatArray, name: str) -> FloatArray:
        """A property of the liquid, or in proportion between the solid at the solidus and the liquid."""
        rows = getattr(self, name)
        melt = np.interp(T, self.T, rows)
        first = np.interp(self.liquidus, self.T, rows)
        share = self.fraction(T)
        return np.asarray(np.where(share < 1.0, at_solidus + share * (first - at_solidus), melt))

    def latent_capacity(self, T: ArrayLike) -> FloatArray:
        """What the latent heat adds to the heat capacity, J/kgK."""
        T = np.asarray(T, dtype=np.float64)
        inside = (self.solidus < T) & (self.liquidus > T)
        return np.where(inside, self.latent / (self.liquidus - self.solidus), 0.0)

    def knots(self) -> FloatArray:
        """Temperatures up to the boiling point where a property is not smooth."""
        rows = self.T[(self.liquidus < self.T) & (self.boiling > self.T)]
        return np.array([self.solidus, self.liquidus, *rows, self.boiling])

    def scale(self, *, k: float, cp: float) -> "Melting":
        """The same with conductivity and heat capacity multiplied; the latent heat stays."""
        return replace(self, k=k * self.k, cp=cp * self.cp)

    def numbers(self) -> dict[str, Any]:
        """All of it but the source, as a file has it."""
        liquid = {key: [_round(value) for value in getattr(self, name)] for key, name in LIQUID.items()}
        numbers = {key: _round(getattr(self, name) / unit) for key, (name, unit) in MELTING.items()}
        return numbers | {"liquid": liquid}


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """Three positive properties of T; outside `valid` each is held at its value at the limit.

    With `melting` that ends at the solidus: from there on the melt's properties are used.
    """

    name: str
    source: str  # where the numbers come from
    valid: tuple[float, float]  # K
    k: Property  # W/mK
    rho: Property  # kg/m³
    cp: Property  # J/kgK
    melting: Melting | None = None

    def __post_init__(self) -> None:
        low, high = self.valid
        if not (np.isfinite(low) and np.isfinite(high) and 0 < low < high):
            raise BadInput(
                f"the range of material {self.name} must be two finite rising temperatures above 0 K, "
                f"got {low:g} to {high:g}: correct `valid`"
            )
        if self.melting is not None and self.melting.solidus < high:
            raise BadInput(
                f"material {self.name} must be solid up to the end of its range, {high:g} K, but its solidus "
                f"is {self.melting.solidus:g} K: narrow `valid` or correct solidus_k"
            )
        self._check_curves()
        T = np.union1d(np.linspace(low, high, 2001), self.knots())
        for label, name in (("conductivity", "k"), ("density", "rho"), ("heat capacity", "cp")):
            values = self._held(name, T)
            bad = np.flatnonzero(~((values >= LEAST) & (values <= MOST)))
            if bad.size:
                raise BadInput(
                    f"the {label} of material {self.name} must be positive ({LEAST:g} to {MOST:g}) in "
                    f"{low:g}–{high:g} K, got {values[bad[0]]:g} at {T[bad[0]]:.5g} K: correct the data or "
                    "narrow `valid`"
                )

    def check_diffusivity(self, T: float) -> None:
        """Refuse a k/(ρc) at `T`, K, that no solid has, and name the likely slip."""
        values = {name: float(self._held(name, T)) for name in COLUMNS[1:]}
        alpha = values["k"] / (values["rho"] * values["cp"])
        least, most = DIFFUSIVITY
        if least <= alpha <= most:
            return
        cure = "check the units of k (W/mK), rho (kg/m³) and cp (J/kgK)"
        for name, factor, slip, unit, (low, high) in SLIPS:
            mended = alpha * (factor if name == "k" else 1 / factor)
            if low <= values[name] * factor <= high and least <= mended <= most:
                cure = f"{name} = {values[name]:.4g} looks like {slip}, so give it in {unit}"
                break
        raise BadInput(
            f"the diffusivity k/(ρc) of material {self.name} must lie between {least:g} and {most:g} m²/s, "
            f"got {alpha:.3g} at {T:g} K: {cure}"
        )

    def _check_curves(self) -> None:
        """Refuse what no file can say: curves of several kinds, or through rows at different temperatures."""
        curves = [getattr(self, name) for name in COLUMNS[1:]]
        tables = [curve.x for curve in curves if isinstance(curve, PchipInterpolator)]
        alike = len(tables) == len(curves) and all(np.array_equal(tables[0], T) for T in tables)
        if not (alike or all(isinstance(curve, Polynomial) for curve in curves)):
            kinds = ", ".join(f"{name} {type(getattr(self, name)).__name__}" for name in COLUMNS[1:])
            raise BadInput(
                f"the properties of material {self.name} must be three polynomials, or three tables at the "
                f"same temperatures, got {kinds}: use Material.from_table"
            )

    @classmethod
    def constant(cls, *, k: float, rho: float, cp: float, name: str = "constant") -> Self:
        """The same properties at every temperature."""
        curves: dict[str, Any] = {
            label: Polynomial([_check_number(value, f"{label} of material {name}")])
            for label, value in (("k", k), ("rho", rho), ("cp", cp))
        }
        return cls(name=name, source="Constants given by the user.", valid=(1.0, 1e4), **curves)

    @classmethod
    def from_table(
        cls,
        *,
        T: Sequence[float] | FloatArray,
        k: Sequence[float] | FloatArray,
        rho: Sequence[float] | FloatArray,
        cp: Sequence[float] | FloatArray,
        name: str,
        source: str,
        valid: tuple[float, float] | None = None,
    ) -> Self:
        """Monotone cubic (PCHIP) curves through the rows of a table; `valid` is all of it unless given."""
        where = f"the table of material {name}"
        table = check_table({"T": T, "k": k, "rho": rho, "cp": cp}, where)
        valid = valid or (float(table["T"][0]), float(table["T"][-1]))
        return cls(name=name, source=source, valid=valid, **_interpolate(table, where))

    def conductivity(self, T: ArrayLike) -> FloatArray:
        """k(T), W/mK."""
        return self._held("k", T)

    def density(self, T: ArrayLike) -> FloatArray:
        """ρ(T), kg/m³."""
        return self._held("rho", T)

    def heat_capacity(self, T: ArrayLike) -> FloatArray:
        """c_p(T), J/kgK, without latent heat."""
        return self._held("cp", T)

    def apparent_capacity(self, T: ArrayLike) -> FloatArray:
        """ρ·(c_p + what melting takes), J/m³K."""
        heat = self.density(T) * self.heat_capacity(T)
        return heat if self.melting is None else heat + self.density(T) * self.melting.latent_capacity(T)

    @property
    def last(self) -> float:
        """The temperature above which every property is held, K: the end of the range, or boiling."""
        return self.valid[1] if self.melting is None else self.melting.boiling

    def knots(self) -> FloatArray:
        """Rising temperatures where a solid's property may not be smooth: the limits and a table's rows."""
        low, high = self.valid
        nodes = [curve.x for curve in (self.k, self.rho, self.cp) if isinstance(curve, PchipInterpolator)]
        knots = np.unique(np.concatenate([np.array(self.valid, dtype=np.float64), *nodes]))
        return knots[(low <= knots) & (knots <= high)]

    def outside(self, lowest: float, highest: float) -> str | None:
        """A sentence if temperatures from `lowest` to `highest` leave the range of validity, else None."""
        low, high = self.valid
        above, below = highest - high, low - lowest
        if max(above, below) <= SLACK:
            return None
        T, excess, side = (highest, above, "above") if above >= below else (lowest, below, "below")
        if side == "above" and self.melting is not None and highest > self.melting.solidus:
            return (
                f"temperatures of {T:.5g} K lie {T - self.melting.solidus:.0f} K above the solidus of "
                f"material {self.name} ({self.melting.solidus:g} K): latent heat counts, {NOT_MODELLED}"
            )
        return (
            f"temperatures of {T:.5g} K lie {excess:.0f} K {side} the range of material {self.name} "
            f"({low:g}–{high:g} K): its properties are held at the limit"
        )

    def _held(self, name: str, T: ArrayLike) -> FloatArray:
        curve, T = getattr(self, name), np.asarray(T, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            solid = np.asarray(curve(np.clip(T, *self.valid)), dtype=np.float64)
        if self.melting is None or not np.any(self.melting.solidus < T):
            return solid
        return np.where(self.melting.solidus < T, self.melting.carry_on(T, solid, name), solid)


def _interpolate(table: Mapping[str, FloatArray], where: str) -> dict[str, Any]:
    try:
        with np.errstate(all="ignore"):  # absurd values overflow here, and are refused now or by Material
            return {
                name: PchipInterpolator(table["T"], table[name], extrapolate=False) for name in COLUMNS[1:]
            }
    except ValueError as error:
        raise BadInput(f"{where} must change at finite rates, got an overflow: spread its rows") from error


def check_table(
    columns: Mapping[str, object], where: str, rows: Sequence[str] | None = None, *, least: int = 2
) -> dict[str, FloatArray]:
    """The columns as arrays, if they are equally long, positive, and T rises; `rows` names the rows."""
    lists = {name: _check_list(values, f"{name} of {where}") for name, values in columns.items()}
    lengths = [len(values) for values in lists.values()]
    if min(lengths) != max(lengths) or lengths[0] < least:
        few = "two rows" if least > 1 else "one row"
        raise BadInput(
            f"{where} must have at least {few} in columns of equal length, "
            f"got {', '.join(map(str, lengths))} values of {', '.join(lists)}: complete the table"
        )
    places = [f"{row} of {where}" for row in rows or [f"row {i + 1}" for i in range(lengths[0])]]
    table: dict[str, FloatArray] = {}
    for name, values in lists.items():
        numbers = [
            _check_number(value, f"{name} in {place}") for value, place in zip(values, places, strict=True)
        ]
        for number, place in zip(numbers, places, strict=True):
            if number <= 0:
                raise BadInput(f"{name} must be positive, got {number:g} in {place}: correct it")
        table[name] = np.array(numbers)
    T = table["T"]
    for i in np.flatnonzero(np.diff(T) <= 0):
        raise BadInput(
            f"T must rise from row to row, got {T[i + 1]:g} after {T[i]:g} in {places[i + 1]}: sort the rows"
        )
    return table


def _check_list(value: object, where: str) -> list[object]:
    """The values one by one, if they are a list, a tuple or a column."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return list(value)
    raise BadInput(f"{where} must be a list of numbers, got {show(value)}: write [1.0, 2.0, …]")


def _check_number(value: object, where: str) -> float:
    """The value as a finite float."""
    number = to_number(value)
    if not np.isfinite(number):
        raise BadInput(f"{where} must be a finite number, got {show(value)}: correct it")
    return number


@cache
def shipped_materials() -> tuple[str, ...]:
    """The names of the materials that come with the package."""
    names = [file.name for file in (files("laserloop.process") / "alloys").iterdir()]
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def find_material(text: str) -> Material:
    """A shipped material by name, or one read from a CSV or YAML file by path."""
    name = check_kind(text, str, "a material", "name a shipped one, such as '316', or a file").lower()
    if name in shipped_materials():
        return _read_shipped(name)
    if name.endswith((".csv", ".yaml", ".yml")):
        return read_material(text)
    known, meant = ", ".join(shipped_materials()), guess(text, shipped_materials())
    raise BadInput(f"a material must be {known} or a .csv or .yaml file, got {show(text)}{meant}: choose one")


def name_shipped(material: Material) -> str | None:
    """The name by which exactly this material ships, if it does."""
    name = material.name.lower()
    ships = name in shipped_materials()
    return name if ships and describe_material(find_material(name)) == describe_material(material) else None


@cache
def _read_shipped(name: str) -> Material:
    """Read once: every process that says nothing of its material asks for one."""
    file = files("laserloop.process") / "alloys" / f"{name}.yaml"
    return _parse_yaml(file.read_text(encoding="utf-8"), file.name)


def _parse_yaml(text: str, where: str) -> Material:
    return parse_material(load_yaml(text, "a material", where), where)


def read_material(file: str | Path) -> Material:
    """Read a material from a CSV table or from YAML with a `table` or a `polynomial`."""
    path = Path(file)
    parse = {".csv": _parse_csv, ".yaml": _parse_yaml, ".yml": _parse_yaml}.get(path.suffix.lower())
    if parse is None:
        raise BadInput(f"a material file must end in .csv, .yaml or .yml, got {show(path.name)}: rename it")
    return parse(read_text(path, f"the material file {show(path.name)} must be", LARGEST_FILE), path.name)


def _parse_csv(text: str, where: str) -> Material:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = [(f"line {reader.line_num}", row) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        place = f"line {reader.line_num} of {where}"
        raise BadInput(f"a material must be plain CSV, but {place} is not ({error}): correct it") from error
    (place, header), *rows = lines or [("line 1", [])]
    if tuple(map(str.strip, header)) not in CSV_HEADERS:
        raise BadInput(
            f"a material table must begin with the header {','.join(CSV_HEADERS[0])}, "
            f"got {show(','.join(header))} in {place} of {where}: add the header"
        )
    for place, row in rows:
        if len(row) != len(COLUMNS):
            raise BadInput(f"a row must have 4 values, got {len(row)} in {place} of {where}: correct it")
    columns = {name: [row[i] for _, row in rows] for i, name in enumerate(COLUMNS)}
    table = check_table(columns, where, [place for place, _ in rows])
    return Material.from_table(**table, name=Path(where).stem, source=f"Table in {where}.", valid=None)


def describe_material(material: Material) -> dict[str, Any]:
    """A material whole, as a file of it would hold it."""
    page: dict[str, Any] = {"name": material.name, "source": material.source, "valid": list(material.valid)}
    if material.melting is not None:
        page["melting"] = {"source": material.melting.source, **material.melting.numbers()}
    curves = {label: getattr(material, label) for label in COLUMNS[1:]}
    if all(isinstance(curve, Polynomial) for curve in curves.values()):
        return page | {"polynomial": {label: _in_kelvin(curve) for label, curve in curves.items()}}
    T = curves["k"].x.tolist()
    rows = {label: [_round(value) for value in curve(T)] for label, curve in curves.items()}
    return page | {"table": {"T": T, **rows}}


def _in_kelvin(curve: Polynomial) -> list[float]:
    """Coefficients of 1, T, T², …; a fit has those of a scaled T."""
    scaled = not np.array_equal(curve.domain, curve.window)
    coefficients: list[float] = (curve.convert() if scaled else curve).coef.tolist()
    return coefficients


def count_numbers(material: Material) -> dict[str, Any]:
    """The numbers by which materials are told apart: all, but the melting that ships with an alloy.

    Files written before alloys had a melting point, trained models among them, so name the same material.
    """
    solid = describe_material(replace(material, name="", source="", melting=None))
    melting = None if material.melting is None else material.melting.numbers()
    table = {key: value for key, value in solid.items() if key not in ("name", "source")}
    return table if melting is None or (solid, melting) in _ship_melting() else table | {"melting": melting}


@cache
def _ship_melting() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The shipped alloys that melt: what they are as solids, and how they melt."""
    alloys = [find_material(name) for name in shipped_materials()]
    return [
        (describe_material(replace(alloy, name="", source="", melting=None)), alloy.melting.numbers())
        for alloy in alloys
        if alloy.melting is not None
    ]


def parse_material(data: object, where: str) -> Material:
    """The material that a mapping describes: name, source, valid, a `table` or a `polynomial`, melting."""
    data = _check_keys(data, where, needs=("name", "source"), either=("table", "polynomial"))
    name, source = data["name"], data["source"]
    if not (isinstance(name, str) and isinstance(source, str)):
        got = f"{show(name)} and {show(source)}"
        raise BadInput(f"name and source of {where} must be text, got {got}: put them in quotes")
    melting = _parse_melting(data["melting"], where) if "melting" in data else None
    return replace(_parse_solid(data, name, source, where), melting=melting)


def _parse_solid(data: Mapping[str, object], name: str, source: str, where: str) -> Material:
    if "table" in data:
        table = check_table(_check_keys(data["table"], f"`table` of {where}", needs=COLUMNS), where)
        valid = _check_valid(data["valid"], where) if "valid" in data else None
        return Material.from_table(**table, name=name, source=source, valid=valid)
    block = _check_keys(data["polynomial"], f"`polynomial` of {where}", needs=COLUMNS[1:])
    curves: dict[str, Any] = {
        label: _check_polynomial(block[label], f"{label} of {where}") for label in COLUMNS[1:]
    }
    return Material(name=name, source=source, valid=_check_valid(data.get("valid"), where), **curves)


def _parse_melting(data: object, where: str) -> Melting:
    place = f"`melting` of {where}"
    data = _check_keys(data, place, needs=("source", *MELTING, "liquid"))
    if not isinstance(data["source"], str):
        raise BadInput(f"source of {place} must be text, got {show(data['source'])}: put it in quotes")
    numbers: dict[str, Any] = {
        name: unit * _check_number(data[key], f"{key} of {place}") for key, (name, unit) in MELTING.items()
    }
    rows = _check_keys(data["liquid"], f"`liquid` of {place}", needs=tuple(LIQUID))
    numbers |= check_table({LIQUID[key]: rows[key] for key in LIQUID}, f"`liquid` of {place}", least=1)
    return Melting(source=data["source"], **numbers)


def _check_valid(value: object, where: str) -> tuple[float, float]:
    if not (isinstance(value, list) and len(value) == 2):
        raise BadInput(f"`valid` of {where} must be [low, high] in K, got {show(value)}: give both limits")
    low, high = (_check_number(limit, f"`valid` of {where}") for limit in value)
    return low, high


def _check_keys(
    data: object, where: str, *, needs: tuple[str, ...], either: tuple[str, ...] = ()
) -> Mapping[str, object]:
    """The mapping itself, if it has every key it needs, one of `either`, and no unknown one."""
    if not isinstance(data, dict):
        raise BadInput(f"{where} must be a mapping, got {show(data)}: start from a shipped file")
    known = (*needs, *either, "valid", "melting") if either else needs
    for key in data:
        if key not in known:
            raise BadInput(f"{where} must have no keys but {', '.join(known)}, got {show(key)}: remove it")
    for key in needs:
        if key not in data:
            raise BadInput(f"{where} must have the keys {', '.join(needs)}, but {key} is missing: add it")
    if either and sum(key in data for key in either) != 1:
        raise BadInput(f"{where} must have exactly one of {', '.join(either)}, not none or both: keep one")
    return data


def _check_polynomial(value: object, where: str) -> Property:
    values = _check_list(value, where)
    if not 1 <= len(values) <= MOST_COEFFICIENTS:
        raise BadInput(
            f"a polynomial must have 1 to {MOST_COEFFICIENTS} coefficients, "
            f"got {len(values)} for {where}: give those of 1, T, T², …"
        )
    return Polynomial([_check_number(v, f"coefficient {i + 1} of {where}") for i, v in enumerate(values)])
