"""Material: conductivity, density and heat capacity against temperature, by polynomial or by table.

T  temperature, K      k  conductivity, W/mK      rho  density, kg/m³      cp  heat capacity, J/kgK
"""

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from numbers import Real
from pathlib import Path
from typing import Self

import numpy as np
import yaml
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator

from laserloop.bad_input import BadInput

FloatArray = NDArray[np.float64]
Property = Polynomial | PchipInterpolator

COLUMNS = ("T", "k", "rho", "cp")
CSV_HEADERS = (("T_K", "k_W_mK", "rho_kg_m3", "cp_J_kgK"), COLUMNS, ("T", "k", "ρ", "c_p"))
LARGEST_FILE = 1_000_000  # bytes; a thousand rows take 40 kB
MOST_COEFFICIENTS = 20
SLACK = 0.01  # K, a solver's noise around a limit is not worth a sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """Three positive properties of T; outside `valid` each is held at its value at the limit."""

    name: str
    source: str  # where the numbers come from
    valid: tuple[float, float]  # K
    k: Property  # W/mK
    rho: Property  # kg/m³
    cp: Property  # J/kgK

    def __post_init__(self) -> None:
        low, high = self.valid
        if not (np.isfinite(low) and np.isfinite(high) and 0 < low < high):
            raise BadInput(
                f"the range of material {self.name} must be two finite rising temperatures above 0 K, "
                f"got {low:g} to {high:g}: correct `valid`"
            )
        T = np.union1d(np.linspace(low, high, 2001), self.knots())
        for label, curve in (("conductivity", self.k), ("density", self.rho), ("heat capacity", self.cp)):
            values = self._held(curve, T)
            bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
            if bad.size:
                raise BadInput(
                    f"the {label} of material {self.name} must be finite and positive in {low:g}–{high:g} K, "
                    f"got {values[bad[0]]:g} at {T[bad[0]]:.5g} K: correct the data or narrow `valid`"
                )

    @classmethod
    def constant(cls, *, k: float, rho: float, cp: float, name: str = "constant") -> Self:
        """The same properties at every temperature."""
        curves = {
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
    ) -> Self:
        """Monotone cubic (PCHIP) curves through the rows of a table; valid from its first to its last row."""
        where = f"the table of material {name}"
        table = _check_table({"T": T, "k": k, "rho": rho, "cp": cp}, where)
        valid = (float(table["T"][0]), float(table["T"][-1]))
        return cls(name=name, source=source, valid=valid, **_interpolate(table, where))

    def conductivity(self, T: ArrayLike) -> FloatArray:
        """k(T), W/mK."""
        return self._held(self.k, T)

    def density(self, T: ArrayLike) -> FloatArray:
        """ρ(T), kg/m³."""
        return self._held(self.rho, T)

    def heat_capacity(self, T: ArrayLike) -> FloatArray:
        """c_p(T), J/kgK."""
        return self._held(self.cp, T)

    def knots(self) -> FloatArray:
        """Rising temperatures where a property may not be smooth: the limits and the rows of a table."""
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
        return (
            f"temperatures of {T:.5g} K lie {excess:.3g} K {side} the range of material {self.name} "
            f"({low:g}–{high:g} K): its properties are held at the limit"
        )

    def _held(self, curve: Property, T: ArrayLike) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(curve(np.clip(np.asarray(T, dtype=np.float64), *self.valid)), dtype=np.float64)


def shipped_materials() -> tuple[str, ...]:
    """The names of the materials that come with the package."""
    names = [file.name for file in (files("laserloop.plant") / "alloys").iterdir()]
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def find_material(text: str) -> Material:
    """A shipped material by name, or one read from a CSV or YAML file by path."""
    name = text.lower()
    if name in shipped_materials():
        file = files("laserloop.plant") / "alloys" / f"{name}.yaml"
        return _parse_yaml(file.read_text(encoding="utf-8"), file.name)
    if name.endswith((".csv", ".yaml", ".yml")):
        return read_material(text)
    known = ", ".join(shipped_materials())
    raise BadInput(
        f"a material must be one of {known} or a .csv or .yaml file, got {_show(text)}: choose one"
    )


def read_material(file: str | Path) -> Material:
    """Read a material from a CSV table or from YAML with a `table` or a `polynomial`."""
    path = Path(file)
    parse = {".csv": _parse_csv, ".yaml": _parse_yaml, ".yml": _parse_yaml}.get(path.suffix.lower())
    if parse is None:
        raise BadInput(f"a material file must end in .csv, .yaml or .yml, got {_show(path.name)}: rename it")
    return parse(_read_text(path), path.name)


