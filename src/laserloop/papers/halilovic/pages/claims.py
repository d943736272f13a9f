"""The paper's claims C1–C5 and its closing finding: every sentence judged once on what was found."""

from collections.abc import Callable, Iterable
from functools import partial

from laserloop.control.controller import Status
from laserloop.control.ipopt import MOST_ITERATIONS
from laserloop.papers.halilovic.pages.verdict import Verdict
from laserloop.papers.halilovic.results import BASE, CORNER, GUARDED, LABELS, MODELS, Record, Results, index
from laserloop.papers.halilovic.study.ablation_claims import (
    judge_claims,
    judge_latency,
    keeps_seen,
    keeps_unseen,
    place,
)
from laserloop.papers.halilovic.study.ablation_points import Point
from laserloop.papers.halilovic.study.claim import FACTOR, Claim, is_near, join, judge, judge_all
from laserloop.papers.halilovic.study.corners import USUAL, explains, find_best
from laserloop.papers.halilovic.study.horizon_claims import HORIZONS, judge_solve_time, judge_table_3
from laserloop.papers.halilovic.study.loop_claims import PATHS, judge_loops
from laserloop.papers.halilovic.study.published import (
    ABLATIONS,
    DELTA,
    FORWARD_RATIO,
    GRADIENT,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TIMING,
)
from laserloop.papers.halilovic.study.table_1_claims import judge_table_1
from laserloop.papers.halilovic.words import say

INTERVAL_MS = 0.125
GROUPS = ("C1", "C2", "C3", "C4", "C5", "Finding")


def judge_paper(results: Results, *, clock: bool = False) -> list[Verdict]:
    """All verdicts in the paper's order; with `clock`, also by measured times."""
    claims = collect_claims(results, clock=clock)
    verdicts = []
    for key in GROUPS:
        checks = [claim for claim in claims if claim.group == key]
        says = _tell(key, results, clock=clock) if checks else ""
        verdicts.append(Verdict(key=key, claim=say(f"claim.{key}"), says=says, checks=checks))
    return verdicts


def collect_claims(results: Results, *, clock: bool = False) -> list[Claim]:
    """Every sentence whose figures are there, each once."""
    claims = judge_table_1(results.table_1.get("rows", []))
    claims += judge_claims(Point(**point) for point in results.ablations.get("points", []))
    claims += judge_loops(results.loops)
    claims += judge_table_3(index(results.rows("table_3")))
    claims += judge_all(JUDGES, results)
    if clock and results.timing:
        claims += judge_all(BY_CLOCK, results.timing)
    return claims


def _judge_solver(results: Results) -> list[Claim]:
    asked = results.ipopt_runs
    ticks = sum(r["ticks"] for r in asked)
    solved = sum(r["statuses"].get("solved", 0) for r in asked)
    return [judge("c3.solved", solved == ticks, solved=solved, ticks=ticks, runs=len(asked))] if asked else []


def _judge_gradient(results: Results) -> list[Claim]:
    found = results.closed_loop["gradient"].values()
    if not found:
        return []
    signs, typical, off = ([g[key] for g in found] for key in ("sign_agreement", "typical_k_w", "mean_k_w"))
    usual, most = GRADIENT["typical_k_w"], GRADIENT["mean_k_w"]
    told = [", ".join(f"{k:.2f} K/W" for k in some) for some in (typical, off)]
    return [
        judge("c3.sign", min(signs) == 1.0, ours=", ".join(f"{100 * sign:.1f} %" for sign in signs)),
        judge("c3.typical", all(is_near(one, usual) for one in typical), paper=usual, ours=told[0]),
        judge("c3.size", max(off) <= most, paper=most, ours=told[1]),
    ]


def _judge_margin(results: Results) -> list[Claim]:
    found = results.calibration["paper-corner"]
    return [
        judge(key, is_near(found[field], DELTA[name]), paper=DELTA[name], ours=found[field])
        for key, field, name in (
            ("c4.margin", "delta_one_sided_k", "one-sided"),
            ("c4.symmetric", "delta_symmetric_k", "symmetric"),
        )
    ]


def _judge_rank(results: Results) -> list[Claim]:
    """Does an offline figure tell which model fails? If every one does, offline figures are enough."""
    loops = {r["label"]: r for r in results.loops.values() if r["path"] == "diagonal"}
    base, corner = results.offline("diagonal")
    over = [loops[label]["overshoot_k"] for label in (BASE, CORNER)]
    told = [[base[key], corner[key]] for key in ("rmse_mean_k", "max_error_k")]
    agree = [(one > other) == (over[0] > over[1]) for one, other in told]
    theirs = [TABLE_1["diagonal", model] for model in MODELS]
    excess = [TABLE_2[label, "diagonal"][0] for label in (BASE, CORNER)]
    paper = [[row[column] for row in theirs] for column in (3, 4)]
    sentences = [
        f"mean {join(mean, ' and ')}, worst {join(worst, ' and ')}, in the loop {join(loop, ' and ')} K"
        for (mean, worst), loop in ((paper, excess), (told, over))
    ]
    apart = max(over) > 0 and max(over) >= FACTOR * min(over)
    return [judge("finding.rank", apart and not all(agree), paper=sentences[0], ours=sentences[1])]


