"""The paper's claims C1–C5 and its closing finding, judged on what the reproduction found."""

from collections.abc import Callable, Sequence

from laserloop.papers.halilovic.pages.claims_loop import judge_c4, judge_c5, judge_finding
from laserloop.papers.halilovic.pages.pick import BASE, CORNER, find, find_offline, read_asked, read_loops
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.verdict import NotThere, Verdict, need
from laserloop.papers.halilovic.study.ablation_claims import (
    judge_both,
    judge_one_shot,
    judge_ss_ar,
    judge_trunk,
    place,
)
from laserloop.papers.halilovic.study.ablation_points import Point
from laserloop.papers.halilovic.study.claim import FACTOR, Claim
from laserloop.papers.halilovic.study.published import TABLE_1
from laserloop.papers.halilovic.study.published_loops import GRADIENT, TABLE_2

SEEN = ("vertical", "spiral")
KINDS = PERSISTENT, RANDOM, BANG = "persistent", "hf-random", "bang-bang"
CLAIMS = {
    "C1": "An MS-DeepONet whose trunk is shown the temperatures where the laser will be.",
    "C2": "Training data from two ensembles, with and without corners, under three kinds of excitation.",
    "C3": "The network as a smooth nonlinear program in a receding-horizon controller with soft constraints.",
    "C4": "Out of distribution: a 91 K under-prediction at a sharp corner, cured by corner data and a "
    "calibrated "
    "margin of 13 K to zero violations.",
    "C5": "Closed loops against a finite-difference plant that stands in for the camera, and what they cost.",
    "Finding": "Aggregate accuracy offline does not certify a surrogate for control.",
}


def judge_paper(results: Results, *, clock: bool = False) -> list[Verdict]:
    """All verdicts in the paper's order; with `clock`, C5 is also judged by measured times."""
    judges: dict[str, Callable[[Results], tuple[str, Sequence[Claim]]]] = {
        "C1": judge_c1,
        "C2": judge_c2,
        "C3": judge_c3,
        "C4": judge_c4,
        "C5": lambda found: judge_c5(found, clock=clock),
        "Finding": judge_finding,
    }
    verdicts = []
    for key, judge in judges.items():
        try:
            says, checks = judge(results)
        except (NotThere, KeyError):  # KeyError: one of its models is not trained yet
            verdicts.append(Verdict(key=key, claim=CLAIMS[key]))
        else:
            verdicts.append(Verdict(key=key, claim=CLAIMS[key], says=says, checks=checks))
    return verdicts


def judge_c1(results: Results) -> tuple[str, Sequence[Claim]]:
    """Previews count, the peak's place adds nothing, predicting in one shot keeps the error flat."""
    points = place(Point(**point) for point in need(results.ablations)["points"])
    temps, loc = points["trunk", "temps"], points["trunk", "loc"]
    says = (
        f"without previews the error on the unseen diagonal goes from {temps.unseen:.1f} to "
        f"{loc.unseen:.1f} K "
        f"({temps.paper_unseen:.1f} to {loc.paper_unseen:.1f} K)"
    )
    judges = (judge_trunk, judge_both, judge_ss_ar, judge_one_shot)
    return says, [claim for judge in judges for claim in judge(points)]


