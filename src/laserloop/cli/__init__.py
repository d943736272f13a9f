"""The command line: one verb per room. Heavy imports wait inside the verbs, so that --help is fast."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Literal

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnknownCommandError,
    UnusedCliTokensError,
)
from cyclopts.help import DefaultFormatter, PanelSpec

from laserloop.bad_input import BadInput

app = App(
    name="laserloop",
    help="""Keep the peak temperature of a moving laser inside its process window.

For example:

    laserloop demo
    laserloop simulate spiral --plant graded --power-w 11
    laserloop control diagonal --plot run.png
""",
    version=lambda: import_module("laserloop.versions").describe_versions(),
    version_format="plaintext",
    help_format="markdown",
    suppress_keyboard_interrupt=False,
)
bench = App(
    name="bench",
    help="""Measure speed on this machine.

For example:

    laserloop bench plant --reference-steps 20
    laserloop bench mpc --problems 100 --json out/bench_mpc.json
""",
)
app.command(bench)
VERBS = (
    *("demo", "init", "check", "plan", "simulate", "control", "ensemble", "train", "evaluate", "calibrate"),
    *("identify", "replay", "export", "arena", "reproduce", "report", "view", "doctor"),
)
FILES = {"report": "reproduce"}  # of verbs that have none of their own
for verb in VERBS:
    app.command(f"laserloop.cli.{FILES.get(verb, verb)}:{verb}")
for timed in ("plant", "train", "mpc"):
    bench.command(f"laserloop.cli.bench:bench_{timed}", name=timed)

KEEPERS = {  # verbs that go on, and the option that they need for it
    **dict.fromkeys(("ensemble", "train", "arena", "reproduce"), ""),
    "simulate": "--out",
    "plan": "--keep",
}


def main(tokens: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 2 for bad input, 130 for Ctrl-C, or what the verb returns."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app.help_formatter = None if sys.stdout.isatty() else _format_for_pipes()
    warnings.showwarning = _show_warning
    try:
        status = app(tokens, print_error=False, exit_on_error=False, result_action="return_value")
        sys.stdout.flush()
    except (CycloptsError, BadInput, MemoryError) as error:
        return _refuse(_explain(error))
    except BrokenPipeError:  # whoever read our output has seen enough
        _leave_stdout()
        return 141
    except OSError as error:
        if error.filename is None:
            _leave_stdout()
        return _refuse(_explain(error))
    except KeyboardInterrupt:
        print(f"laserloop: interrupted; {_say_how_to_go_on(tokens)}.", file=sys.stderr)
        return 130
    return status if isinstance(status, int) else 0


def _say_how_to_go_on(tokens: Sequence[str] | None) -> str:
    """What is left of a command that was interrupted, by its verb."""
    given = list(sys.argv[1:] if tokens is None else tokens)
    verb = given[0] if given else ""
    keeper = KEEPERS.get(verb)
    if keeper is None:
        return "nothing was kept, so the same command begins anew"
    if keeper and not any(token.partition("=")[0] == keeper for token in given):
        return f"nothing was kept; with {keeper} DIR the same command goes on where it stopped"
    return "the same command goes on where it stopped"


def _format_for_pipes() -> DefaultFormatter:
    """Help with rules instead of boxes: what a pipe or a file gets is searched and pasted."""
    from rich.box import Box

    return DefaultFormatter(panel_spec=PanelSpec(box=Box("────\n" + "    \n" * 7), padding=(0, 0)))


def _explain(error: Exception) -> object:
    """The sentence of an error, in our words where we have them."""
    if isinstance(error, UnusedCliTokensError):
        return f"nothing may follow here, but got {' '.join(error.unused_tokens or ())!r}; try --help"
    if isinstance(error, UnknownCommandError):
        told = str(error).partition(" Available commands:")[0].rstrip(".")
        return told if told.endswith("?") else f"{told}; try --help"
    if isinstance(error, MissingArgumentError) and error.argument is not None and not error.argument.tokens:
        verb = f"`{' '.join(('laserloop', *(error.command_chain or ())))}`"
        return f"{verb} needs {error.argument.name}, which is not there; try --help"
    if isinstance(error, MemoryError):
        return "the grid must fit into memory, but does not; take a smaller plate or a wider beam"
    if isinstance(error, OSError):
        what = error.filename or "standard output"
        return f"{what} must be readable and writable, but is not ({error.strerror or error})"
    return error.__cause__ if isinstance(error.__cause__, BadInput) else error


def _leave_stdout() -> None:
    """What is still buffered goes nowhere, so that the interpreter does not fail over it once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a sentence, not as a line of source."""
    print(f"laserloop: note: {' '.join(str(message).split()).rstrip('.')}.", file=sys.stderr)


def _refuse(sentence: object) -> int:
    told = " ".join(str(sentence).split()).rstrip(".")
    print(f"laserloop: {told}{'' if told.endswith('?') else '.'}", file=sys.stderr)
    return 2


@app.command
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell that shall complete.")], /
) -> None:
    """Print the script that lets a shell complete verbs, options and choices; nothing is installed.

    For example:

        source <(laserloop completion bash)
        laserloop completion zsh > ~/.zfunc/_laserloop
        laserloop completion fish > ~/.config/fish/completions/laserloop.fish
    """
    sys.stdout.write(app.generate_completion(shell=shell))
