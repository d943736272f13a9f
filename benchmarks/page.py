"""Tables of the pages under docs/results/."""

from collections.abc import Iterable, Sequence


def format_rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    lines.insert(1, "|" + "---|" * len(heads))
    return "\n".join(lines) + "\n"
