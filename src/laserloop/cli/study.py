"""The verbs of whole studies, and those that measure speed.

Each imports its study itself: `bench plant` must say how many threads there are before NumPy is loaded.
"""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from laserloop.cli.options import SEED, Scheduler, Workers, flag, number, several, take_file
from laserloop.cli.output import Json, publish, writing
from laserloop.report.terminal import show_progress


def arena(
    *,
    out: Annotated[
        Path,
        take_file("Folder of runs, tables and leaderboard; one that was begun is continued.", metavar="DIR"),
    ] = Path("laserloop-arena"),
    quick: Annotated[
        bool, flag("Ten short paths at nominal disturbances, some minutes on two cores.")
    ] = False,
    controller: Annotated[
        str | None,
        Parameter(
            metavar="FILE.py:CLASS",
            help="A controller of your own, which meets all others on the same tasks.",
        ),
    ] = None,
    entrants: Annotated[
        list[str] | None,
        several("Only these, by name; may be given several times. Gaps need twin-informed.", default="all"),
    ] = None,
    paths: Annotated[
        int | None, number(1, 10_000, "", "Paths, in turn of the ten families.", default="100; quick 10")
    ] = None,
    levels: Annotated[
        list[str] | None,
        several(
            "Disturbances: off, nominal, hard or machine; may be given several times.",
            default="all; quick nominal",
        ),
    ] = None,
    processes: Annotated[
        list[str] | None,
        several("Processes: 304, in625 or ti64; may be given several times.", default="304"),
    ] = None,
    split: Annotated[str, Parameter(help="Seeds of the paths: public, validation or held-out.")] = "held-out",
    workers: Workers = None,
    scheduler: Scheduler = None,
    json_file: Json = None,
) -> None:
    """Let every controller meet the same tasks on the same plant, and rank them with decision times charged.

    Killed at any moment, the same command goes on and ends with the same tables. The full size takes about
    seven hours on two cores.

    For example:

        laserloop arena --quick --out out/arena
        laserloop arena --quick --controller mine.py:MyController --out out/arena
        laserloop arena --paths 20 --levels off --entrants twin --entrants pi --out out/arena
    """
    from laserloop.loop import TICKS
    from laserloop.studies.arena import benchmark as trials
    from laserloop.studies.arena.leaderboard import save_leaderboard, tabulate_standings, write_headline
    from laserloop.studies.arena.ranking import save_tables, summarise, tabulate
    from laserloop.studies.arena.tasks import FULL_PATHS, LEVELS, PROCESSES, list_tasks

    tasks = list_tasks(
        split=split,
        paths=paths or (trials.QUICK_PATHS if quick else FULL_PATHS),
        ticks=trials.QUICK_TICKS if quick else TICKS,
        levels=levels or (trials.QUICK_LEVELS if quick else tuple(LEVELS)),
        processes=processes or PROCESSES[:1],
    )
    benchmark = trials.make_benchmark(tasks, entrants or (), own=controller)
    with writing("--out"), show_progress("runs") as progress:
        trials.run_benchmark(benchmark, out, workers=workers, scheduler=scheduler, progress=progress)
        tables = tabulate(benchmark, out)
        save_tables(tables, benchmark, out)
        command = shlex.join(["laserloop", *sys.argv[1:]])
        page = save_leaderboard(tables, out, command=command)
    found = summarise(tables, benchmark)
    publish(
        found, json_file, tabulate_standings(tables), f"{write_headline(tables)}.", f"Leaderboard: {page}"
    )


def reproduce(
    *,
    out: Annotated[
        Path, take_file("Folder of everything; one that was begun is continued.", metavar="DIR")
    ] = Path("laserloop-paper"),
    quick: Annotated[bool, flag("All stages at reduced size, a few minutes on two cores.")] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    json_file: Json = None,
) -> None:
    """Run the whole paper from nothing: plant, ensembles, trainings, tables, closed loops, timing, report.

    Killed at any moment, the same command goes on and ends with the same tables. The full size takes hours
    on two cores, and fewer with more workers.

    For example:

        laserloop reproduce --quick --out out/quick
        laserloop reproduce --workers 8 --out out/paper
    """
    from laserloop.studies.halilovic.cases import FULL, QUICK
    from laserloop.studies.halilovic.run import reproduce as run

    with writing("--out"):
        run(out, QUICK if quick else FULL, workers=workers, scheduler=scheduler)
    _conclude(out, json_file)


def report(
    directory: Annotated[Path, Parameter(name="DIR", help="Folder of laserloop reproduce.")],
    /,
    *,
    json_file: Json = None,
) -> None:
    """Write the page and the tables of a reproduction again, from the results that are on disk.

    For example:

        laserloop report out/paper
        laserloop report out/paper --json claims.json
    """
    from laserloop.studies.halilovic.report import write_report

    with writing("DIR"):
        write_report(directory)
    _conclude(directory, json_file)


def _conclude(directory: Path, json_file: Path | None) -> None:
    """What became of the paper's claims, and the path of the page."""
    from laserloop.report.tables import tabulate_verdicts
    from laserloop.studies.halilovic.report import summarise

    summary = summarise(directory)
    verdicts = tabulate_verdicts(summary["claims"], summary["note"])
    publish(summary, json_file, verdicts, f"Report: {summary['page']}")


def bench_plant(
    *,
    steps: Annotated[int, number(2, 100_000, "steps", "Steps of each of our plants.")] = 400,
    reference_steps: Annotated[
        int, number(1, 100_000, "steps", "Steps of the SciPy reference, 0.1–0.5 s each; 20 for a quick look.")
    ] = 400,
    json_file: Json = None,
) -> None:
    """Time a step of both plants, and of a SciPy sparse Newton solver on the paper's grid.

    Then the graded plant's peak along serpentines of two machines, against the exact one.

    For example:

        laserloop bench plant --json out/bench_plant.json
    """
    from laserloop.bench import keep_to_one_thread

    keep_to_one_thread()  # before NumPy is loaded
    from laserloop.bench.plant import run_plant_bench

    _measure(
        "plants and their reference", run_plant_bench, json_file, steps=steps, reference_steps=reference_steps
    )


def bench_train(
    *,
    windows: Annotated[int, number(2048, 10_000_000, "", "Windows of an epoch.")] = 20_480,
    rounds: Annotated[int, number(1, 1000, "", "Epochs of each kind; the best counts.")] = 5,
    threads: Annotated[int, number(1, 256, "", "Of PyTorch.")] = 1,
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
    problems: Annotated[int, number(2, 100_000, "", "Problems, half of them from closed loops.")] = 600,
    model: Annotated[
        str,
        Parameter(help="A shipped model's name, the folder of one, or your own predictor as FILE.py:NAME."),
    ] = "paper-corner",
    seed: Annotated[int, number(*SEED, "Of the random half.")] = 0,
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
