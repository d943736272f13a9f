"""The generated C of a controller: sizes, what it was made for, the numbers of a model and a problem."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control.controller import CREDIBLE, Status
from laserloop.control.problem import MpcProblem
from laserloop.native.network import MATRICES, PackedNetwork

if TYPE_CHECKING:
    from laserloop.predict.model import Model, TrainedFor

DTYPES: dict[str, type[np.floating[Any]]] = {"float32": np.float32, "float64": np.float64}
ITERATIONS = 12  # most, in a tick
STEEP = 1e3  # price of a kelvin above the ceiling, in units of all other prices together
FASTEST = 100.0  # m/s, beyond any scanner
MISSED = 64  # most calls in a row whose ticks are made good
EVERYWHERE = 1.0  # m, where nobody knows how large the plate is
CONFIG = "laserloop_config.h"  # of a library for this process; exports have their own
MODEL, SIZES = "laserloop_model.c", "laserloop_network_config.h"
PARTS = ("network", "working_set", "qp", "costs", "kinks", "tick", "sqp")
UNIT = ("laserloop.c", "types.h", *(f"{part}.c" for part in PARTS))  # what every build needs
HELD = "the last plan held"
INFEASIBLE = "no plan keeps the upper bound: the one that leaves it least"
REFUSED = (  # what both exports may say, by the ends of their codes
    "held for longer than a plan: least power until the next begin",
    "no input, or its tick number goes back or jumps: least power",
    "entered while another call was running: least power",
    "no part has begun: no power",
)
SENTENCES = (  # by the codes of laserloop_network.h: how the power was decided,
    *(Status.SOLVED, Status.STOPPED, INFEASIBLE),
    f"the image is not believed: {HELD}",
    f"the prediction is not finite: {HELD}",
    f"the beam cannot be there, or the model has never been: {HELD}",
    "the image is not believed, and hotter than the window or too old: least power",
    *REFUSED,
)
READINGS = (  # and what became of the image
    "the image was planned with",
    "the image cannot be of this plate",
    "the image is the last one again",
    "the image is older than any plan",
    "the image was not looked at",
)


def read_source(name: str) -> str:
    """The text of a C file of this room."""
    return (files("laserloop.native") / "c" / name).read_text(encoding="utf-8")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with every @NAME@ replaced."""
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


def find_dtype(dtype: DTypeLike) -> type[np.floating[Any]]:
    """float32 or float64; others are refused."""
    name = np.dtype(dtype).name
    if name not in DTYPES:
        raise BadInput(f"the arithmetic must be one of {', '.join(DTYPES)}, got {name}: choose one")
    return DTYPES[name]


def hash_model(model: "Model") -> str:
    """The first 16 hex digits of the hash of all weights and scalers."""
    told = hashlib.sha256()
    for name in sorted(model.weights):
        told.update(name.encode() + np.ascontiguousarray(model.weights[name]).tobytes())
    for scaler in (model.scalers.branch, model.scalers.trunk, model.scalers.target):
        told.update(scaler.mean.tobytes() + scaler.std.tobytes())
    return told.hexdigest()[:16]


def render_sizes(net: PackedNetwork) -> str:
    """The config header of a library, which depends on the network's shape only."""
    return define(size_network(net))


def size_network(net: PackedNetwork) -> dict[str, object]:
    """What a compiler must know of a network."""
    from laserloop.predict.window import SMOOTHING

    return {
        "HORIZON": net.horizon,
        "WIDTH": net.width,
        "FEATURES": len(net.seen),
        "RANK": len(net.M),
        "DOUBLE": int(net.W.dtype == np.float64),
        "SMOOTHING": repr(SMOOTHING),
    }


def render_config(net: PackedNetwork, problem: MpcProblem, model: "Model", name: str, *, size: int) -> str:
    """The config header of an export: sizes, bounds of what is credible, origin and validity."""
    made_for = model.trained_for
    x_low, x_high, y_low, y_high = _find_area(made_for)
    plate = (EVERYWHERE, EVERYWHERE) if made_for is None else made_for.process.plate[:2]
    numbers = {
        **dict(zip(("POWER_LOW", "POWER_HIGH"), map(spell, problem.power), strict=True)),
        "TICK": spell(0.0 if made_for is None else made_for.process.tick),
        **dict(zip(("COLDEST", "HOTTEST"), map(spell, CREDIBLE), strict=True)),
        **{"X_LOW": spell(x_low), "X_HIGH": spell(x_high)},
        **{"Y_LOW": spell(y_low), "Y_HIGH": spell(y_high)},
        **dict(zip(("PLATE_X", "PLATE_Y"), map(spell, plate), strict=True)),
        "FASTEST": spell(FASTEST),
        "MODEL": quote(name),
        "MODEL_HASH": quote(hash_model(model)),
        "MISSED_MOST": MISSED,
        "RELEASE": quote(version("laserloop")),
        "SENTENCES": ", ".join(quote(str(sentence)) for sentence in SENTENCES),
        "READINGS": ", ".join(map(quote, READINGS)),
    }
    sizes = size_network(net) | {"BYTES": size}
    return render_header(describe(problem, model, name), sizes | numbers, prefix="NETWORK")


