"""The plant's verification: bias and ripple on lines at three angles, against a grid-converged limit."""

from typing import Any

from laserloop.store import has_case
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.stage import Stage, Task
from laserloop.studies.halilovic.study.plant_accuracy import judge_plants, list_lines, run_line


def list_tasks(folder: Folder) -> list[Task]:
    """One line each."""
    return [
        Task(run_line, (line, folder.cases), has_case(folder.cases / "lines", line.settings()))
        for line in list_lines(folder.size.parts, folder.size.between)
    ]


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """Limits, bias and ripple."""
    return {"plant": judge_plants(folder.cases, folder.size.parts, folder.size.between)}


STAGE = Stage(name="plant", title="Verify the plant", list_tasks=list_tasks, conclude=conclude)
