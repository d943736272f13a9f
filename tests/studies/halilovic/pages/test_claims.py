"""Verdicts follow from figures by rule, and can come out either way."""

from collections.abc import Callable
from typing import Any

import pytest

from laserloop.studies.halilovic.claims import judge_paper
from laserloop.studies.halilovic.results import Results

Found = dict[str, Any]
KEYS = ("C1", "C2", "C3", "C4", "C5", "Finding")


def gather(found: Found) -> Results:
    return Results(settings={"name": "full"}, **{name.split("/")[-1]: part for name, part in found.items()})


def judge(found: Found, *, clock: bool = True) -> dict[str, str]:
    return {claim.key: claim.verdict for claim in judge_paper(gather(found), clock=clock)}


def find_run(found: Found, label: str, path: str) -> Found:
    rows: list[Found] = found["closed_loop"]["table_2"]
    return next(r for r in rows if (r["label"], r["path"]) == (label, path))


def test_the_papers_own_figures_confirm_all_its_claims(found: Found) -> None:
    assert judge(found) == dict.fromkeys(KEYS, "confirmed")


def test_every_sentence_is_judged_once_and_obeyed_by_the_papers_own_figures(found: Found) -> None:
    checks = [check for claim in judge_paper(gather(found), clock=True) for check in claim.checks]
    assert len({check.key for check in checks}) == len(checks) == 76
    assert [check.key for check in checks if not check.holds] == []


def spoil_preview(found: Found) -> None:
    next(p for p in found["ablations"]["points"] if p["value"] == "loc")["unseen"] = 13.0


def spoil_corner_data(found: Found) -> None:
    find_run(found, "corner", "diagonal")["n_over"] = 22


def spoil_convergence(found: Found) -> None:
    find_run(found, "corner", "spiral")["statuses"] = {"solved": 49, "iteration cap reached": 1}


def spoil_place(found: Found) -> None:
    series = find_run(found, "baseline", "diagonal")["series"]
    series["t_predicted_k"][-1] = series["t_true_k"][-1] - 120.0


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
        (spoil_corner_data, {"C4"}),
        (spoil_convergence, {"C3"}),
        (spoil_place, {"C4"}),
        (spoil_margin, {"C4"}),
        (spoil_power, {"C5"}),
        (spoil_likeness, {"C2", "Finding"}),
    ],
)
def test_a_figure_that_breaks_a_rule_makes_its_claim_hold_only_in_part(
    found: Found, spoil: Callable[[Found], None], keys: set[str]
) -> None:
    spoil(found)
    assert {key for key, word in judge(found).items() if word == "partly"} == keys


def set_worst(found: Found, model: str, worst: float) -> None:
    row = next(r for r in found["table_1"]["rows"] if (r["path"], r["model"]) == ("diagonal", model))
    row["max_error_k"] = worst


def find_holds(found: Found, key: str) -> bool:
    claims = [check for claim in judge_paper(gather(found)) for check in claim.checks]
    return next(claim.holds for claim in claims if claim.key == key)


def test_offline_figures_that_all_rank_the_models_as_the_loop_does_contradict_the_finding(
    found: Found,
) -> None:
    row = next(r for r in found["table_1"]["rows"] if (r["path"], r["model"]) == ("diagonal", "paper-corner"))
    assert find_holds(found, "finding.rank")  # the mean calls the failing model the better one
    row["rmse_mean_k"] = 12.0
    assert not find_holds(found, "finding.rank")
    set_worst(found, "paper-corner", 90.0)
    assert find_holds(found, "finding.rank")


def test_models_that_fail_alike_in_the_loop_confirm_no_finding(found: Found) -> None:
    for label in ("baseline", "corner"):
        find_run(found, label, "diagonal").update(n_over=9, overshoot_k=30.0)
    assert not find_holds(found, "finding.rank")


def test_ticks_above_the_bound_spread_over_the_path_are_not_those_of_one_reversal(found: Found) -> None:
    series = find_run(found, "baseline", "diagonal")["series"]
    assert find_holds(found, "c4.run")
    series["t_true_k"][45] = 790.0  # the run is cut in two
    assert not find_holds(found, "c4.run")


def test_an_error_far_from_every_turn_is_not_local(found: Found) -> None:
    series = find_run(found, "baseline", "diagonal")["series"]
    assert find_holds(found, "c4.local")
    series["t_predicted_k"][60:90] = [true + 25.0 for true in series["t_true_k"][60:90]]
    assert not find_holds(found, "c4.local")


def test_a_claim_of_which_nothing_holds_is_not_confirmed(found: Found) -> None:
    spoil_likeness(found)
    set_worst(found, "paper-corner", 30.0)
    for label in ("baseline", "corner"):
        find_run(found, label, "diagonal").update(n_over=0, overshoot_k=0.0)
    del found["ablations"]  # without horizons
    assert judge(found)["Finding"] == "not"


def test_a_sentence_without_its_figures_is_not_judged_and_the_others_are(found: Found) -> None:
    del found["closed_loop"], found["table_1"]
    words = judge(found, clock=False)
    assert (words["C1"], words["C2"], words["C3"], words["C4"]) == (
        "confirmed",
        "not judged",
        "not judged",
        "confirmed",  # by the margins
    )


def test_only_the_fifth_claim_and_a_sentence_about_solve_times_look_at_a_clock(found: Found) -> None:
    found["clock/timing"]["forward"]["ratio_numpy"] = 400.0
    found["clock/timing"]["loops"][-1]["solve_ms"]["mean"] = 30.0
    words = judge(found)
    assert (words["C3"], words["C5"]) == ("partly", "partly")
    assert judge(found, clock=False) == dict.fromkeys(KEYS, "confirmed")


def test_no_ticks_too_hot_at_all_confirm_no_cure(found: Found) -> None:
    for label in ("baseline", "corner"):
        find_run(found, label, "diagonal").update(n_over=0, overshoot_k=0.0)
    words = judge(found)
    assert words["C4"] == words["Finding"] == "partly"
