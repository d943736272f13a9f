"""How the diagonal meets its corners: ways to sample the same bow-tie that a paper need not mention."""

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from laserloop.loop.cache import solve_case
from laserloop.loop.case import TICKS, Hooks, LoopCase, record_case
from laserloop.paths import DEFAULT_SPEED, DEFAULT_TICK, ScanPath, find_path, trace_diagonal
from laserloop.predict.networks import find_model

DETAILS = {
    "as named": "equal hops along the way; a corner falls inside a tick",
    "on the vertex": "each leg in equal hops of its own; a tick ends on every corner",
    "dwell 1": "the same, and the beam rests on each corner for a tick",
    "dwell 4": "the same, for 4 ticks",
}


def make_detail(detail: str, ticks: int = TICKS) -> ScanPath:
    """The diagonal with corners of a kind."""
    if detail == "as named":
        return find_path("diagonal", ticks=ticks)
    rest = int(detail.split()[1]) if detail.startswith("dwell") else 0
    hop = DEFAULT_SPEED * DEFAULT_TICK
    corners = trace_diagonal(hop * (ticks + 1))
    points = [corners[:1]]
    for start, end in itertools.pairwise(corners):
        count = max(1, round(float(np.hypot(*(end - start))) / hop))
        share = np.arange(1, count + 1)[:, np.newaxis] / count
        points += [start + share * (end - start), np.repeat(end[np.newaxis], rest, axis=0)]
    return ScanPath(name=f"diagonal, {detail}", positions=np.concatenate(points)[: ticks + 1])


def run_detail(detail: str, name: str, root: Path, *, ticks: int = TICKS) -> dict[str, Any]:
    """A model without a margin on the diagonal with such corners; from disk if it is there."""
    return solve_case(root / "details", name_detail(detail, name, ticks), partial(_run, detail, name, ticks))


def name_detail(detail: str, name: str, ticks: int) -> dict[str, Any]:
    """What names the case."""
    model = find_model(name).provenance["identity"]
    return {"study": "corner details", "detail": detail, "model": model, "ticks": ticks}


def _run(detail: str, name: str, ticks: int) -> dict[str, Any]:
    case = LoopCase(path="diagonal", controller="ipopt", model=name, ticks=ticks)
    return record_case(case, Hooks(path=make_detail(detail, ticks)))
