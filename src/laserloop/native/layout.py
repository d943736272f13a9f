"""C as Python has it: the sources of this room, structs of its headers, and numbers that C reads back."""

import ctypes
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import Status
from laserloop.control.problem import MpcProblem

DTYPES: dict[str, type[np.floating[Any]]] = {"float32": np.float32, "float64": np.float64}
CONFIG = "laserloop_config.h"  # of a library for this process; exports have their own
ENGINE = ("-DLASERLOOP_ENGINE",)  # the functions that Python calls, instead of those of a machine
ALIGNMENT = 64  # bytes, a cache line
TYPES = {"double": "d", "int": "i", "unsigned": "I", "long": "l", "unsigned long": "L"}
POINTER = "P"
STATUSES = (Status.SOLVED, Status.STOPPED, Status.INFEASIBLE, Status.NO_PREDICTION)  # by their codes
ITERATIONS = 12  # most, in a tick
STEEP = 1e3  # price of a kelvin above the ceiling, in units of all other prices together


def read_source(name: str) -> str:
    """The text of a C file of this room."""
    return (files("laserloop.native") / "c" / name).read_text(encoding="utf-8")


def find_dtype(dtype: DTypeLike) -> type[np.floating[Any]]:
    """float32 or float64; others are refused."""
    name = np.dtype(dtype).name
    if name not in DTYPES:
        raise BadInput(f"the arithmetic must be one of {', '.join(DTYPES)}, got {name}: choose one")
    return DTYPES[name]


def make_struct(
    header: str, name: str, sizes: Mapping[str, int] | None = None, *, real: DTypeLike = "f"
) -> NDArray[np.void]:
    """An empty struct of a header in memory of its own, that begins at a cache line; () fields by name."""
    dtype = read_struct(header, name, sizes, real=real)
    return aligned(dtype.itemsize).view(dtype).reshape(())


def read_struct(
    header: str, name: str, sizes: Mapping[str, int] | None = None, *, real: DTypeLike = "f"
) -> np.dtype[np.void]:
    """A struct of a header as the C compiler lays it out.

    `sizes`: what stands for a name in brackets that the header does not number itself; `real`: the network's.
    """
    text, numbers = _read_bare(header)
    known = {**numbers, **(sizes or {})}
    match = re.search(rf"typedef struct {{([^{{}}]*)}} {name};", text)
    assert match is not None, f"{header} has no struct {name}"
    fields: list[tuple[str, Any, tuple[int, ...]]] = []
    for line in filter(str.strip, match[1].split(";")):
        kind, members = re.findall(r"(?:const )?(unsigned long|\w+) (.+)", " ".join(line.split()))[0]
        for member in members.split(","):
            called, *_ = member.split("[")
            size = tuple(_count(length, known) for length in re.findall(r"\[(.*?)\]", member))
            if "*" in called:
                dtype: Any = POINTER
            elif kind == "real":
                dtype = np.dtype(real)
            else:
                dtype = TYPES.get(kind) or read_struct(header, kind, sizes, real=real)
            fields.append((re.findall(r"\w+", called)[-1], dtype, size))
    return np.dtype(fields, align=True)


@cache
def _read_bare(header: str) -> tuple[str, dict[str, int]]:
    """A header without its comments, and the numbers that it gives names to."""
    text = re.sub(r"/\*.*?\*/", "", read_source(header), flags=re.DOTALL)
    return text, {name: int(number) for name, number in re.findall(r"\b(\w+) = (\d+),", text)}


def _count(length: str, known: Mapping[str, int]) -> int:
    """Sums of products of numbers and names."""
    products = (map(str.strip, term.split("*")) for term in length.split("+"))
    return sum(prod(known[part] if part in known else int(part) for part in parts) for parts in products)


def pack_problem(problem: MpcProblem, max_iterations: int = ITERATIONS) -> NDArray[np.void]:
    """The C struct `problem`; its last four numbers are worked out in C."""
    price = problem.slack_price
    values = {
        **dict(zip(("low", "high"), problem.window, strict=True)),
        **{"margin_above": problem.margin_above, "margin_below": problem.margin_below},
        "below": price,
        "above": STEEP * (price + problem.power_cost + problem.move_cost + problem.tracking_cost),
        **{"power_cost": problem.power_cost, "move_cost": problem.move_cost},
        "tracking_cost": problem.tracking_cost,
        **dict(zip(("least", "full"), problem.power, strict=True)),
        **{"blocks": range(problem.horizon), "cap": max_iterations},
    }
    packed = make_struct("types.h", "problem", {"N": problem.horizon})
    for name, value in values.items():
        packed[name] = value
    return packed


def aligned(count: int) -> NDArray[np.uint8]:
    """Zeroed bytes that begin at a cache line."""
    block = np.zeros(count + ALIGNMENT, np.uint8)
    first = -block.ctypes.data % ALIGNMENT
    return block[first : first + count]


def address(array: NDArray[Any]) -> ctypes.c_void_p:
    """Where an array lies; it must outlive the address."""
    return ctypes.c_void_p(array.ctypes.data)


def initialise(value: NDArray[Any], used: Mapping[int, int] | None = None) -> str:
    """The initialiser of a number, an array or a struct; of arrays so long only what is `used`."""
    if value.dtype.names:
        lines = (initialise(value[name], used) for name in value.dtype.names)
        return "{" + ",\n    ".join(lines) + "}"
    if value.ndim:
        rows = [initialise(row, used) for row in value[: (used or {}).get(len(value))]]
        return "{" + (",\n     " if value.ndim > 1 else ", ").join(rows) + "}"
    return str(int(value)) if value.dtype.kind == "i" else to_literal(value, single=value.dtype == np.float32)


def to_literal(value: float | NDArray[np.floating], *, single: bool = False) -> str:
    """A C number that reads back as the same one."""
    text = format(float(value), ".9g" if single else ".17g")
    return text + ("" if set(text) & set(".en") else ".0") + ("f" if single else "")


def define(values: Mapping[str, object]) -> str:
    """The lines of a header."""
    return "".join(f"#define LASERLOOP_{name} {value}\n" for name, value in values.items())


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with every @NAME@ replaced."""
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


def plain(text: str) -> str:
    """Printable ASCII that ends no comment and no string of C, and begins no trigraph."""
    ascii_only = text.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'")
    letters = "".join(letter if letter.isprintable() else " " for letter in ascii_only)
    for pair in ("*/", "/*", "??"):
        while pair in letters:
            letters = letters.replace(pair, " ".join(pair))
    return letters


def quote(text: str) -> str:
    """A C string."""
    return f'"{plain(text)}"'
