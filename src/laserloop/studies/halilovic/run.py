"""The run: one folder, stage after stage, tasks to the workers, conclusions to disk, then the report."""

import fcntl
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from laserloop.bad_input import BadInput
from laserloop.data.ensemble import EnsembleSettings
from laserloop.data.store import record_episode
from laserloop.jobs import Workers, check_workers, open_cluster, share_out
from laserloop.predict.model import find_commit, find_versions
from laserloop.predict.training import need_torch
from laserloop.store import write_json
from laserloop.studies.halilovic.cases import Size
from laserloop.studies.halilovic.results import damaged, read_object
from laserloop.studies.halilovic.stages import STAGES, Folder, Stage, Task

ROUNDS = 3  # attempts at tasks whose workers died, without a single one done
PIPED_EVERY = 60.0  # s between two lines in a pipe or a file
# Seconds on two cores, as measured or estimated from it. They only weigh the stages for the time left.
TIMED = (*(stage.name for stage in STAGES), "report")
EXPECTED = {
    "full": dict(zip(TIMED, (145, 1000, 10200, 14, 5, 900, 3, 200, 15), strict=True)),
    "quick": dict(zip(TIMED, (10, 38, 66, 9, 1, 112, 1, 38, 14), strict=True)),
}


class StageProgress:
    """A bar for each stage on a terminal; in a pipe or a file a line at each turn and every minute."""

    def __init__(self, size: str, titles: Mapping[str, str]) -> None:
        """Every stage waits."""
        self.expected = EXPECTED[size]
        self.share = dict.fromkeys(titles, 0.0)  # of each stage's work that is done
        self.found = 0.0  # s of expected work that an earlier session did
        self.counts: dict[str, tuple[int, int]] = {}  # done, of
        self.weighed: set[str] = set()  # whose share is told, as their tasks differ too much to be counted
        self.began: float | None = None
        self.now, self._said = "", 0.0
        columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[state]}"))
        console = Console(stderr=True)
        self.bars = Progress(*columns, TimeElapsedColumn(), console=console, disable=not sys.stderr.isatty())
        self.rows = {
            name: self.bars.add_task(title, total=1.0, start=False, state="waits")
            for name, title in titles.items()
        }
        self.titles = dict(titles)

    def begin(self, name: str, total: int, cached: int, share: float | None = None) -> None:
        """A stage has begun; an earlier session did some of its tasks, or a share of their work."""
        if self.began is None:
            self.began = time.monotonic()
        if share is not None:
            self.weighed.add(name)
        self.share[name] = share if share is not None else cached / total if total else 1.0
        self.found += self.expected[name] * self.share[name]
        self.counts[name], self.now = (cached, total), name
        self.bars.start_task(self.rows[name])
        self._say(f"{self.titles[name]}: {total} tasks, {cached} found on disk")

    def step(self, name: str) -> None:
        """One more task is done."""
        done, total = self.counts[name]
        self.counts[name] = done + 1, total
        if name not in self.weighed:
            self.share[name] = (done + 1) / total
        self.refresh()

    def see(self, name: str, share: float) -> None:
        """So much of a stage's work is done, between two tasks."""
        self.share[name] = max(self.share[name], min(share, 1.0))
        self.refresh()

    def end(self, name: str) -> None:
        """A stage is over."""
        self.share[name] = 1.0
        self.refresh()
        self.bars.stop_task(self.rows[name])
        self._say(f"{self.titles[name]}: done")

    def refresh(self) -> None:
        """The bars; in a pipe now and then a line."""
        done, total = self.counts[self.now]
        left = f"about {tell(self.left())} left in all"
        state = f"{done}/{total}, {left}" if self.share[self.now] < 1.0 else f"{done}/{total}"
        self.bars.update(self.rows[self.now], completed=self.share[self.now], state=state)
        if self.bars.disable and time.monotonic() - self._said > PIPED_EVERY:
            self._say(f"{self.titles[self.now]}: {done} of {total}, {left}")

    def left(self) -> float:
        """Seconds that the rest may take, from what this session took against what was expected."""
        rest = sum(self.expected[name] * (1.0 - share) for name, share in self.share.items())
        work = sum(self.expected[name] * share for name, share in self.share.items()) - self.found
        if self.began is None or work <= 0.02 * sum(self.expected.values()):
            return rest
        return rest * (time.monotonic() - self.began) / work

    def _say(self, sentence: str) -> None:
        self._said = time.monotonic()
        if self.bars.disable:
            print(sentence, file=sys.stderr, flush=True)


