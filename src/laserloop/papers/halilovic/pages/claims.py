"""The paper's claims C1–C5 and its closing finding, judged on what the reproduction found."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from laserloop.papers.halilovic.pages.pick import (
    BASE,
    CORNER,
    GUARDED,
    count_ticks,
    find,
    find_offline,
    read_asked,
    read_loops,
    read_rows,
)
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.verdict import NotThere, Verdict, need
from laserloop.papers.halilovic.study import ablation_claims as offline
from laserloop.papers.halilovic.study.ablation_points import Point
from laserloop.papers.halilovic.study.claim import FACTOR, STEADY, Claim, is_near, judge
from laserloop.papers.halilovic.study.published import (
    ABLATIONS,
    CORNER_FAILURE,
    DELTA,
    FORWARD_RATIO,
    GRADIENT,
    MARGIN_POWER,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TIMING,
)
from laserloop.papers.halilovic.words import say

MODELS = ("paper-base", "paper-corner")
SEEN, PATHS = ("vertical", "spiral"), ("vertical", "spiral", "diagonal")
PERSISTENT, RANDOM, BANG = "persistent", "hf-random", "bang-bang"
NEAR_CORNER = 0.3  # mm, two hops of a plan's horizon
NEAR_POWER = 0.5  # W
INTERVAL_MS = 0.125
HORIZONS = ("3", "5", "7", "10")

Judged = tuple[str, Sequence[Claim]]  # the figures in a sentence, the checks


def judge_paper(results: Results, *, clock: bool = False) -> list[Verdict]:
    """All verdicts in the paper's order; with `clock`, C5 is also judged by measured times."""
    judges: dict[str, Callable[[Results], Judged]] = {
        "C1": judge_c1,
        "C2": judge_c2,
        "C3": judge_c3,
        "C4": judge_c4,
        "C5": lambda found: judge_c5(found, clock=clock),
        "Finding": judge_finding,
    }
    verdicts = []
    for key, judge_one in judges.items():
        try:
            says, checks = judge_one(results)
        except (NotThere, KeyError):  # KeyError: one of its models is not trained yet
            says, checks = "", ()
        verdicts.append(Verdict(key=key, claim=say(f"claim.{key}"), says=says, checks=checks))
    return verdicts


def judge_c1(results: Results) -> Judged:
    """Previews count, the peak's place adds nothing, predicting in one shot keeps the error flat."""
    points = offline.place(Point(**point) for point in need(results.ablations)["points"])
    judges = (offline.judge_trunk, offline.judge_both, offline.judge_ss_ar, offline.judge_one_shot)
    says = say("C1", temps=points["trunk", "temps"], loc=points["trunk", "loc"])
    return says, [claim for judge_one in judges for claim in judge_one(points)]


def judge_c2(results: Results) -> Judged:
    """Corner data cost accuracy on seen paths and buy safety on the unseen one; excitations differ."""
    models = {model: {p: need(find_offline(results, p, model)) for p in SEEN} for model in MODELS}
    runs = _read_diagonal(results)
    cost = {p: models[MODELS[1]][p]["rmse_mean_k"] / models[MODELS[0]][p]["rmse_mean_k"] for p in SEEN}
    theirs = {p: TABLE_1[p, MODELS[1]][3] / TABLE_1[p, MODELS[0]][3] for p in SEEN}
    seen = [row["rmse_k"] for rows in models.values() for row in rows.values()]
    hard = sum(row[BANG] > max(row[PERSISTENT], row[RANDOM]) for row in seen)
    easy = sum(row[PERSISTENT] < row[RANDOM] for row in seen)
    says = say("C2", ours=100 * (cost["vertical"] - 1), theirs=100 * (theirs["vertical"] - 1), **runs)
    counts = (("table_1.hardest", hard), ("table_1.easier", easy))
    paper, ours = (", ".join(f"{p} ×{ratio:.2f}" for p, ratio in one.items()) for one in (theirs, cost))
    return says, [
        judge("c2.worse", min(cost.values()) > 1, paper=paper, ours=ours),
        judge("c2.ticks", _is_cut(runs, "n_over"), **runs),
        *(
            judge(key, n == len(seen), paper="4 of 4 rows", ours=f"{n} of {len(seen)} rows")
            for key, n in counts
        ),
    ]