def judge_c2(results: Results) -> tuple[str, Sequence[Claim]]:
    """Corner data cost accuracy on seen paths and buy safety on the unseen one; excitations differ as "
    "said."""
    rows = {
        (path, model): need(find_offline(results, path, f"paper-{model}"))
        for path in SEEN
        for model in ("base", "corner")
    }
    base, corner = _read_diagonal(results)
    cost = {p: rows[p, "corner"]["rmse_mean_k"] / rows[p, "base"]["rmse_mean_k"] for p in SEEN}
    theirs = {p: TABLE_1[p, "paper-corner"][3] / TABLE_1[p, "paper-base"][3] for p in SEEN}
    seen = [row["rmse_k"] for row in rows.values()]
    hard = sum(row[BANG] > max(row[PERSISTENT], row[RANDOM]) for row in seen)
    easy = sum(row[PERSISTENT] < row[RANDOM] for row in seen)
    paper = TABLE_2[BASE, "diagonal"], TABLE_2[CORNER, "diagonal"]
    says = (
        f"corner data change the offline error by {100 * (cost['vertical'] - 1):+.0f} % on the vertical path "
        f"({100 * (theirs['vertical'] - 1):+.0f} %) and the ticks above the bound on the unseen diagonal "
        f"from "
        f"{base['n_over']} to {corner['n_over']} ({paper[0][1]} to {paper[1][1]})"
    )
    return says, [
        Claim(
            sentence="the corner model is worse on every seen path (mean error grows)",
            paper=", ".join(f"{p} ×{theirs[p]:.2f}" for p in SEEN),
            ours=", ".join(f"{p} ×{cost[p]:.2f}" for p in SEEN),
            holds=min(cost.values()) > 1,
        ),
        Claim(
            sentence=f"corner data cut the ticks above the bound, diagonal (at least {FACTOR:g} times)",
            paper=f"{paper[0][1]} → {paper[1][1]}",
            ours=f"{base['n_over']} → {corner['n_over']}",
            holds=base["n_over"] > 0 and base["n_over"] >= FACTOR * corner["n_over"],
        ),
        Claim(
            sentence="bang-bang is the hardest excitation, in every seen row",
            paper="4 of 4 rows",
            ours=f"{hard} of {len(seen)} rows",
            holds=hard == len(seen),
        ),
        Claim(
            sentence="persistent is easier than hf-random, in every seen row",
            paper="4 of 4 rows",
            ours=f"{easy} of {len(seen)} rows",
            holds=easy == len(seen),
        ),
    ]


def judge_c3(results: Results) -> tuple[str, Sequence[Claim]]:
    """The program is always solved, its slopes point the right way, and it keeps the bound where it "
    "learned."""
    asked = read_asked(results)
    gradient: dict[str, Record] = need(results.closed_loop)["gradient"]
    if not asked or not gradient:
        raise NotThere
    ticks = sum(r["ticks"] for r in asked)
    solved = sum(r["statuses"].get("solved", 0) for r in asked)
    signs = [g["sign_agreement"] for g in gradient.values()]
    off = [g["mean_k_w"] for g in gradient.values()]
    kept = {path: need(find(read_loops(results), BASE, path))["n_over"] for path in SEEN}
    says = (
        f"IPOPT solved {solved} of {ticks} ticks (all); the slope dT/dP has the plant's sign at "
        f"{100 * min(signs):.1f} % of the points (100 %)"
    )
    return says, [
        Claim(
            sentence="the solver converges at every step of all closed loops (every status is solved)",
            paper="every step",
            ours=f"{solved} of {ticks} ticks in {len(asked)} runs",
            holds=solved == ticks,
        ),
        Claim(
            sentence="the slope has the plant's sign along the spiral (at every point, both models)",
            paper="100 %",
            ours=", ".join(f"{100 * sign:.1f} %" for sign in signs),
            holds=min(signs) == 1.0,
        ),
        Claim(
            sentence="the slope's size is met approximately (mean off by no more than the paper's)",
            paper=f"{GRADIENT['mean_k_w']} K/W",
            ours=", ".join(f"{value:.2f} K/W" for value in off),
            holds=max(off) <= GRADIENT["mean_k_w"],
        ),
        Claim(
            sentence="the baseline controller keeps the bound on the paths it learned (no tick above it)",
            paper="vertical 0, spiral 0",
            ours=", ".join(f"{path} {count}" for path, count in kept.items()),
            holds=not any(kept.values()),
        ),
    ]


def _read_diagonal(results: Results) -> tuple[Record, Record]:
    loops = read_loops(results)
    return need(find(loops, BASE, "diagonal")), need(find(loops, CORNER, "diagonal"))