def tell(seconds: float) -> str:
    """A duration for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


@dataclass(slots=True)
class Stopwatch:
    """Seconds spent in each stage, over all sessions of a folder; kept on disk as it runs."""

    folder: Folder
    last: float = 0.0

    def start(self) -> None:
        """From now on."""
        self.last = time.monotonic()

    def lap(self, name: str, title: str, tasks: int) -> None:
        """Add what passed since the last lap to a stage."""
        now = time.monotonic()
        kept = self.folder.read("clock/stages")
        stages = kept.setdefault("stages", [])
        entry = next((one for one in stages if one["name"] == name), None)
        if entry is None:
            entry = {"name": name, "title": title, "tasks": tasks, "seconds": 0.0}
            stages.append(entry)
        entry["seconds"] += now - self.last
        self.last = now
        self.folder.save("clock/stages", kept)


def reproduce(
    directory: Path,
    size: Size,
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
            titles = {stage.name: stage.title for stage in stages} | {"report": "Write the report"}
            progress = StageProgress(size.name, titles)
            with progress.bars:
                watch.start()
                for stage in stages:
                    if not stage.quiet:
                        _run_stage(stage, folder, client, progress, watch)
                stack.close()  # what is timed has the machine to itself
                for stage in stages:
                    if stage.quiet:
                        _run_stage(stage, folder, None, progress, watch)
                _sign_off(folder)
                progress.begin("report", 1, 0)
                page = write_report(folder.root)
                watch.lap("report", "Write the report", 1)
                progress.end("report")
            return page


def _run_stage(
    stage: Stage, folder: Folder, client: Workers | None, progress: StageProgress, watch: Stopwatch
) -> None:
    """The tasks that are not done, by the workers or without any in this process; then the conclusion."""
    tasks = stage.list_tasks(folder)
    todo = [task for task in tasks if not task.done]
    cached = len(tasks) - len(todo)
    share = None if stage.progress is None else stage.progress(folder)
    progress.begin(stage.name, len(tasks), cached, share)

    def show_progress() -> None:
        if stage.progress is not None:
            progress.see(stage.name, stage.progress(folder))
        else:
            progress.refresh()
        watch.lap(stage.name, stage.title, len(tasks))

    def count() -> None:
        progress.step(stage.name)

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
    progress.end(stage.name)


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


SETTINGS_FILE, LOCK_FILE = "settings.json", ".lock"


def check_folder(root: Path, size: Size) -> None:
    """Refuse a folder in which a reproduction of this size can neither begin nor go on; changes nothing."""
    file = root / SETTINGS_FILE
    if file.exists():
        kept = read_object(file)
        if kept is None:
            raise BadInput(damaged(file))
        if kept == _describe_size(size):
            return
        words, way = {
            "full": ("the full one", "leave out --quick" if size.name != "full" else ""),
            "quick": ("a quick one", "add --quick" if size.name != "quick" else ""),
        }.get(str(kept.get("name")), ("another one", ""))
        ways = f"{way} or choose another --out" if way else "choose another --out"
        other = "" if way else " of another version"
        raise BadInput(f"a folder must hold one reproduction, but {str(root)!r} holds {words}{other}: {ways}")
    if root.exists() and any(entry.name != LOCK_FILE for entry in root.iterdir()):
        raise BadInput(
            f"a reproduction must begin in an empty folder, but {str(root)!r} holds other things: "
            "choose another --out"
        )


def open_folder(root: Path, size: Size) -> Folder:
    """Begin a reproduction in a folder, or go on with one of the same size."""
    check_folder(root, size)
    root.mkdir(parents=True, exist_ok=True)
    write_json(root / SETTINGS_FILE, _describe_size(size))
    return Folder(root=root, size=size)


def _describe_size(size: Size) -> Any:
    return json.loads(json.dumps(size.to_json()))


@contextmanager
def hold_folder(root: Path) -> Iterator[None]:
    """No second process may work in the folder; a killed one has let go of it."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / LOCK_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(
                f"one process at a time may work in {str(root)!r}, but another does: wait for it or stop it"
            ) from None
        yield
