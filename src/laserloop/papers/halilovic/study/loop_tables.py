"""Tables 2 and 3 of the paper: its closed loops and ours, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

from laserloop.loop.case import TICKS, LoopCase

PATHS = ("vertical", "spiral", "diagonal")
DELTA_K = 13.0  # the paper's margin
BASE, CORNER = "paper-base", "paper-corner"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a table: what it is called there, and the case behind it."""

    label: str
    case: LoopCase


def list_table_2(
    controller: str = "ipopt",
    delta_k: float = DELTA_K,
    *,
    models: tuple[str, str] = (BASE, CORNER),
    ticks: int = TICKS,
) -> list[Entry]:
    """The paper's nine runs; `models` are those of both ensembles."""
    rows = []
    for label, model, delta in (
        ("baseline", models[0], 0.0),
        ("corner", models[1], 0.0),
        ("corner + δ", models[1], delta_k),
    ):
        rows += [
            Entry(label, LoopCase(path=path, controller=controller, model=model, delta_k=delta, ticks=ticks))
            for path in PATHS
        ]
    return rows


def list_others(*, ticks: int = TICKS) -> list[Entry]:
    """The same paths under the controllers without a model, and under the oracle."""
    return [
        Entry(other, LoopCase(path=path, controller=other, ticks=ticks))
        for other in ("pi", "constant", "feedforward", "oracle")
        for path in PATHS
    ]


def list_seeds(models: Mapping[str, str], *, delta_k: float = DELTA_K, ticks: int = TICKS) -> list[Entry]:
    """Models by labels "base …" without a margin, "corner …" with and without, on every path."""
    entries = []
    for label, model in models.items():
        for delta in (0.0,) if label.startswith("base") else (0.0, delta_k):
            entries += [
                Entry(
                    label + (" + δ" if delta else ""),
                    LoopCase(path=path, controller="ipopt", model=model, delta_k=delta, ticks=ticks),
                )
                for path in PATHS
            ]
    return entries


def list_table_3(models: Mapping[str, str], controller: str = "ipopt", *, ticks: int = TICKS) -> list[Entry]:
    """Runs without a margin of the models given by the row's name, such as "N_h = 3" or "SS-AR"."""
    rows = []
    for label, model in models.items():
        paths = PATHS if label == "SS-AR" else ("vertical", "diagonal")
        graph = "plain" if label == "SS-AR" else "folded"
        rows += [
            Entry(label, LoopCase(path=path, controller=controller, model=model, graph=graph, ticks=ticks))
            for path in paths
        ]
    return rows
