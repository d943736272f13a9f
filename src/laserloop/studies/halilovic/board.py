"""The board: what runs, what was there already, and how long the rest may take."""

import sys
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

PIPED_EVERY = 60.0  # s between two lines in a pipe or a file

# Seconds on two cores, as measured or estimated from it. They only weigh the stages for the time left.
STAGES = (
    "plant",
    "ensembles",
    "trainings",
    "offline",
    "calibration",
    "loops",
    "ablations",
    "timing",
    "report",
)
EXPECTED = {
    "full": dict(zip(STAGES, (145, 1000, 10200, 14, 5, 900, 3, 200, 15), strict=True)),
    "quick": dict(zip(STAGES, (10, 38, 66, 9, 1, 112, 1, 38, 14), strict=True)),
}


@dataclass(slots=True)
class Line:
    """One stage on the board."""

    title: str
    total: int = 0
    cached: int = 0
    done: int = 0  # cached ones included
    found: float = 0.0  # the share of the work that an earlier session did, 0 to 1
    share: float = 0.0  # of the work that is done by now
    weighed: bool = False  # the share is told: tasks differ too much to be counted
    began: float | None = None
    seconds: float | None = None  # when it is over


@dataclass(slots=True)
class Board:
    """Live on a terminal; in a pipe or a file a line at each turn and every minute."""

    size: str
    titles: dict[str, str]
    lines: dict[str, Line] = field(default_factory=dict)
    now: str = ""
    _live: Live | None = None
    _said: float = 0.0

    def __enter__(self) -> Self:
        self.lines = {name: Line(title) for name, title in self.titles.items()}
        if sys.stderr.isatty():
            self._live = Live(console=Console(stderr=True), refresh_per_second=2, get_renderable=self.draw)
            self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def begin(self, name: str, title: str, total: int, cached: int, share: float | None = None) -> None:
        """A stage has begun; an earlier session did some of its tasks, or a share of their work."""
        weighed = share is not None
        found = share if share is not None else cached / total if total else 1.0
        self.now = name
        self.lines[name] = Line(title, total, cached, cached, found, found, weighed, began=time.monotonic())
        self._say(f"{title}: {total} tasks, {cached} found on disk")

    def step(self, name: str) -> None:
        """One more task is done."""
        line = self.lines[name]
        line.done += 1
        if not line.weighed:
            line.share = line.done / line.total
        self.refresh()

    def see(self, name: str, share: float) -> None:
        """So much of a stage's work is done, between two tasks."""
        self.lines[name].share = max(self.lines[name].share, min(share, 1.0))
        self.refresh()

    def end(self, name: str) -> None:
        """A stage is over."""
        line = self.lines[name]
        line.seconds, line.share = time.monotonic() - (line.began or 0.0), 1.0
        self._say(f"{line.title}: done in {tell(line.seconds)}")

    def refresh(self) -> None:
        """In a pipe: now and then a line; a terminal redraws itself."""
        line = self.lines[self.now]
        if self._live is None and time.monotonic() - self._said > PIPED_EVERY:
            self._say(f"{line.title}: {line.done} of {line.total}, about {tell(self.left())} left in all")

    def left(self) -> float:
        """Seconds that the rest may take, from what the stages so far took against what was expected."""
        expected = EXPECTED[self.size]
        spent = work = rest = 0.0
        for name, line in self.lines.items():
            if line.seconds is not None:
                spent, work = spent + line.seconds, work + expected[name] * (1.0 - line.found)
            elif line.began is not None:
                spent += time.monotonic() - line.began
                work += expected[name] * (line.share - line.found)
                rest += expected[name] * (1.0 - line.share)
            else:
                rest += expected[name]
        return rest * (spent / work if work > 0.02 * sum(expected.values()) else 1.0)

    def draw(self) -> Group:
        """The table of stages and one line below."""
        table = Table(box=None, padding=(0, 1))
        for head in ("stage", "", "tasks", "on disk", "time"):
            table.add_column(head, justify="left" if head in ("stage", "") else "right")
        for line in self.lines.values():
            state = "waits" if line.began is None else f"{line.done}/{line.total}"
            spent = line.seconds
            if spent is None and line.began is not None:
                spent = time.monotonic() - line.began
            table.add_row(
                line.title,
                ProgressBar(total=1.0, completed=line.share, width=24),
                state,
                str(line.cached) if line.cached else "",
                "" if spent is None else tell(spent),
            )
        return Group(table, f"about {tell(self.left())} left; stop at any time, the same command goes on")

    def _say(self, sentence: str) -> None:
        self._said = time.monotonic()
        if self._live is None:
            print(sentence, file=sys.stderr, flush=True)


def tell(seconds: float) -> str:
    """A duration for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"
