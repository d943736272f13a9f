"""Where results go: a table for people, JSON for machines, and sentences when a file cannot be written."""

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import RenderableType

from laserloop.bad_input import BadInput
from laserloop.cli.options import take_file
from laserloop.report.figures import check_format, save_figure
from laserloop.report.terminal import show
from laserloop.store import check_target, dump, save

STDOUT = Path("-")

Json = Annotated[
    Path | None,
    take_file(
        "Write the results as JSON to FILE; with - to standard output, and nothing else there.",
        check=lambda file: check_output("--json", file),
    ),
    Parameter(name="--json"),
]
Table = Annotated[
    Path | None,
    take_file("Write the run as a table, one row per tick, units in the names; .csv or .parquet."),
]


def publish(
    numbers: Mapping[str, Any], json_file: Path | None, table: RenderableType, *sentences: str
) -> None:
    """Table and sentences for people, the numbers for machines; on standard output only one of them."""
    if json_file == STDOUT:
        sys.stdout.write(dump(numbers))
        return
    show(table)
    write("--json", json_file, lambda _: dump(numbers))
    for sentence in sentences:
        show(sentence)


def write(option: str, file: Path | None, render: Callable[[Path], str | bytes]) -> None:
    """The file of an option, if one is wanted."""
    if file is not None:
        content = render(file)
        with writing(option):
            save(file, content)


def save_table(file: Path | None, record: Mapping[str, Any]) -> None:
    """The table of a run, if one is wanted."""
    if file is not None:
        from laserloop.logs.export import render_table

        write("--table", file, lambda file: render_table(record, file.suffix))


def draw(option: str, file: Path | None, make: Callable[[], Any]) -> None:
    """The figure of an option, if one is wanted."""
    if file is not None:
        figure = make()
        with writing(option):
            save_figure(file, figure)


def check_output(option: str, file: Path | None) -> None:
    """Refuse a hopeless output before the work, not after it."""
    if file is None or (file == STDOUT and option == "--json"):
        return
    with writing(option):
        check_target(file)
    if option in ("--plot", "--map"):
        check_format(file)
    elif option == "--table":
        from laserloop.logs.export import check_table

        check_table(file)
    elif option == "--field":
        from laserloop.logs.export import check_field

        check_field(file)


def check_outputs(outputs: Mapping[str, Path | None], inputs: Mapping[str, str | Path | None]) -> None:
    """Refuse hopeless outputs, and those that would write over each other or over what is read."""
    for option, file in outputs.items():
        check_output(option, file)
    keep_apart(outputs, inputs)


def keep_apart(outputs: Mapping[str, Path | None], inputs: Mapping[str, str | Path | None]) -> None:
    """Refuse outputs that would write over each other, or over what is read."""
    taken = {Path(file).resolve(): what for what, file in inputs.items() if file and Path(file).is_file()}
    for option, file in outputs.items():
        if file is None or file == STDOUT or (file.exists() and not file.is_file()):
            continue
        if (what := taken.setdefault(file.resolve(), option)) != option:
            raise BadInput(f"{option} must not be the file of {what}, but both are {file}; name another")


@contextmanager
def quiet() -> Iterator[None]:
    """No warning of every tick that leaves the material's range: that is noted once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperatures of .* (the range|the solidus) of material")
        yield


@contextmanager
def writing(option: str) -> Iterator[None]:
    """What the system has against writing becomes a sentence about the option."""
    try:
        yield
    except OSError as problem:
        what, reason = problem.filename or "the file", problem.strerror or problem
        raise BadInput(
            f"{option} must be writable, but {what} is not ({reason}); choose another place"
        ) from problem


def name_command() -> str:
    """What to type for this program in this folder, by whatever way it was started."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{shorten(Path(sys.executable))} -m laserloop"
    installed = shutil.which("laserloop")
    if started.name != "laserloop" or (installed and started.exists() and Path(installed).samefile(started)):
        return "laserloop"
    return shorten(started)


def shorten(file: Path) -> str:
    """A path as one types it here."""
    file, here = Path(os.path.abspath(file)), Path.cwd()  # not resolved: an environment's Python is a link
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
