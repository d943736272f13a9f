"""Corners of the diagonal: the same way, met differently."""

import numpy as np
import pytest

from laserloop.papers.halilovic.study.corner_details import DETAILS, make_detail
from laserloop.paths import find_path

VERTEX = np.array([-1.5e-3, -1.5e-3])


@pytest.mark.parametrize("detail", DETAILS)
def test_every_detail_stays_on_the_bow_tie_at_the_same_pace(detail: str) -> None:
    path = make_detail(detail, 120)
    assert len(path) == 120
    named = find_path("diagonal", ticks=2000).positions
    gaps = np.hypot(*(path.positions[:, None] - named[None]).transpose(2, 0, 1)).min(axis=1)
    assert gaps.max() < 40e-6
    hops = np.hypot(*np.diff(path.positions, axis=0).T)
    assert hops.max() == pytest.approx(38e-6, rel=0.02)


@pytest.mark.parametrize(
    ("detail", "ticks"), [("as named", 0), ("on the vertex", 1), ("dwell 1", 2), ("dwell 4", 5)]
)
def test_the_beam_is_seen_on_the_corner_for_so_many_ticks(detail: str, ticks: int) -> None:
    there = np.hypot(*(make_detail(detail, 60).positions - VERTEX).T) < 1e-9
    assert there.sum() == ticks