def _judge_horizons(results: Results) -> list[Claim]:
    """Is the horizon with the least error offline also the one with the least in the loop?"""
    points = results.ablations["points"]
    offline = {p["value"]: p["unseen"] for p in points if p["axis"] == "horizon"}
    loop = {
        r["label"].removeprefix("N_h = "): r["residual_rms_k"]
        for r in results.rows("table_3")
        if r["path"] == "diagonal" and r["label"].startswith("N_h")
    }
    known = {n: row[1] for (axis, n), row in ABLATIONS.items() if axis == "horizon" and row[1] is not None}
    theirs = {n: TABLE_3[f"N_h = {n}", "diagonal"][4] for n in HORIZONS}
    ours = [min(HORIZONS, key=errors.__getitem__) for errors in (offline, loop)]
    paper = min(known, key=known.__getitem__), min(HORIZONS, key=theirs.__getitem__)
    return [judge("finding.horizon", ours[0] != ours[1], paper=paper, ours=ours)]


def _judge_forecast(timing: Record) -> list[Claim]:
    forward = timing["forward"]
    return [judge("c5.forecast", forward["ratio_numba"] >= 1000, paper=FORWARD_RATIO, ours=forward)]


def _judge_real_time(timing: Record) -> list[Claim]:
    intervals = timing["solvers"]["plain"]["solve_ms"]["mean"] / INTERVAL_MS
    return [judge("c5.ipopt", intervals >= 100, paper=TIMING["solve_mean_ms"] / INTERVAL_MS, ours=intervals)]


JUDGES: tuple[Callable[[Results], Iterable[Claim]], ...] = (
    _judge_solver,
    _judge_gradient,
    _judge_margin,
    _judge_rank,
    _judge_horizons,
)
BY_CLOCK: tuple[Callable[[Record], Iterable[Claim]], ...] = (
    _judge_forecast,
    _judge_real_time,
    lambda timing: judge_solve_time([r for r in timing["loops"] if _is_plain(r)]),
    lambda timing: judge_latency(timing["latency"]),
)


def _is_plain(run: Record) -> bool:
    """Solved with the paper's own graph, in Table 3."""
    return (run["table"], run["controller"]) == ("table_3", "ipopt-plain")


def _tell(key: str, results: Results, *, clock: bool) -> str:
    """The figures of a claim in one sentence; nothing if some of them are not there."""
    try:
        told = TELL[key](results)
        if clock and key == "C5" and results.timing:
            ratio = results.timing["forward"]["ratio_numba"]
            told += say("C5.clock", ours=ratio, paper=FORWARD_RATIO)
    except (KeyError, ValueError):
        return ""
    return told


def _tell_c1(results: Results) -> str:
    points = place(Point(**point) for point in results.ablations["points"])
    return say("C1", temps=points["trunk", "temps"], loc=points["trunk", "loc"])


def _tell_c2(results: Results) -> str:
    ours, theirs = (
        100 * (corner / base - 1)
        for base, corner in (
            [row["rmse_mean_k"] for row in results.offline("vertical")],
            [TABLE_1["vertical", model][3] for model in MODELS],
        )
    )
    return say("C2", ours=ours, theirs=theirs)


def _tell_c3(results: Results) -> str:
    asked = results.ipopt_runs
    ticks, solved = sum(r["ticks"] for r in asked), sum(r["statuses"].get("solved", 0) for r in asked)
    signs = [g["sign_agreement"] for g in results.closed_loop["gradient"].values()]
    return say("C3", solved=solved, ticks=ticks, sign=100 * min(signs))


def _tell_c4(results: Results) -> str:
    loops = results.loops
    over = [loops[label, "diagonal"]["overshoot_k"] for label in LABELS]
    paper = [TABLE_2[label, "diagonal"][0] for label in LABELS]
    broken = sum(loops[GUARDED, path]["n_over"] > 0 for path in PATHS)
    return say("C4", ours=join(over), paper=join(paper), broken=broken, paths=len(PATHS))