def judge_c3(results: Results) -> Judged:
    """The program is always solved, its slopes point the right way, the bound is kept where it learned."""
    asked = read_asked(results)
    gradient: dict[str, Record] = need(results.closed_loop)["gradient"]
    if not asked or not gradient:
        raise NotThere
    ticks = sum(r["ticks"] for r in asked)
    solved = sum(r["statuses"].get("solved", 0) for r in asked)
    signs = [g["sign_agreement"] for g in gradient.values()]
    off = [g["mean_k_w"] for g in gradient.values()]
    most = GRADIENT["mean_k_w"]
    kept = {path: need(find(read_loops(results), BASE, path))["n_over"] for path in SEEN}
    told = ", ".join(f"{path} {count}" for path, count in kept.items())
    return say("C3", solved=solved, ticks=ticks, sign=100 * min(signs)), [
        judge("c3.solved", solved == ticks, solved=solved, ticks=ticks, runs=len(asked)),
        judge("c3.sign", min(signs) == 1.0, ours=", ".join(f"{100 * sign:.1f} %" for sign in signs)),
        judge("c3.size", max(off) <= most, paper=most, ours=", ".join(f"{k:.2f} K/W" for k in off)),
        judge("c3.kept", not any(kept.values()), ours=told),
    ]


def judge_c4(results: Results) -> Judged:
    """The failure, its place and size, and what corner data and the margin leave of it."""
    base, corner = (_read_diagonal(results)[name] for name in ("base", "corner"))
    guarded = [need(find(read_loops(results), GUARDED, path)) for path in PATHS]
    delta = need(results.calibration)["paper-corner"]["delta_one_sided_k"]
    worst = need(base["worst_residual"])
    away = float(np.hypot(worst["x_mm"] - CORNER_FAILURE["x_mm"], worst["y_mm"] - CORNER_FAILURE["y_mm"]))
    broken = [r for r in guarded if r["n_over"]]
    where = "".join(
        f", {r['path']} by {r['overshoot_k']:.1f} K in {count_ticks(r['n_over'])}" for r in broken
    )
    over = [base["overshoot_k"], corner["overshoot_k"], guarded[-1]["overshoot_k"]]
    paper = [TABLE_2[label, "diagonal"][0] for label in (BASE, CORNER, GUARDED)]
    sizes = abs(worst["residual_k"]), abs(CORNER_FAILURE["residual_k"])
    fewer = over[0] > 0 and over[0] >= FACTOR * over[1]
    counts = {"broken": len(broken), "paths": len(guarded)}
    return say("C4", ours=_join(over, " → "), paper=_join(paper, " → "), **counts), [
        judge("c4.broken", base["n_over"] > 0, paper=TABLE_2[BASE, "diagonal"][1], ours=base["n_over"]),
        judge(
            "c4.place",
            worst["residual_k"] < 0 and away <= NEAR_CORNER,
            near=NEAR_CORNER,
            paper=_place(CORNER_FAILURE),
            ours=_place(worst),
        ),
        judge("c4.size", is_near(*sizes), paper=sizes[1], ours=sizes[0]),
        judge("c4.corner", fewer, paper=_join(paper[:2], " → "), ours=_join(over[:2], " → ")),
        judge("c4.margin", is_near(delta, DELTA["one-sided"]), paper=DELTA["one-sided"], ours=delta),
        judge("c4.none", not broken, where=where, **counts),
    ]


