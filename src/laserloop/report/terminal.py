"""The terminal: what people see while they wait and when it is done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import Progress

PIPED_WIDTH = 120  # characters, in a pipe or a file


def show(thing: RenderableType) -> None:
    """On standard output: text or a table."""
    piped = not sys.stdout.isatty()
    console = Console(width=PIPED_WIDTH if piped else None, highlight=False, markup=False)
    console.print(thing, soft_wrap=piped and isinstance(thing, str))


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, fed with what is done and what there is in all; nothing in a pipe or a file."""
    if not sys.stderr.isatty():
        yield None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(what), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