def _tell_c5(results: Results) -> str:
    loops = results.loops
    off = max(abs(loops[key]["power_mean_w"] - row[6]) for key, row in TABLE_2.items())
    near = sum(is_near(loops[key]["residual_rms_k"], row[3]) for key, row in TABLE_2.items())
    return say("C5", off=off, factor=FACTOR, near=near, rows=len(TABLE_2))


def _tell_finding(results: Results) -> str:
    loops = results.loops
    ours = [row["rmse_mean_k"] for row in results.offline("diagonal")]
    theirs = [TABLE_1["diagonal", model][3] for model in MODELS]
    base, corner = (loops[label, "diagonal"] for label in (BASE, CORNER))
    table = TABLE_2[BASE, "diagonal"], TABLE_2[CORNER, "diagonal"]
    told = {"ours": join(ours, " and "), "paper": join(theirs, " and ")}
    return say("Finding", **told, base=base, corner=corner, table=table)


TELL: dict[str, Callable[[Results], str]] = dict(
    zip(GROUPS, (_tell_c1, _tell_c2, _tell_c3, _tell_c4, _tell_c5, _tell_finding), strict=True)
)


def explain(key: str, results: Results) -> str:
    """The cause of a sentence's failure, if a figure of this run shows one; nothing otherwise."""
    reason = REASONS.get(key)
    return "" if reason is None else reason(results)


def _tell_excitation(results: Results) -> str:
    rows = {r["excitation"]: r["t_max_std_k"] for r in results.table_1.get("excitations", [])}
    slow, fast = rows.get("persistent", 0.0), rows.get("hf-random", 0.0)
    return say("why.excitation", slow=slow, fast=fast) if slow > fast > 0 else ""


def _tell_noise(results: Results, where: str) -> str:
    """By the errors, seen or unseen, that the sentence is about, and by its own rule."""
    points = {(p["axis"], p["value"]): p[where] for p in results.ablations.get("points", [])}
    wanted = (("noise", "0"), ("noise", "10"), ("shared noise", "10"))
    if not set(wanted) <= set(points):
        return ""
    still, each, shared = (points[key] for key in wanted)
    if not (keeps_seen(still, shared) if where == "seen" else keeps_unseen(still, shared)):
        return ""
    return say("why.noise", where=where, each=each, shared=shared)


def _tell_lstm(results: Results) -> str:
    trained = results.trainings.get("corner-lstm")
    if not trained or trained["training"].get("schedule", "plateau") != "plateau":
        return ""
    metrics = trained["metrics"]
    return say("why.lstm", **metrics) if metrics["best_epoch"] >= 0.95 * metrics["epochs"] else ""


def _tell_corner(results: Results) -> str:
    """By the corner that meets most of the paper's sentences, if that is not the one that ran."""
    rows = results.rows("corners")
    if not rows:
        return ""
    best = find_best(rows)
    if best["variant"] == USUAL or not explains(best):
        return ""
    return say("why.corner", best=best, count=len({r["variant"] for r in rows}))


def _tell_margin(results: Results) -> str:
    found = results.calibration.get("paper-corner", {})
    if "largest_under_prediction_k" not in found:
        return ""
    return say("why.margin", quantile=100 * found["quantile"], largest=found["largest_under_prediction_k"])


def _tell_plant(results: Results) -> str:
    forward = results.timing.get("forward")
    return say("why.plant", **forward) if forward else ""


def _tell_cap(results: Results) -> str:
    """Where the iteration cap ended a search; nothing if another status did, or if ticks were not kept."""
    places, heating = [], True
    for loop in results.ipopt_runs:
        unsolved = {status: n for status, n in loop["statuses"].items() if status != Status.SOLVED}
        if not unsolved:
            continue
        counts = loop.get("series", {}).get("iterations", [])
        capped = [k for k, count in enumerate(counts) if count >= MOST_ITERATIONS]
        if set(unsolved) != {Status.STOPPED} or unsolved[Status.STOPPED] != len(capped):
            return ""
        places += [f"tick {k + 1} of {loop['label']}, {loop['path']}" for k in capped]
        heating = heating and max(capped) < loop["settled_from"]
    if not places:
        return ""
    when = ", while the plate was heating up and no score counted" if heating else ""
    return say("why.cap", cap=MOST_ITERATIONS, places=", ".join(places), when=when)


REASONS: dict[str, Callable[[Results], str]] = {  # key of a sentence → what was measured about it
    "table_1.order": _tell_excitation,
    "c3.solved": _tell_cap,
    "noise.seen": partial(_tell_noise, where="seen"),
    "noise.unseen": partial(_tell_noise, where="unseen"),
    "lstm": _tell_lstm,
    **dict.fromkeys(("c4.overshoot", "c4.run", "c4.place", "c4.size", "c4.same"), _tell_corner),
    "c4.none": _tell_margin,
    "c5.forecast": _tell_plant,
}
