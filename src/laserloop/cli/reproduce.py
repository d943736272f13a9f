"""The verbs of the whole paper: reproduce it from nothing, write its report again."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from laserloop.cli.options import take_file, take_number
from laserloop.cli.output import Json, publish, writing


def reproduce(
    *,
    out: Annotated[
        Path, take_file("Folder of everything; one that was begun is continued.", metavar="DIR")
    ] = Path("laserloop-paper"),
    quick: Annotated[
        bool, Parameter(help="All stages at reduced size, a few minutes on two cores.", negative="")
    ] = False,
    workers: Annotated[
        int | None, take_number(1, 1024, "", "Processes on this machine.", default="one per core")
    ] = None,
    scheduler: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to use instead, such as tcp://host:8786.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Run the whole paper from nothing: plant, ensembles, trainings, tables, closed loops, timing, report.

    Killed at any moment, the same command goes on and ends with the same tables. The full size takes hours
    on two cores, and fewer with more workers.

    For example:

        laserloop reproduce --quick --out out/quick
        laserloop reproduce --workers 8 --out out/paper
    """
    from laserloop.studies.halilovic.board import Board
    from laserloop.studies.halilovic.run import reproduce as run
    from laserloop.studies.halilovic.size import FULL, QUICK
    from laserloop.studies.halilovic.stages import STAGES

    titles = {stage.name: stage.title for stage in STAGES} | {"report": "Write the report"}
    size = QUICK if quick else FULL
    with writing("--out"):
        run(out, size, Board(size.name, titles), workers=workers, scheduler=scheduler)
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

    found = summarise(directory)
    verdicts = tabulate_verdicts(found["claims"], found["note"])
    publish(found, json_file, verdicts, f"Report: {found['page']}")
