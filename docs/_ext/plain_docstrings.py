"""Docstrings as they are written here, for autodoc: plain words, `names`, equations, fields with comments.

reStructuredText would take |a|, a* and `a` for marks of its own.
"""

import ast
import inspect
import io
import pydoc
import re
import textwrap
import tokenize
from dataclasses import is_dataclass
from typing import Any

from sphinx.application import Sphinx

NAMED = re.compile(r"`([^`]+)`")
MARKS = re.compile(r"([*|_\\])")
ARRAYS = {
    re.compile(r"~?[\w.]*ndarray\[~?tuple\[~?[\w.]*Any, \.\.\.\], ~?[\w.]*dtype\[~?[\w.]*\]\]"): "array",
    re.compile(r"~?[\w.]*_Buffer \| .*?_NestedSequence\[.*?\](?=[,)])"): "array",
}


def soften(lines: list[str]) -> list[str]:
    """The same text with names as literals and no other marks; an indented block stays a block."""
    softened: list[str] = []
    for line in lines:
        parts = NAMED.split(line)
        parts[::2] = [MARKS.sub(r"\\\1", part) for part in parts[::2]]
        parts[1::2] = [f"``{name}``" for name in parts[1::2]]
        softened.append(("| " if line.startswith(" ") else "") + "".join(parts).strip())
    return softened


def read_comment(owner: type, field: str) -> str:
    """The comment beside a field of a dataclass: its unit, and what more of it does."""
    source = textwrap.dedent(inspect.getsource(owner))
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    for entry in body.body:
        if isinstance(entry, ast.AnnAssign) and getattr(entry.target, "id", "") == field:
            lines = range(entry.lineno, (entry.end_lineno or entry.lineno) + 1)
            said = [t.string for t in tokens if t.type == tokenize.COMMENT and t.start[0] in lines]
            return " ".join(comment.lstrip("# ") for comment in said)
    return ""


def process(_: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Soften a docstring where it stands; a field has its comment for one."""
    owner = pydoc.locate(name.rpartition(".")[0]) if what == "attribute" else None
    if isinstance(owner, type) and is_dataclass(owner):
        lines[:] = [read_comment(owner, name.rpartition(".")[2])]
    lines[:] = soften(lines)
    if (
        isinstance(thing, type) and is_dataclass(thing) and "__slots__" not in vars(thing)
    ):  # asked for no fields
        comments = {field: read_comment(thing, field) for field in thing.__dataclass_fields__}
        lines += [f"- ``{field}``  {soften([said])[0]}" for field, said in comments.items() if said] + [""]


def shorten(_: Sphinx, what: str, name: str, thing: Any, options: Any, given: Any, returned: Any) -> Any:
    """Signatures in which an array is an array; attributes have none."""
    if given is None:
        return None
    for pattern, word in ARRAYS.items():
        given, returned = (pattern.sub(word, part or "") for part in (given, returned))
    return given, returned or None


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True}
