"""The directive `verbs`: a section for every verb of the program, filled with its own --help."""

import io
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from unittest.mock import patch

from cyclopts import App
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from laserloop.cli import app as program
from laserloop.cli import main

WIDTH = 88  # characters of a line of help


def find_verbs(app: App = program, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every verb and, for those that are groups, the verbs in them."""
    for name in sorted(app):
        if not name.startswith("-"):
            yield (*path, name)
            yield from find_verbs(app[name], (*path, name))


def ask_for_help(verb: tuple[str, ...]) -> str:
    """What `laserloop VERB --help` prints into a pipe."""
    with patch.dict(os.environ, COLUMNS=str(WIDTH)), redirect_stdout(io.StringIO()) as printed:
        main([*verb, "--help"])
    lines = (line.rstrip() for line in printed.getvalue().splitlines())
    spaced = "\n".join(f"\n{line}" if line.startswith("──") else line for line in lines)
    return re.sub(r"\n{3,}", "\n\n", spaced)


class Verbs(SphinxDirective):
    """All verbs, in the order of the alphabet."""

    def run(self) -> list[nodes.Node]:
        """A section each."""
        found: list[nodes.Node] = []
        for verb in ((), *find_verbs()):
            title = " ".join(("laserloop", *verb))
            section = nodes.section(ids=[nodes.make_id(title)], names=[title])
            section += nodes.title(text=title)
            section += nodes.literal_block(text=ask_for_help(verb), language="text")
            self.state.document.note_explicit_target(section, section)
            found.append(section)
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.add_directive("verbs", Verbs)
    return {"parallel_read_safe": True}
