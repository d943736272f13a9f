"""The terminal: what people see while they wait and when it is done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import Progress

PIPED_WIDTH = 120  # characters, in a pipe or a file
PIPED_EVERY = 50  # epochs between two lines of losses, in a pipe or a file


class _Losses(Protocol):
    """How far a training is."""

    epoch: int
    training_losses: list[float]
    validation_losses: list[float]
    learning_rates: list[float]
    best_loss: float
    best_epoch: int
    seconds: float


class Bar(Protocol):
    """Is fed with what is done, what there is in all and, where that changes, what is being done."""

    def __call__(self, done: int, total: int, doing: str = "", /) -> None:
        """Show it."""


def show(thing: RenderableType) -> None:
    """On standard output: text or a table."""
    piped = not sys.stdout.isatty()
    console = Console(width=PIPED_WIDTH if piped else None, highlight=False, markup=False)
    console.print(thing, soft_wrap=piped and isinstance(thing, str))


@contextmanager
def show_progress(what: str) -> Iterator[Bar | None]:
    """A bar with the time left on a terminal; nothing in a pipe or a file."""
    if not sys.stderr.isatty():
        yield None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(what), total=None)

        def update(done: int, total: int, doing: str = what, /) -> None:
            bar.update(task, completed=done, total=total, description=escape(doing))

        yield update


@contextmanager
def show_losses(most: int) -> Iterator[Callable[[_Losses], None]]:
    """One live line of losses on a terminal; in a pipe or a file a line now and then."""
    if not sys.stderr.isatty():
        yield lambda losses: _print_now_and_then(_describe_losses(losses), losses.epoch)
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("training", total=most)
        yield lambda losses: bar.update(task, completed=losses.epoch, description=_describe_losses(losses))


def _describe_losses(losses: _Losses) -> str:
    """The latest epoch in one line."""
    return (
        f"epoch {losses.epoch}: loss {losses.training_losses[-1]:.5f}, held out "
        f"{losses.validation_losses[-1]:.5f}, best {losses.best_loss:.5f} at {losses.best_epoch}, "
        f"rate {losses.learning_rates[-1]:g}, {losses.seconds / losses.epoch:.2f} s an epoch"
    )


def _print_now_and_then(line: str, epoch: int) -> None:
    if epoch % PIPED_EVERY == 0:
        print(line, file=sys.stderr, flush=True)