def _read_text(path: Path) -> str:
    rule = f"the material file {_show(path.name)} must be"
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise BadInput(f"{rule} readable, got {reason!r}: check the path") from error
    if not content.strip() or len(content) > LARGEST_FILE:
        size = "more" if content.strip() else "an empty one"
        raise BadInput(
            f"{rule} filled with at most {LARGEST_FILE} bytes, got {size}: start from a shipped file"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{rule} UTF-8 text, but byte {error.start + 1} is not: save it as text") from error


def _parse_csv(text: str, where: str) -> Material:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = [(f"line {reader.line_num}", row) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        place = f"line {reader.line_num} of {where}"
        raise BadInput(
            f"a material table must be plain CSV, but {place} is not ({error}): correct it"
        ) from error
    (place, header), *rows = lines or [("line 1", [])]
    if tuple(map(str.strip, header)) not in CSV_HEADERS:
        raise BadInput(
            f"a material table must begin with the header {','.join(CSV_HEADERS[0])}, "
            f"got {_show(','.join(header))} in {place} of {where}: add the header"
        )
    for place, row in rows:
        if len(row) != len(COLUMNS):
            raise BadInput(f"a row must have 4 values, got {len(row)} in {place} of {where}: correct it")
    columns = {name: [row[i] for _, row in rows] for i, name in enumerate(COLUMNS)}
    table = _check_table(columns, where, [place for place, _ in rows])
    return Material.from_table(**table, name=Path(where).stem, source=f"Table in {where}.")


def _parse_yaml(text: str, where: str) -> Material:
    data = _check_keys(
        _load_yaml(text, where), where, needs=("name", "source"), either=("table", "polynomial")
    )
    if "table" in data:
        table = _check_table(_check_keys(data["table"], f"`table` of {where}", needs=COLUMNS), where)
        curves, valid = _interpolate(table, where), data.get("valid", [table["T"][0], table["T"][-1]])
    else:
        block = _check_keys(data["polynomial"], f"`polynomial` of {where}", needs=COLUMNS[1:])
        curves = {name: _check_polynomial(block[name], f"{name} of {where}") for name in COLUMNS[1:]}
        valid = data.get("valid")
    if not (isinstance(valid, list) and len(valid) == 2):
        raise BadInput(f"`valid` of {where} must be [low, high] in K, got {_show(valid)}: give both limits")
    low, high = (_check_number(value, f"`valid` of {where}") for value in valid)
    for key in ("name", "source"):
        if isinstance(data[key], bool) or not isinstance(data[key], str | int):
            raise BadInput(f"`{key}` of {where} must be text, got {_show(data[key])}: put it in quotes")
    return Material(name=str(data["name"]), source=str(data["source"]), valid=(low, high), **curves)


def _load_yaml(text: str, where: str) -> object:
    try:
        return yaml.safe_load(text)
    except (
        Exception
    ) as error:  # PyYAML leaks KeyError, AttributeError, RecursionError and more on hostile text
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = where if line is None else f"line {line + 1} of {where}"
        raise BadInput(
            f"a material file must be plain YAML, but {place} cannot be read: correct it"
        ) from error


def _check_keys(
    data: object, where: str, *, needs: tuple[str, ...], either: tuple[str, ...] = ()
) -> Mapping[str, object]:
    """The mapping itself, if it has every key it needs, one of `either`, and no unknown one."""
    if not isinstance(data, dict):
        raise BadInput(f"{where} must be a mapping, got {_show(data)}: start from a shipped file")
    known = (*needs, *either, "valid") if either else needs
    for key in data:
        if key not in known:
            raise BadInput(f"{where} must have no keys but {', '.join(known)}, got {_show(key)}: remove it")
    for key in needs:
        if key not in data:
            raise BadInput(f"{where} must have the keys {', '.join(needs)}, but {key} is missing: add it")
    if either and sum(key in data for key in either) != 1:
        raise BadInput(f"{where} must have exactly one of {', '.join(either)}, not none or both: keep one")
    return data


def _check_table(
    columns: Mapping[str, object], where: str, rows: Sequence[str] | None = None
) -> dict[str, FloatArray]:
    """The columns as arrays, if they are equally long, positive, and T rises; `rows` names the rows."""
    lists = {name: _check_list(values, f"{name} of {where}") for name, values in columns.items()}
    lengths = [len(values) for values in lists.values()]
    if min(lengths) != max(lengths) or lengths[0] < 2:
        raise BadInput(
            f"{where} must have at least two rows in columns of equal length, "
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


def _interpolate(table: Mapping[str, FloatArray], where: str) -> dict[str, Property]:
    try:
        with np.errstate(all="ignore"):  # absurd values overflow here, and are refused now or by Material
            return {
                name: PchipInterpolator(table["T"], table[name], extrapolate=False) for name in COLUMNS[1:]
            }
    except ValueError as error:
        raise BadInput(f"{where} must change at finite rates, got an overflow: spread its rows") from error


def _check_polynomial(value: object, where: str) -> Property:
    values = _check_list(value, where)
    if not 1 <= len(values) <= MOST_COEFFICIENTS:
        raise BadInput(
            f"a polynomial must have 1 to {MOST_COEFFICIENTS} coefficients, "
            f"got {len(values)} for {where}: give those of 1, T, T², …"
        )
    return Polynomial([_check_number(v, f"coefficient {i + 1} of {where}") for i, v in enumerate(values)])


def _check_list(value: object, where: str) -> list[object]:
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return list(value)
    raise BadInput(f"{where} must be a list of numbers, got {_show(value)}: write [1.0, 2.0, …]")


def _check_number(value: object, where: str) -> float:
    """The value as a finite float; text counts, since CSV is text and PyYAML reads 1e-4 as text."""
    number = np.nan
    if not isinstance(value, bool) and isinstance(value, Real | str):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not np.isfinite(number):
        raise BadInput(f"{where} must be a finite number, got {_show(value)}: correct it")
    return number


def _show(value: object) -> str:
    """A short account of any value: the repr of a hostile one may be endless."""
    if value is None:
        return "nothing"
    if isinstance(value, str | float) or (isinstance(value, int) and abs(value) < 1e18):
        return repr(value)[:60]
    return f"a {type(value).__name__}"
