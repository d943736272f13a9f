"""The run: stage after stage, tasks to the workers, conclusions to disk, the report at the end."""

import os
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from laserloop.bad_input import BadInput
from laserloop.cluster import Workers, check_workers, open_cluster, share_out
from laserloop.data.ensemble import EnsembleSettings
from laserloop.data.store import record_episode
from laserloop.predict.model import find_commit, find_versions
from laserloop.predict.training import need_torch
from laserloop.studies.halilovic.board import Board
from laserloop.studies.halilovic.folder import Folder, Stopwatch, check_folder, hold_folder, open_folder
from laserloop.studies.halilovic.size import Size
from laserloop.studies.halilovic.stage import Stage, Task
from laserloop.studies.halilovic.stages import STAGES

ROUNDS = 3  # attempts at tasks whose workers died, without a single one done


def reproduce(
    directory: Path,
    size: Size,
    board: Board,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    stages: Sequence[Stage] = STAGES,
) -> Path:
    """The whole paper in a folder; what is there is not done again. Returns the report's page."""
    from laserloop.studies.halilovic.report import write_report

    count = check_workers(workers, scheduler)
    need_torch()
    check_folder(directory, size)
    record_episode(EnsembleSettings(kind="base", runs=1, states=3), 0)  # compile once, before workers do
    with ExitStack() as stack:
        client = stack.enter_context(open_cluster(count, scheduler))
        with hold_folder(directory):
            folder = open_folder(directory.resolve(), size)
            _sign(folder, count if scheduler is None else None)
            watch = Stopwatch(folder)
            with board:
                watch.start()
                for stage in stages:
                    if not stage.quiet:
                        _run_stage(stage, folder, client, board, watch)
                stack.close()  # what is timed has the machine to itself
                for stage in stages:
                    if stage.quiet:
                        _run_stage(stage, folder, None, board, watch)
                _sign_off(folder)
                board.begin("report", "Write the report", 1, 0)
                page = write_report(folder.root)
                watch.lap("report", "Write the report", 1)
                board.end("report")
            return page


def _run_stage(stage: Stage, folder: Folder, client: Workers | None, board: Board, watch: Stopwatch) -> None:
    """The tasks that are not done, by the workers or without any in this process; then the conclusion."""
    tasks = stage.list_tasks(folder)
    todo = [task for task in tasks if not task.done]
    cached = len(tasks) - len(todo)
    share = None if stage.progress is None else stage.progress(folder)
    board.begin(stage.name, stage.title, len(tasks), cached, share)

    def show_progress() -> None:
        if stage.progress is not None:
            board.see(stage.name, stage.progress(folder))
        else:
            board.refresh()
        watch.lap(stage.name, stage.title, len(tasks))

    def count() -> None:
        board.step(stage.name)

    if client is None:
        for task in todo:
            task.function(*task.arguments)
            count()
            show_progress()
    else:
        _share(client, todo, count, show_progress)
    for name, content in stage.conclude(folder).items():
        folder.save(name, content)
    watch.lap(stage.name, stage.title, len(tasks))
    board.end(stage.name)


def _share(
    client: Workers, todo: Sequence[Task], count: Callable[[], None], show_progress: Callable[[], None]
) -> None:
    """All tasks to the workers; those around which workers died once more."""
    pending, fruitless = dict(enumerate(todo)), 0
    while pending:
        before = len(pending)
        arguments = [(index, task.function, task.arguments) for index, task in pending.items()]
        for index in share_out(client, do_task, arguments, on_wait=show_progress):
            del pending[index]
            count()
        fruitless = 0 if len(pending) < before else fruitless + 1
        if fruitless == ROUNDS:
            raise BadInput("workers must live to finish a task, but all died: give them more memory or disk")


def do_task(index: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """What a worker runs: the result stays on disk, only the number of the task comes back."""
    function(*arguments)
    return index


def _sign(folder: Folder, workers: int | None) -> None:
    """Keep who worked here, with what."""
    kept = folder.read("clock/stages")
    kept.setdefault("sessions", []).append(
        {
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
            "workers": workers,
            "commit": find_commit(),
        }
    )
    kept["machine"] = {"cpu": _find_cpu(), "cores": os.cpu_count(), "system": platform.system()}
    kept["versions"] = find_versions()
    kept["commit"] = find_commit()
    folder.save("clock/stages", kept)


def _sign_off(folder: Folder) -> None:
    """Keep when the stages were over; a session that was killed has no end."""
    kept = folder.read("clock/stages")
    kept["sessions"][-1]["ended"] = datetime.now(UTC).isoformat(timespec="seconds")
    folder.save("clock/stages", kept)


def _find_cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