def judge_c5(results: Results, *, clock: bool) -> Judged:
    """The same table from another implementation, and with `clock` what forecast and solver cost."""
    loops = {(r["label"], r["path"]): r for r in read_loops(results)}
    if set(loops) != set(TABLE_2):
        raise NotThere
    off = max(abs(loops[key]["power_mean_w"] - row[6]) for key, row in TABLE_2.items())
    near = sum(is_near(loops[key]["residual_rms_k"], row[3]) for key, row in TABLE_2.items())
    power = {key: loop["power_mean_w"] for key, loop in loops.items()}
    cost = max(abs(power[GUARDED, path] - power[CORNER, path]) for path in PATHS)
    rows = len(TABLE_2)
    says = say("C5", off=off, factor=FACTOR, near=near, rows=rows)
    checks = [
        judge("c5.power", off <= NEAR_POWER, near=NEAR_POWER, off=off),
        judge("c5.residual", near == rows, near=near, rows=rows),
        judge("c5.cost", cost <= FACTOR * MARGIN_POWER, paper=MARGIN_POWER, ours=cost),
    ]
    if not clock or results.timing is None:
        return says, checks
    forward = results.timing["forward"]
    intervals = results.timing["solvers"]["plain"]["solve_ms"]["mean"] / INTERVAL_MS
    return says + say("C5.clock", ours=forward["ratio_numba"], paper=FORWARD_RATIO), [
        *checks,
        judge("c5.forecast", forward["ratio_numba"] >= 1000, paper=FORWARD_RATIO, ours=forward),
        judge("c5.ipopt", intervals >= 100, paper=TIMING["solve_mean_ms"] / INTERVAL_MS, ours=intervals),
    ]


def judge_finding(results: Results) -> Judged:
    """Models alike offline that are not alike in the loop; the best horizon offline is not the best there."""
    runs = _read_diagonal(results)
    ours = [need(find_offline(results, "diagonal", model))["rmse_mean_k"] for model in MODELS]
    theirs = [TABLE_1["diagonal", model][3] for model in MODELS]
    told = {"ours": _join(ours, " and "), "paper": _join(theirs, " and ")}
    over = _join([runs[name]["overshoot_k"] for name in ("base", "corner")], " and ")
    paper = runs["paper"]
    says = say("Finding", **told, base=runs["base"], corner=runs["corner"], table=paper)
    return says, [
        judge("finding.alike", 1 / STEADY <= ours[1] / ours[0] <= STEADY, **told),
        judge(
            "finding.further",
            _is_cut(runs, "overshoot_k"),
            paper=_join([row[0] for row in paper], " and "),
            ours=over,
        ),
        judge("finding.longer", _is_cut(runs, "n_over"), **runs),
        *_judge_horizons(results),
    ]


def _judge_horizons(results: Results) -> list[Claim]:
    """Is the horizon with the least error offline also the one with the least in the loop?"""
    points = (results.ablations or {}).get("points", [])
    offline = {p["value"]: p["unseen"] for p in points if p["axis"] == "horizon"}
    loop = {
        r["label"].removeprefix("N_h = "): r["residual_rms_k"]
        for r in read_rows(results, "table_3")
        if r["path"] == "diagonal" and r["label"].startswith("N_h")
    }
    if not set(HORIZONS) <= set(offline) or not set(HORIZONS) <= set(loop):
        return []
    known = {n: row[1] for (axis, n), row in ABLATIONS.items() if axis == "horizon" and row[1] is not None}
    theirs = {n: TABLE_3[f"N_h = {n}", "diagonal"][4] for n in HORIZONS}
    ours = [min(HORIZONS, key=errors.__getitem__) for errors in (offline, loop)]
    paper = min(known, key=known.__getitem__), min(HORIZONS, key=theirs.__getitem__)
    return [judge("finding.horizon", ours[0] != ours[1], paper=paper, ours=ours)]


def _read_diagonal(results: Results) -> dict[str, Any]:
    """The unseen diagonal without a margin: both models' runs, and the paper's rows."""
    base, corner = (need(find(read_loops(results), label, "diagonal")) for label in (BASE, CORNER))
    paper = TABLE_2[BASE, "diagonal"], TABLE_2[CORNER, "diagonal"]
    return {"base": base, "corner": corner, "paper": paper}


def _is_cut(runs: dict[str, Any], what: str) -> bool:
    base, corner = runs["base"][what], runs["corner"][what]
    return bool(base > 0 and base >= FACTOR * corner)


def _join(values: Sequence[float], between: str) -> str:
    return between.join(f"{value:.1f}" for value in values)


def _place(worst: Record) -> str:
    return f"{worst['residual_k']:+.1f} K at ({worst['x_mm']:.2f}, {worst['y_mm']:.2f}) mm"
