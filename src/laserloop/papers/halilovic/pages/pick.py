"""Finding records by what they are called."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.study.plant_accuracy import PAPER
from laserloop.papers.halilovic.study.published import TABLE_2

LABELS = BASE, CORNER, GUARDED = ("baseline", "corner", "corner + δ")
NAMES = {BASE: "baseline model", CORNER: "corner model", GUARDED: "corner model with δ"}


def find(records: Iterable[Record], label: str, path: str) -> Record | None:
    """The record of that label on that path."""
    return next((r for r in records if (r["label"], r["path"]) == (label, path)), None)


def read_loops(results: Results) -> list[Record]:
    """The rows of Table 2 that the paper has too."""
    return [r for r in _list(results, "table_2") if (r["label"], r["path"]) in TABLE_2]


def read_others(results: Results) -> list[Record]:
    """Runs beside Table 2 that the paper has not."""
    beside = [r for r in _list(results, "table_2") if (r["label"], r["path"]) not in TABLE_2]
    return [*beside, *_list(results, "others")]


def read_asked(results: Results) -> list[Record]:
    """Every loop of the paper's tables and of the seeds that IPOPT decided."""
    loops = [*read_loops(results), *_list(results, "table_3"), *_list(results, "seeds")]
    return [r for r in loops if str(r["controller"]).startswith("ipopt")]


def read_rows(results: Results, name: str) -> list[Record]:
    """A list of closed-loop records by its name."""
    return _list(results, name)


def find_offline(results: Results, path: str, model: str) -> Record | None:
    """A row of Table 1."""
    rows: Sequence[Mapping[str, Any]] = (results.table_1 or {}).get("rows", [])
    return next((row for row in rows if (row["path"], row["model"]) == (path, model)), None)


def _list(results: Results, name: str) -> list[Record]:
    return list((results.closed_loop or {}).get(name, []))


def count_ticks(count: int) -> str:
    """A number of ticks in words."""
    return f"{count} tick{'s' * (count != 1)}"


def find_ripple(results: Results) -> float | None:
    """The most that T_max of the paper's plant ripples at constant power, K."""
    if results.plant is None:
        return None
    return max(float(cell["node_ripple_k"]) for cell in results.plant["plants"][PAPER].values())