def render_header(told: Sequence[str], values: Mapping[str, object], *, prefix: str) -> str:
    """A config header that begins with what it is for; all that it defines has the prefix."""
    lines = ".\n".join(f"   {plain(line)}" for line in told)
    guard = f"#ifndef LASERLOOP_{prefix}_CONFIG_H\n#define LASERLOOP_{prefix}_CONFIG_H"
    defines = define({f"{prefix}_{name}": value for name, value in values.items()})
    return f"/* Generated by laserloop.\n\n{lines}. */\n\n{guard}\n\n{defines}\n#endif\n"


def describe(problem: MpcProblem, model: "Model", name: str) -> list[str]:
    """Origin and validity of an export, a sentence each, without their full stops."""
    low, high = problem.window
    lines = [
        f"Model {name}, hash {hash_model(model)}, exported by laserloop {version('laserloop')}",
        f"Window {low:g} to {high:g} K with margins of {problem.margin_below:g} K below and "
        f"{problem.margin_above:g} K above; power {problem.power[0]:g} to {problem.power[1]:g} W",
    ]
    made_for = model.trained_for
    if made_for is None:
        return [*lines, "Nobody knows what the model was trained for, nor its tick"]
    process, (x_low, x_high, y_low, y_high) = made_for.process, (1e3 * side for side in made_for.area)
    coldest, hottest = made_for.temperatures
    return [
        *lines,
        f"Tick {1e6 * process.tick:g} us: laserloop_network_step must be called once in each",
        f"Trained on the {made_for.plant} plant for {process.material.name} (process {process.name}, hash "
        f"{process.hash}), T_max read as {made_for.reading}",
        f"Valid at {1e3 * process.speed:.0f} mm/s, for peaks of {coldest:.0f} to {hottest:.0f} K and powers "
        f"up to {process.laser.power[1]:g} W",
        f"Valid for a beam within {x_low:.3g} to {x_high:.3g} mm in x and {y_low:.3g} to {y_high:.3g} mm "
        "in y from the centre of the plate",
    ]


def render_model(net: PackedNetwork, problem: MpcProblem) -> str:
    """The network and the problem as two constants of the C source."""
    arrays = [getattr(net, name) for name in MATRICES]
    arrays += [*net.kinematics_stats, *net.trunk_stats]
    if not all(np.isfinite(array).all() for array in arrays):
        raise BadInput("the model has weights or scalers that are not finite: train it again")
    suffix = "f" if net.W.dtype == np.float32 else ""
    lines = ["/* Generated by laserloop: the numbers of the model and of the problem. */", ""]
    lines += ["static const network exported_network ALIGNED = {"]
    lines += [f"    {nest(array, suffix if i < len(MATRICES) else '')}," for i, array in enumerate(arrays)]
    lines += [f"    {{{', '.join(map(str, net.seen))}}}", "};", ""]
    return "\n".join((*lines, render_problem(problem))) + "\n"


def render_problem(problem: MpcProblem) -> str:
    """The problem as a constant of the C source."""
    numbers = ", ".join(spell(value) for value in problem_numbers(problem))
    blocks = ", ".join(map(str, range(problem.horizon)))
    return f"static const problem exported_problem = {{{numbers}, {{{blocks}}}, {ITERATIONS}}};"


def problem_numbers(problem: MpcProblem) -> list[float]:
    """The doubles of the C struct `problem`, in its order; the last four are worked out in C."""
    price = problem.slack_price
    steep = STEEP * (price + problem.power_cost + problem.move_cost + problem.tracking_cost)
    return [
        *problem.window,
        problem.margin_above,
        problem.margin_below,
        price,
        steep,
        problem.power_cost,
        problem.move_cost,
        problem.tracking_cost,
        *problem.power,
        *(0.0,) * 4,
    ]


def _find_area(made_for: "TrainedFor | None") -> tuple[float, float, float, float]:
    """Where the beam may be, m."""
    if made_for is None:
        return -EVERYWHERE, EVERYWHERE, -EVERYWHERE, EVERYWHERE
    x_low, x_high, y_low, y_high = made_for.area
    from laserloop.predict.model import AREA_SLACK

    return x_low - AREA_SLACK, x_high + AREA_SLACK, y_low - AREA_SLACK, y_high + AREA_SLACK


def define(values: Mapping[str, object]) -> str:
    """The lines of a header."""
    return "".join(f"#define LASERLOOP_{name} {value}\n" for name, value in values.items())


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


def nest(array: NDArray[np.floating], suffix: str) -> str:
    """An initialiser in braces, a line for each row."""
    if array.ndim == 1:
        return f"{{{', '.join(spell(value, suffix) for value in array)}}}"
    return "{" + ",\n     ".join(nest(row, suffix) for row in array) + "}"


def spell(value: float | np.floating, suffix: str = "") -> str:
    """A C literal that reads back as the same number."""
    text = format(float(value), ".9g" if suffix else ".17g")
    return text + ("" if set(text) & set(".en") else ".0") + suffix
