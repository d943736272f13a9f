"""The verb that judges a process and a path before anything is run."""

import warnings
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from laserloop.cli.options import PathOptions, ProcessName
from laserloop.cli.output import Json, publish


def check(
    process: ProcessName,
    path: Annotated[str | None, Parameter(help="The path that is to be gone, as of plan or control.")] = None,
    /,
    way: PathOptions | None = None,
    *,
    json_file: Json = None,
) -> None:
    """Say whether a process can work: its window, its beam, its times, and what in it is implausible.

    For example:

        laserloop check process.yaml
        laserloop check process.yaml part.gcode
    """
    from dataclasses import replace

    from rich.table import Table
    from rich.text import Text

    from laserloop.planning.check import check_path, check_process, tell_times, time_plant
    from laserloop.process import find_process

    way = way or PathOptions()
    given = find_process(process)
    if way.speed_mm_s is not None:
        given = given.change(speed_mm_s=way.speed_mm_s)
    scan = None if path is None else way.find(path, given)
    if scan is not None:
        given = replace(given, speed=scan.median_speed or given.speed)
    findings, numbers = check_process(given), dict[str, Any]()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* the (range|solidus) of material")
        if scan is not None:
            more, numbers = check_path(given, scan)
            findings += more
        grid, step = time_plant(given, scan)
    findings.append(tell_times(step, numbers.get("ticks"), numbers.get("planning_s")))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        mark = "✓" if finding.fine else "!"
        table.add_row(mark, Text(finding.about, style="dim"), Text(finding.text))
    fine = all(finding.fine for finding in findings)
    record = {
        "process": given.to_json(),
        "path": path,
        "fine": fine,
        "grid": grid,
        "step_s": step,
        **numbers,
        "findings": [
            {"about": finding.about, "text": finding.text, "fine": finding.fine} for finding in findings
        ],
    }
    verdict = "Nothing speaks against it." if fine else "See what is marked with !."
    publish(record, json_file, table, verdict, *([_suggest(process, path)] if fine else []))


def _suggest(process: str, path: str | None) -> str:
    """The next useful command."""
    if path is None:
        return f"Next: laserloop control diagonal --process {process} --plot run.png"
    planned = f"{Path(path).stem}-planned{Path(path).suffix or '.csv'}".replace(":", "-")
    return f"Next: laserloop plan {path} --process {process} --out {planned}"
