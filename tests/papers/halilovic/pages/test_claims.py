"""Verdicts follow from figures by rule, and can come out either way."""

from collections.abc import Callable
from typing import Any

import pytest

from laserloop.papers.halilovic.pages.claims import judge_paper
from laserloop.papers.halilovic.pages.results import Results

Found = dict[str, Any]
KEYS = ("C1", "C2", "C3", "C4", "C5", "Finding")


def gather(found: Found) -> Results:
    return Results(settings={"name": "full"}, **{name.split("/")[-1]: part for name, part in found.items()})


def judge(found: Found, *, clock: bool = True) -> dict[str, str]:
    return {verdict.key: verdict.word for verdict in judge_paper(gather(found), clock=clock)}


def find_run(found: Found, label: str, path: str) -> Found:
    rows: list[Found] = found["closed_loop"]["table_2"]
    return next(r for r in rows if (r["label"], r["path"]) == (label, path))


def test_the_papers_own_figures_confirm_all_its_claims(found: Found) -> None:
    assert judge(found) == dict.fromkeys(KEYS, "confirmed")


def spoil_preview(found: Found) -> None:
    next(p for p in found["ablations"]["points"] if p["value"] == "loc")["unseen"] = 13.0


def spoil_corner_data(found: Found) -> None:
    find_run(found, "corner", "diagonal")["n_over"] = 22


def spoil_convergence(found: Found) -> None:
    find_run(found, "corner", "spiral")["statuses"] = {"solved": 49, "iteration cap reached": 1}


def spoil_place(found: Found) -> None:
    worst = {"residual_k": -91.0, "x_mm": 1.5, "y_mm": 1.5, "t_ms": 19.0}
    find_run(found, "baseline", "diagonal")["worst_residual"] = worst


def spoil_margin(found: Found) -> None:
    find_run(found, "corner + δ", "spiral").update(n_over=1, overshoot_k=0.5)


def spoil_power(found: Found) -> None:
    find_run(found, "baseline", "vertical")["power_mean_w"] = 12.0


def spoil_likeness(found: Found) -> None:
    next(r for r in found["table_1"]["rows"] if (r["path"], r["model"]) == ("diagonal", "paper-corner"))[
        "rmse_mean_k"
    ] = 26.0


@pytest.mark.parametrize(
    ("spoil", "keys"),
    [
        (spoil_preview, {"C1"}),
        (spoil_corner_data, {"C2", "Finding"}),
        (spoil_convergence, {"C3"}),
        (spoil_place, {"C4"}),
        (spoil_margin, {"C4"}),
        (spoil_power, {"C5"}),
        (spoil_likeness, {"Finding"}),
    ],
)
def test_a_figure_that_breaks_a_rule_makes_its_claim_hold_only_in_part(
    found: Found, spoil: Callable[[Found], None], keys: set[str]
) -> None:
    spoil(found)
    assert {key for key, word in judge(found).items() if word == "partly"} == keys


def test_a_claim_of_which_nothing_holds_is_not_confirmed(found: Found) -> None:
    for label in ("baseline", "corner"):
        find_run(found, label, "diagonal").update(n_over=0, overshoot_k=0.0)
    spoil_likeness(found)
    del found["ablations"]  # without horizons
    assert judge(found)["Finding"] == "not"


def test_a_claim_without_its_stage_is_not_judged(found: Found) -> None:
    del found["closed_loop"]
    words = judge(found)
    assert words["C1"] == "confirmed"
    assert {words[key] for key in KEYS[1:]} == {"not judged"}


def test_only_the_fifth_claim_looks_at_a_clock(found: Found) -> None:
    found["clock/timing"]["forward"]["ratio_numba"] = 400.0
    assert judge(found)["C5"] == "partly"
    assert judge(found, clock=False) == dict.fromkeys(KEYS, "confirmed")


def test_no_ticks_too_hot_at_all_confirm_no_cure(found: Found) -> None:
    for label in ("baseline", "corner"):
        find_run(found, label, "diagonal").update(n_over=0, overshoot_k=0.0)
    words = judge(found)
    assert words["C2"] == words["C4"] == words["Finding"] == "partly"
