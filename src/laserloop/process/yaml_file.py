"""Files of settings: read within limits, as plain YAML in which every key comes once."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from laserloop.bad_input import BadInput


def read_text(file: str | Path, rule: str, largest: int) -> str:
    """What is in `file`; `rule` begins the sentence that says what it must be."""
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(largest + 1)
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the name
        reason = getattr(problem, "strerror", None) or "not a path"
        raise BadInput(f"{rule} readable, but is not ({reason}); check its name.") from None
    if len(content) > largest:
        raise BadInput(f"{rule} at most {largest} bytes long, but is longer; keep only what is needed.")
    if not content.strip():
        raise BadInput(f"{rule} filled, but is empty; start from one that is shipped.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadInput(f"{rule} UTF-8 text, but byte {problem.start + 1} is not; save it as text.") from None


def load_yaml(text: str, noun: str, where: str) -> object:
    """The content of a YAML text; what is no YAML, an alias or a key that comes twice is refused."""
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except Exception as problem:  # PyYAML leaks KeyError, AttributeError, RecursionError and more
        line = getattr(getattr(problem, "problem_mark", None), "line", None)
        place = where if line is None else f"line {line + 1} of {where}"
        told = problem.problem if isinstance(problem, _NotPlain) else "cannot be read as such"
        raise BadInput(f"{noun} must be plain YAML, but {place} {told}; correct it.") from None


class _NotPlain(yaml.MarkedYAMLError):
    """YAML that a program writes, not a person."""


class _PlainLoader(yaml.SafeLoader):
    """Safe YAML without aliases, which a few lines can grow beyond any memory, and without double keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # of PyYAML's stubs
            raise _NotPlain(problem="has an alias", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set[str]()
        for key, _ in node.value:
            if str(key.value) in seen:
                raise _NotPlain(problem=f"has the key {key.value[:40]!r} twice", problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)
