"""The verb that makes the episodes a surrogate learns from."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from laserloop.cli.options import ProcessName, take_file, take_number
from laserloop.cli.output import Json, publish, writing


def ensemble(
    kind: Annotated[
        str,
        Parameter(help="base (rasters, spirals), corner (random polylines too) or a .yaml file of settings."),
    ],
    /,
    *,
    out: Annotated[Path, take_file("Folder of the store; one that was begun is continued.", metavar="DIR")],
    runs: Annotated[int | None, take_number(1, 1_000_000, "", "Episodes in all.", default="320")] = None,
    seed: Annotated[
        int | None, take_number(0, 2**32 - 1, "", "The same seed gives the same bytes.", default="0")
    ] = None,
    plant: Annotated[
        Literal["paper", "graded"] | None,
        Parameter(help="The paper's coarse grid, or a fine one.", show_default=lambda _: "paper"),
    ] = None,
    process: Annotated[ProcessName | None, Parameter(show_default=lambda _: "paper")] = None,
    geometry: Annotated[
        Literal["fixed", "random"] | None,
        Parameter(
            help="Rasters and spirals: the named shapes themselves, or each different.",
            show_default=lambda _: "fixed",
        ),
    ] = None,
    workers: Annotated[
        int | None, take_number(1, 1024, "", "Processes on this machine.", default="one per core")
    ] = None,
    scheduler: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to use instead, such as tcp://host:8786.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Make the episodes that a surrogate learns from; stopped at any time, it goes on when called again.

    For example:

        laserloop ensemble corner --out data/corner
        laserloop ensemble base --runs 40 --workers 2 --out data/small
    """
    from laserloop.data import EnsembleSettings, read_settings, run_ensemble
    from laserloop.report.tables import tabulate_numbers
    from laserloop.report.terminal import show_progress

    given = {"kind": kind} if kind in ("base", "corner") else read_settings(kind)
    asked = {"runs": runs, "seed": seed, "plant": plant, "process": process, "geometry": geometry}
    settings = EnsembleSettings.from_json(
        given | {name: value for name, value in asked.items() if value is not None}
    )
    with writing("--out"), show_progress(f"episodes of {settings.kind}") as progress:
        tally = run_ensemble(out, settings, workers=workers, scheduler=scheduler, progress=progress)
    numbers = tally.to_json()
    publish({"settings": settings.to_json()} | numbers, json_file, tabulate_numbers(numbers))
