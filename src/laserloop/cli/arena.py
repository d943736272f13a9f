"""The verb that lets controllers meet."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from laserloop.cli.options import take_file, take_number
from laserloop.cli.output import Json, publish, writing


def arena(
    *,
    out: Annotated[
        Path,
        take_file("Folder of runs, tables and leaderboard; one that was begun is continued.", metavar="DIR"),
    ] = Path("laserloop-arena"),
    quick: Annotated[
        bool,
        Parameter(help="Ten short paths at nominal disturbances, some minutes on two cores.", negative=""),
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
        Parameter(
            negative="",
            help="Only these, by name; may be given several times. Gaps need the oracle.",
            show_default=lambda _: "all",
        ),
    ] = None,
    paths: Annotated[
        int | None, take_number(1, 10_000, "", "Paths, in turn of the ten families.", default="100; quick 10")
    ] = None,
    levels: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="Disturbances: off, nominal or hard; may be given several times.",
            show_default=lambda _: "all; quick nominal",
        ),
    ] = None,
    processes: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="Processes: 304, in625 or ti64; may be given several times.",
            show_default=lambda _: "304",
        ),
    ] = None,
    split: Annotated[str, Parameter(help="Seeds of the paths: public, validation or held-out.")] = "held-out",
    workers: Annotated[
        int | None, take_number(1, 1024, "", "Processes on this machine.", default="one per core")
    ] = None,
    scheduler: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to use instead, such as tcp://host:8786.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Let every controller meet the same tasks on the same plant, and rank them by their gap to the oracle.

    Killed at any moment, the same command goes on and ends with the same tables. The full size takes about
    seven hours on two cores.

    For example:

        laserloop arena --quick --out out/arena
        laserloop arena --quick --controller mine.py:MyController --out out/arena
        laserloop arena --paths 20 --levels off --entrants twin --entrants pi --out out/arena
    """
    from laserloop.arena.contest import QUICK_LEVELS, QUICK_PATHS, QUICK_TICKS, hold, make_contest
    from laserloop.arena.leaderboard import save_leaderboard, write_headline
    from laserloop.arena.levels import LEVELS
    from laserloop.arena.tables import save_tables, summarise, tabulate
    from laserloop.arena.tasks import FULL_PATHS, PROCESSES, list_tasks
    from laserloop.arena.terminal import tabulate_standings
    from laserloop.loop.scenario import TICKS
    from laserloop.report.terminal import show_progress

    tasks = list_tasks(
        split=split,
        paths=paths or (QUICK_PATHS if quick else FULL_PATHS),
        ticks=QUICK_TICKS if quick else TICKS,
        levels=levels or (QUICK_LEVELS if quick else tuple(LEVELS)),
        processes=processes or PROCESSES[:1],
    )
    contest = make_contest(tasks, entrants or (), own=controller)
    with writing("--out"), show_progress("runs") as progress:
        hold(contest, out, workers=workers, scheduler=scheduler, progress=progress)
        tables = tabulate(contest, out)
        save_tables(tables, contest, out)
        command = shlex.join(["laserloop", *sys.argv[1:]])
        page = save_leaderboard(tables, out, command=command)
    found = summarise(tables, contest)
    publish(
        found, json_file, tabulate_standings(tables), f"{write_headline(tables)}.", f"Leaderboard: {page}"
    )
