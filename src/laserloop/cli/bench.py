"""The verbs that measure speed on this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from laserloop.cli.options import take_number
from laserloop.cli.output import Json, publish


def bench_plant(
    *,
    steps: Annotated[int, take_number(2, 100_000, "steps", "Steps of each of our plants.")] = 400,
    reference_steps: Annotated[
        int,
        take_number(
            1, 100_000, "steps", "Steps of the SciPy reference, 0.1–0.5 s each; 20 for a quick look."
        ),
    ] = 400,
    json_file: Json = None,
) -> None:
    """Time a step of both plants, and of a SciPy sparse Newton solver on the paper's grid.

    Then the graded plant's peak along serpentines of two machines, against the exact one.

    For example:

        laserloop bench plant --json out/bench_plant.json
    """
    from laserloop.bench.threads import keep_to_one_thread

    keep_to_one_thread()  # before NumPy is loaded
    from laserloop.bench.plant import run_plant_bench

    _measure(
        "plants and their reference", run_plant_bench, json_file, steps=steps, reference_steps=reference_steps
    )


def bench_train(
    *,
    windows: Annotated[int, take_number(2048, 10_000_000, "", "Windows of an epoch.")] = 20_480,
    rounds: Annotated[int, take_number(1, 1000, "", "Epochs of each kind; the best counts.")] = 5,
    threads: Annotated[int, take_number(1, 256, "", "Of PyTorch.")] = 1,
    json_file: Json = None,
) -> None:
    """Time an epoch of training against the core's peak and against a stock PyTorch loop.

    For example:

        laserloop bench train --json out/bench_train.json
    """
    from laserloop.bench.train import run_train_bench

    _measure("epochs", run_train_bench, json_file, windows=windows, rounds=rounds, threads=threads)


def bench_mpc(
    *,
    problems: Annotated[int, take_number(2, 100_000, "", "Problems, half of them from closed loops.")] = 600,
    model: Annotated[
        str,
        Parameter(help="A shipped model's name, the folder of one, or your own predictor as FILE.py:NAME."),
    ] = "paper-corner",
    seed: Annotated[int, take_number(0, 2**32 - 1, "", "Of the random half.")] = 0,
    json_file: Json = None,
) -> None:
    """Time one tick of the paper's IPOPT, of ours and of the compiled solvers on the same problems.

    For example:

        laserloop bench mpc --json out/bench_mpc.json
    """
    from laserloop.bench.mpc import run_mpc_bench

    _measure("problems", run_mpc_bench, json_file, problems=problems, model=model, seed=seed)


def _measure(what: str, run: Callable[..., dict[str, Any]], json_file: Path | None, **options: Any) -> None:
    """Run a bench with a progress bar, and publish its numbers."""
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    with show_progress(what) as progress:
        numbers = run(**options, progress=progress)
    publish(numbers, json_file, tabulate_numbers(_flatten(numbers)))


def _flatten(numbers: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested numbers side by side."""
    flat: dict[str, Any] = {}
    for name, value in numbers.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
