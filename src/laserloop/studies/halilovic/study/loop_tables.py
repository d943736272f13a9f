"""The closed loops of the paper's Tables 2 and 3, those beside them, and the scenarios of real time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from laserloop.loop.scenario import TICKS, Scenario
from laserloop.process import Process

PATHS = ("vertical", "spiral", "diagonal")
DELTA_K = 13.0  # the paper's margin
BASE, CORNER = "paper-base", "paper-corner"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a table: what it is called there, and the case behind it."""

    label: str
    case: Scenario


def _on(paths: tuple[str, ...], label: str, **settings: Any) -> list[Entry]:
    return [Entry(label, Scenario(path=path, **settings)) for path in paths]


def list_table_2(
    controller: str = "ipopt",
    delta_k: float = DELTA_K,
    *,
    models: tuple[str, str] = (BASE, CORNER),
    **settings: Any,
) -> list[Entry]:
    """The paper's nine runs; `models` are those of both ensembles, `settings` those of every case."""
    base, corner = ({"controller": controller, "model": model, **settings} for model in models)
    return [
        *_on(PATHS, "baseline", **base),
        *_on(PATHS, "corner", **corner),
        *_on(PATHS, "corner + δ", **corner, delta_k=delta_k),
    ]


def list_others(*, ticks: int = TICKS) -> list[Entry]:
    """The same paths under the controllers without a model, and under the oracle."""
    others = ("pi", "constant", "feedforward", "oracle")
    return [entry for other in others for entry in _on(PATHS, other, controller=other, ticks=ticks)]


def list_seeds(models: Mapping[str, str], *, delta_k: float = DELTA_K, **settings: Any) -> list[Entry]:
    """Models by labels "base …" without a margin, "corner …" with and without, on every path."""
    entries = []
    for label, model in models.items():
        usual = {"controller": "ipopt", "model": model, **settings}
        entries += _on(PATHS, label, **usual)
        if not label.startswith("base"):
            entries += _on(PATHS, f"{label} + δ", **usual, delta_k=delta_k)
    return entries


def list_table_3(models: Mapping[str, str], **settings: Any) -> list[Entry]:
    """Runs without a margin of the models given by the row's name, such as "N_h = 3" or "SS-AR"."""
    entries = []
    for label, model in models.items():
        paths = PATHS if label.startswith("SS-AR") else ("vertical", "diagonal")
        entries += _on(paths, label, controller="ipopt", model=model, **settings)
    return entries


def list_scenarios(
    slow: tuple[float, ...] = (),
    quick: tuple[float, ...] = (),
    alone: tuple[float, ...] = (),
    *,
    model: str = CORNER,
    delta_k: float = DELTA_K,
    ticks: int = TICKS,
) -> list[Entry]:
    """Late cameras, slow cameras and late answers on the unseen diagonal.

    Measured times, s: of whole ticks in Python with IPOPT (`slow`) and with the compiled solver (`quick`),
    and of the latter's call `alone`.
    """
    usual = Scenario(path="diagonal", controller="realtime", model=model, delta_k=delta_k, ticks=ticks)
    rare = replace(usual, process=Process().change(every_ticks=4))
    ipopt = replace(usual, controller="ipopt")
    late = {n: replace(usual, process=Process().change(delay_ticks=n)) for n in (1, 2)}
    cases = {
        "8 kHz, no delay": usual,
        "image 1 tick late": late[1],
        "image 1 tick late, not compensated": replace(late[1], compensate=False),
        "image 2 ticks late": late[2],
        "image 2 ticks late, not compensated": replace(late[2], compensate=False),
        "camera at 2 kHz": rare,
        "camera at 2 kHz, not compensated": replace(rare, compensate=False),
        "compiled solver, its call charged": replace(usual, solve_s=alone),
        "compiled solver, whole tick in Python charged": replace(usual, solve_s=quick),
        "IPOPT, not charged": ipopt,
        "IPOPT, charged, late plan shifted": replace(ipopt, solve_s=slow),
        "IPOPT, charged, plan from start": replace(ipopt, solve_s=slow, policy="late"),
        "IPOPT, 3 powers of a plan": replace(ipopt, apply=3),
        "IPOPT, 5 powers of a plan": replace(ipopt, apply=5),
    }
    return [Entry(label, case) for label, case in cases.items()]
