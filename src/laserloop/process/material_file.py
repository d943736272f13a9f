"""Material files: find a shipped alloy by name, or read a material from CSV or YAML."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from laserloop.bad_input import BadInput, check_kind, guess, show
from laserloop.process.material import (
    COLUMNS,
    Material,
    Property,
    check_list,
    check_number,
    check_table,
)
from laserloop.process.melting import Melting
from laserloop.process.yaml_file import load_yaml, read_text

CSV_HEADERS = (("T_K", "k_W_mK", "rho_kg_m3", "cp_J_kgK"), COLUMNS, ("T", "k", "ρ", "c_p"))
LARGEST_FILE = 1_000_000  # bytes; a thousand rows take 40 kB
MOST_COEFFICIENTS = 20
MELTING = ("source", "solidus_k", "liquidus_k", "latent_heat_kj_kg", "boiling_k", "liquid")
LIQUID = {"T_k": "T", "k_w_mk": "k", "rho_kg_m3": "rho", "cp_j_kgk": "cp"}
DIGITS = 12  # of a table; a curve misses its own rows by rounding


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
    told: dict[str, Any] = {"name": material.name, "source": material.source, "valid": list(material.valid)}
    if material.melting is not None:
        told["melting"] = {"source": material.melting.source, **material.melting.numbers()}
    curves = {label: getattr(material, label) for label in COLUMNS[1:]}
    if all(isinstance(curve, Polynomial) for curve in curves.values()):
        return told | {"polynomial": {label: _in_kelvin(curve) for label, curve in curves.items()}}
    T = curves["k"].x.tolist()
    rows = {label: [float(f"{value:.{DIGITS}g}") for value in curve(T)] for label, curve in curves.items()}
    return told | {"table": {"T": T, **rows}}


def _in_kelvin(curve: Polynomial) -> list[float]:
    """Coefficients of 1, T, T², …; a fit has those of a scaled T."""
    scaled = not np.array_equal(curve.domain, curve.window)
    found: list[float] = (curve.convert() if scaled else curve).coef.tolist()
    return found


def count_numbers(material: Material) -> dict[str, Any]:
    """The numbers by which materials are told apart: all, but the melting that ships with an alloy.

    Files written before alloys had a melting point, trained models among them, so name the same material.
    """
    solid = describe_material(replace(material, name="", source="", melting=None))
    melting = None if material.melting is None else material.melting.numbers()
    told = {key: value for key, value in solid.items() if key not in ("name", "source")}
    return told if melting is None or (solid, melting) in _ship_melting() else told | {"melting": melting}


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
    data = _check_keys(data, place, needs=MELTING)
    if not isinstance(data["source"], str):
        raise BadInput(f"source of {place} must be text, got {show(data['source'])}: put it in quotes")
    solidus, liquidus, latent, boiling = (
        check_number(data[key], f"{key} of {place}") for key in MELTING[1:5]
    )
    rows = _check_keys(data["liquid"], f"`liquid` of {place}", needs=tuple(LIQUID))
    table = check_table({LIQUID[key]: rows[key] for key in LIQUID}, f"`liquid` of {place}", least=1)
    return Melting(
        source=data["source"],
        solidus=solidus,
        liquidus=liquidus,
        latent=1e3 * latent,
        boiling=boiling,
        **table,
    )


def _check_valid(value: object, where: str) -> tuple[float, float]:
    if not (isinstance(value, list) and len(value) == 2):
        raise BadInput(f"`valid` of {where} must be [low, high] in K, got {show(value)}: give both limits")
    low, high = (check_number(limit, f"`valid` of {where}") for limit in value)
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
    values = check_list(value, where)
    if not 1 <= len(values) <= MOST_COEFFICIENTS:
        raise BadInput(
            f"a polynomial must have 1 to {MOST_COEFFICIENTS} coefficients, "
            f"got {len(values)} for {where}: give those of 1, T, T², …"
        )
    return Polynomial([check_number(v, f"coefficient {i + 1} of {where}") for i, v in enumerate(values)])
