"""WHAT PEOPLE TYPE: a verb parses, calls its room and publishes; rooms wait until a verb needs them.

May import every room, and none imports it.
"""

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
VERBS = {  # file → verb → its sentence in the list; a file is imported when one of its verbs is called
    "run": {
        "demo": "Four controllers on a path with sharp turns, side by side on one page.",
        "simulate": "Heat a plate along a path, open loop, and report its peak temperature.",
        "control": "Keep the peak temperature in its window along a path, and score how well that went.",
    },
    "plan": {
        "init": "Write a process file to begin with, a comment on every number.",
        "check": "Say whether a process can work, and what in it is implausible.",
        "plan": "Give a file the powers that keep its peak temperature in the window, without any camera.",
    },
    "learn": {
        "ensemble": "Make the episodes that a surrogate learns from.",
        "train": "Train a surrogate by the paper's protocol.",
        "evaluate": "Score a surrogate on trajectories it was not trained on.",
        "calibrate": "Find how far inside the window plans must stay, so that the truth stays in it.",
    },
    "log": {
        "identify": "Fit a process to a recorded run, with 95 % intervals.",
        "replay": "Show recorded measurements to a controller, and write down what it would have commanded.",
    },
    "study": {
        "arena": "Let every controller meet the same tasks, and rank them with decision times charged.",
        "reproduce": "Run the whole paper from nothing to its report.",
        "report": "Write the page and the tables of a reproduction again.",
        "bench plant": "Time a step of both plants, and of a SciPy sparse Newton solver.",
        "bench train": "Time an epoch of training.",
        "bench mpc": "Time one tick of the paper's IPOPT, of ours and of the compiled solvers.",
    },
    "ship": {
        "export": "Write the controller as dependency-free C99 that runs inside a tick.",
        "view": "The live bench: start runs in a browser, steer them, and compare them with stored ones.",
        "doctor": "Say what works on this machine, and what would help.",
    },
}
app.command(bench)
for file, sentences in VERBS.items():
    for verb, sentence in sentences.items():
        place = f"laserloop.cli.{file}:{verb.replace(' ', '_')}"
        group, name = (bench, verb.partition(" ")[2]) if " " in verb else (app, verb)
        group.command(place, name=name, help=sentence)

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
    _take_own_help(sys.argv[1:] if tokens is None else tokens)
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


def _take_own_help(tokens: Sequence[str]) -> None:
    """The verb that is called explains itself by its docstring, not by its sentence in the list."""
    group = app
    for token in tokens:
        if token.startswith("-") or token not in group:
            return
        group = group[token]
        if group.default_command is not None:
            group.help = None


def _say_how_to_go_on(tokens: Sequence[str] | None) -> str:
    """What is left of a command that was interrupted, by its verb."""
    words = list(sys.argv[1:] if tokens is None else tokens)
    verb = words[0] if words else ""
    keeper = KEEPERS.get(verb)
    if keeper is None:
        return "nothing was kept, so the same command begins anew"
    if keeper and not any(token.partition("=")[0] == keeper for token in words):
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
        sentence = str(error).partition(" Available commands:")[0].rstrip(".")
        return sentence if sentence.endswith("?") else f"{sentence}; try --help"
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
    text = " ".join(str(sentence).split()).rstrip(".")
    print(f"laserloop: {text}{'' if text.endswith('?') else '.'}", file=sys.stderr)
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
