"""The C text of a solver: a template, its sizes, and the numbers of a model and a problem."""

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from laserloop.bad_input import BadInput
from laserloop.control import realtime_kernels as kernels
from laserloop.control.action import Status
from laserloop.control.problem import MpcProblem
from laserloop.control.realtime_network import MATRICES, PackedNetwork, pad

DTYPES: dict[str, type[np.floating[Any]]] = {"float32": np.float32, "float64": np.float64}
ITERATIONS = 12  # most, in a tick
STEEP = 1e3  # ρ⁺ in units of all other prices together
WHOLE = ("HALVINGS", "CREDIT", "SHRINKINGS", "GUESSES", "KINKS", "LEVELS")
REAL = (
    *("EXACT", "NEAR", "DEPENDENT", "FAR", "JITTER", "MATCH", "ARMIJO", "SHORT"),
    *("RADIUS", "BLUR", "REACH", "BEND", "COLD"),
)
# ASLEEP: a unit's value that is left out, of which smoothing leaves many; FLAT: a change of slope that is
# none; BENT: how far off its tangent a unit still is linear. In float32 they cost 0.005 K of prediction.
TOLERANCES = {"float32": (1e-5, 1e-4, 2e-6), "float64": (1e-6, 1e-6, 1e-12)}
SENTENCES = (Status.SOLVED, Status.STOPPED, Status.INFEASIBLE, Status.NO_PREDICTION, Status.EXHAUSTED)


def read_template(name: str) -> str:
    """The text of a template of this room."""
    return (files("laserloop.control.export") / "templates" / name).read_text(encoding="utf-8")


def fill(template: str, values: dict[str, str]) -> str:
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


def render_source(net: PackedNetwork, *, problem: MpcProblem | None = None) -> str:
    """The source for a network's shape; with a `problem` also its weights and the interface to deploy."""
    single = net.W.dtype == np.float32
    constants = [f"#define {name} {getattr(kernels, name)}" for name in WHOLE]
    constants += [f"#define {name} {getattr(kernels, name)!r}" for name in REAL]
    tolerances = zip(("ASLEEP", "FLAT", "BENT"), TOLERANCES[net.W.dtype.name], strict=True)
    constants += [f"#define {name} ((real){value!r})" for name, value in tolerances]
    sizes = [
        f"typedef {'float' if single else 'double'} real;",
        f"#define ROOT(x) {'sqrtf' if single else 'sqrt'}(x)",
        f"#define MAGNITUDE(x) {'fabsf' if single else 'fabs'}(x)",
        f"#define N {net.horizon}",
        f"#define W {net.width}",
        f"#define F {len(net.seen)}",
        f"#define PAD {pad(net.horizon)}",
        f"#define RANK {len(net.M)}",
    ]
    return fill(
        read_template("laserloop.c.in"),
        {
            "SIZES": "\n".join(sizes),
            "CONSTANTS": "\n".join(constants),
            "WEIGHTS": render_numbers(net, problem) if problem else "",
            "SENTENCES": ",\n".join(f'        "{status.value}"' for status in SENTENCES),
        },
    )


def render_numbers(net: PackedNetwork, problem: MpcProblem) -> str:
    """The network and the problem as two constants of the C source."""
    arrays = [getattr(net, name) for name in MATRICES]
    arrays += [*net.kinematics_stats, *net.trunk_stats]
    if not all(np.isfinite(array).all() for array in arrays):
        raise BadInput("the model has weights or scalers that are not finite: train it again")
    suffix = "f" if net.W.dtype == np.float32 else ""
    lines = ["static const network exported_network ALIGNED = {"]
    lines += [f"    {_nest(array, suffix if i < len(MATRICES) else '')}," for i, array in enumerate(arrays)]
    lines += [f"    {{{', '.join(map(str, net.seen))}}}", "};", ""]
    numbers = ", ".join(_spell(value, "") for value in problem_numbers(problem))
    blocks = ", ".join(map(str, find_blocks(problem)))
    lines.append(f"static const problem exported_problem = {{{numbers}, {{{blocks}}}, {ITERATIONS}}};")
    return "\n".join(lines) + "\n"


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


def find_blocks(problem: MpcProblem) -> NDArray[np.int64]:
    """(N_h,): the move that each tick takes."""
    return np.asarray(np.argmax(problem.spread, axis=1))


def _nest(array: NDArray[np.floating], suffix: str) -> str:
    """An initialiser in braces, a line for each row."""
    if array.ndim == 1:
        return f"{{{', '.join(_spell(value, suffix) for value in array)}}}"
    return "{" + ",\n     ".join(_nest(row, suffix) for row in array) + "}"


def _spell(value: float | np.floating, suffix: str) -> str:
    """A C literal that reads back as the same number."""
    text = format(float(value), ".9g" if suffix else ".17g")
    return text + ("" if set(text) & set(".en") else ".0") + suffix
