"""Errors as a set: every sentence that refuses something ends with what to do about it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "src" / "laserloop"
DO = re.compile(
    r"(add|ask|begin|build|calibrate|change|check|choose|complete|control|convert|copy|correct|count|cut|declare|delete|draw"
    r"|drop|export|find|fit|give|hatch|indent|install|keep|leave|lengthen|let|look|lower|make|measure|mend|move|name|narrow|pip"
    r"|plan|put|raise|record|reinstall|reload|remove|rename|reset|run|sample|save|say|scan|send|set|shorten|sort|split|spread"
    r"|start|stay|stop|store|take|train|try|tune|update|use|wait|widen|write)\b"
)
# What says as much without a verb: a good value, what a value means, or words chosen where it is known.
AS_GOOD = re.compile(r"the default is |[\d.(-]+ is |\(-1, -1\) is |its (speed|number) |\{")


def read_sentences() -> Iterator[tuple[str, str]]:
    for file in sorted(HOUSE.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "BadInput" and call.args:
                yield f"{file.relative_to(HOUSE)}:{call.lineno}", read(call.args[0])


def read(node: ast.expr) -> str:
    """A sentence as it is written, {} for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(read(part) for part in node.values)
    return "{}"


def tells_what_to_do(sentence: str) -> bool:
    parts = re.split(r"[;:] ", sentence.rstrip("."))[1:]
    return any(DO.match(part) or AS_GOOD.match(part) for part in parts[-2:])


def test_every_refusal_ends_with_what_to_do() -> None:
    sentences = dict(read_sentences())
    assert len(sentences) > 350  # they are found at all
    spoken = {place: said for place, said in sentences.items() if said != "{}"}  # made elsewhere: see below
    assert {place: said for place, said in spoken.items() if not tells_what_to_do(said)} == {}
    assert len(sentences) - len(spoken) < 8


@pytest.mark.parametrize(
    "sentence",
    [
        "the beam's sigma must be a positive length in m, got {}",
        "the log {} must be readable, but is not ({})",
        "{}: a frame must lie in the folder of {}, but is {}",
        "the model was bad: it is what it is",
    ],
)
def test_a_refusal_that_only_complains_is_noticed(sentence: str) -> None:
    assert not tells_what_to_do(sentence)
