"""What the paper says of its closed loops in Table 2 and the text around it, judged on our runs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from laserloop.papers.halilovic.study.claim import FACTOR, Claim, is_near, join, judge, judge_all
from laserloop.papers.halilovic.study.failure import NEAR_CORNER, describe_failure, find_longest
from laserloop.papers.halilovic.study.published import (
    BAND_SHARE,
    BELOW,
    CORNER_FAILURE,
    DEEPEST,
    LARGEST_MOVE,
    MARGIN_POWER,
    POWER_RATE,
    TABLE_2,
    TIMING,
)

BASE, CORNER, GUARDED = "baseline", "corner", "corner + δ"
SEEN, PATHS = ("vertical", "spiral"), ("vertical", "spiral", "diagonal")
NEAR_POWER = 0.5  # W
OVERSHOOT_WITHIN, RUN_WITHIN = 15.0, 7  # K, ticks: how far another implementation may be
CURED = 0.1  # of the failure may be left
UNBIASED = 2.0  # K
LASER = 20.0  # W, what the paper's can give
OVER, TICKS, RMS, WORST, BIAS, POWER, MOVE = 0, 1, 3, 4, 5, 6, 7  # columns of Table 2

Record = Mapping[str, Any]
Loops = Mapping[tuple[str, str], Record]


def judge_loops(loops: Loops) -> list[Claim]:
    """All claims whose runs are there."""
    return judge_all(JUDGES, loops)


def _judge_kept(loops: Loops) -> list[Claim]:
    counts = {path: loops[BASE, path]["n_over"] for path in SEEN}
    told = ", ".join(f"{path} {count}" for path, count in counts.items())
    return [judge("c3.kept", not any(counts.values()), ours=told)]


def _judge_iterations(loops: Loops) -> list[Claim]:
    """Of the ticks that count; the first ones, of a cold plate, are another matter."""
    counts = [loops[key]["series"]["iterations"][loops[key]["settled_from"] :] for key in TABLE_2]
    mean, most = float(np.mean(np.concatenate(counts))), max(map(max, counts))
    usual, worst = TIMING["iterations_mean"], TIMING["iterations_max"]
    return [
        judge("c3.iterations", is_near(mean, usual), paper=usual, ours=mean),
        judge("c3.most", most <= FACTOR * worst, paper=worst, ours=most),
    ]


def _judge_size(loops: Loops) -> list[Claim]:
    over, paper = loops[BASE, "diagonal"]["overshoot_k"], TABLE_2[BASE, "diagonal"][OVER]
    return [judge("c4.overshoot", abs(over - paper) <= OVERSHOOT_WITHIN, paper=paper, ours=over)]


def _judge_failure(loops: Loops) -> list[Claim]:
    run, paper = loops[BASE, "diagonal"], TABLE_2[BASE, "diagonal"][TICKS]
    found, worst = describe_failure(run), run["worst_residual"]
    near = found.worst_k < 0 and found.worst_from_first <= NEAR_CORNER
    sizes = abs(CORNER_FAILURE["residual_k"]), abs(found.worst_k)
    local = found.rms_elsewhere_k <= found.rms_k / FACTOR and abs(found.bias_elsewhere_k) <= UNBIASED
    told = {"rms": found.rms_elsewhere_k, "all": found.rms_k, "bias": found.bias_elsewhere_k}
    return [
        judge(
            "c4.run",
            abs(found.at_first - paper) <= RUN_WITHIN,
            paper=paper,
            ours=found.at_first,
            all=found.ticks_over,
        ),
        judge("c4.place", near, near=NEAR_CORNER, paper=_place(CORNER_FAILURE), ours=_place(worst)),
        judge("c4.size", is_near(sizes[1], sizes[0]), paper=sizes[0], ours=sizes[1]),
        judge("c4.same", found.peak_to_worst <= 1, ours=found.peak_to_worst),
        judge("c4.local", local, near=NEAR_CORNER, **told),
    ]


def _judge_cure(loops: Loops) -> list[Claim]:
    rows = [loops[label, "diagonal"] for label in (BASE, CORNER)]
    over, ticks = ([row[key] for row in rows] for key in ("overshoot_k", "n_over"))
    holds = over[0] > 0 and over[1] <= CURED * over[0] and ticks[1] <= CURED * ticks[0]
    paper = [TABLE_2[label, "diagonal"] for label in (BASE, CORNER)]
    told = f"{join([row[OVER] for row in paper])} K, {paper[0][TICKS]} → {paper[1][TICKS]} ticks"
    return [judge("c4.cut", holds, paper=told, ours=f"{join(over)} K, {ticks[0]} → {ticks[1]} ticks")]


def _judge_corner_residual(loops: Loops) -> list[Claim]:
    """What corner data make of the residual on the diagonal."""
    rows = [loops[label, "diagonal"] for label in (BASE, CORNER)]
    worst = [row["worst_residual"]["residual_k"] for row in rows]
    theirs = [TABLE_2[label, "diagonal"][WORST] for label in (BASE, CORNER)]
    bias, paper = rows[1]["residual_mean_k"], TABLE_2[CORNER, "diagonal"][BIAS]
    shrinks = abs(worst[0]) >= FACTOR * abs(worst[1])
    return [
        judge("c4.smaller", shrinks, paper=f"{join(theirs)} K", ours=f"{join(map(abs, worst))} K"),
        judge("c4.sign", worst[0] < 0 < worst[1], ours=f"{join(worst, form='+.1f')} K"),
        judge("c4.bias", is_near(bias, paper), paper=paper, ours=bias),
    ]


def _judge_price(loops: Loops) -> list[Claim]:
    """What keeping the bound on the diagonal costs at the window's lower end."""
    rows = [loops[label, "diagonal"] for label in (BASE, CORNER)]
    less = rows[0]["power_mean_w"] - rows[1]["power_mean_w"]
    paper = TABLE_2[BASE, "diagonal"][POWER] - TABLE_2[CORNER, "diagonal"][POWER]
    shares = [100 * row["below_fraction"] for row in rows]
    theirs = [100 * BELOW[label, "diagonal"] for label in (BASE, CORNER)]
    deep, depth = rows[1]["deepest_below_k"], DEEPEST[CORNER, "diagonal"]
    return [
        judge("c4.power", is_near(less, paper), paper=paper, ours=less),
        judge(
            "c4.below",
            shares[1] >= FACTOR * shares[0],
            paper=f"{join(theirs, form='.0f')} %",
            ours=f"{join(shares)} %",
        ),
        judge("c4.deepest", is_near(deep, depth), paper=depth, ours=deep),
    ]


def _judge_isolated(loops: Loops) -> list[Claim]:
    found = []
    for path in SEEN:
        row, paper = loops[CORNER, path], TABLE_2[CORNER, path]
        true = np.array(row["series"]["t_true_k"])[row["settled_from"] :]
        alone = find_longest(true > row["window_k"][1]) == 1
        theirs = f"{paper[OVER]} K, ticks: {paper[TICKS]}"
        ours = f"{row['overshoot_k']:.1f} K, ticks: {row['n_over']}"
        found.append(judge(f"c4.isolated.{path}", alone, paper=theirs, ours=ours))
    return found


def _judge_cost(loops: Loops) -> list[Claim]:
    """What corner data cost on the vertical path."""
    rows = [loops[label, "vertical"] for label in (BASE, CORNER)]
    paper = [TABLE_2[label, "vertical"] for label in (BASE, CORNER)]
    found = []
    for key, field, column, unit, form in (
        ("c4.doubles", "residual_rms_k", RMS, "K", ".1f"),
        ("c4.rougher", "power_step_mean_w", MOVE, "W", ".2f"),
    ):
        ours, theirs = [row[field] for row in rows], [row[column] for row in paper]
        told = {"paper": f"{join(theirs, form=form)} {unit}", "ours": f"{join(ours, form=form)} {unit}"}
        found.append(judge(key, ours[1] >= FACTOR * ours[0], **told))
    return found


def _judge_turn(loops: Loops) -> list[Claim]:
    away = [describe_failure(loops[label, "vertical"]).worst_from_turns for label in (BASE, CORNER)]
    told = " and ".join(f"{one:.2f} mm from a turn" for one in away)
    return [judge("c4.turn", max(away) <= NEAR_CORNER, near=NEAR_CORNER, ours=told)]


def _judge_margin(loops: Loops) -> list[Claim]:
    rows = [loops[GUARDED, path] for path in PATHS]
    broken = [row for row in rows if row["n_over"]]
    where = "".join(f", {r['path']} by {r['overshoot_k']:.1f} K (ticks: {r['n_over']})" for r in broken)
    return [judge("c4.none", not broken, broken=len(broken), paths=len(rows), where=where)]


def _judge_table(loops: Loops) -> list[Claim]:
    off = max(abs(loops[key]["power_mean_w"] - row[POWER]) for key, row in TABLE_2.items())
    near = sum(is_near(loops[key]["residual_rms_k"], row[RMS]) for key, row in TABLE_2.items())
    rows = len(TABLE_2)
    return [
        judge("c5.power", off <= NEAR_POWER, near=NEAR_POWER, off=off),
        judge("c5.residual", near == rows, near=near, rows=rows),
    ]


def _judge_seen_residual(loops: Loops) -> list[Claim]:
    ours = {path: loops[BASE, path]["residual_rms_k"] for path in SEEN}
    theirs = {path: TABLE_2[BASE, path][RMS] for path in SEEN}
    told = {
        name: ", ".join(f"{path} {rms:.1f} K" for path, rms in one.items())
        for name, one in (("paper", theirs), ("ours", ours))
    }
    return [
        judge("c5.band", max(ours.values()) <= BAND_SHARE, **told),
        judge("c5.spiral", ours["spiral"] > ours["vertical"], **told),
    ]


def _judge_calm(loops: Loops) -> list[Claim]:
    """The baseline on the vertical path: dips and moves."""
    row, depth = loops[BASE, "vertical"], DEEPEST[BASE, "vertical"]
    deep, powers = row["deepest_below_k"], np.array(row["series"]["power_w"])[row["settled_from"] :]
    move = float(np.abs(np.diff(powers)).max())
    return [
        judge("c5.dip", deep <= FACTOR * depth, paper=depth, ours=deep),
        judge("c5.smooth", is_near(move, LARGEST_MOVE), paper=LARGEST_MOVE, ours=move),
    ]


def _judge_conservatism(loops: Loops) -> list[Claim]:
    """What the margin costs."""
    power, below = (
        max(abs(loops[GUARDED, path][key] - loops[CORNER, path][key]) for path in PATHS)
        for key in ("power_mean_w", "below_fraction")
    )
    share = max(BELOW[GUARDED, path] - BELOW[CORNER, path] for path in PATHS)
    rates = {path: loops[GUARDED, path]["power_step_mean_w"] / LASER for path in PATHS}
    theirs = {path: TABLE_2[GUARDED, path][MOVE] / LASER for path in PATHS}
    told = {
        name: ", ".join(f"{path} {100 * rate:.1f} %" for path, rate in one.items())
        for name, one in (("paper", theirs), ("ours", rates))
    }
    return [
        judge("c5.cost", power <= FACTOR * MARGIN_POWER, paper=MARGIN_POWER, ours=power),
        judge("c5.occupied", below <= FACTOR * share + 1e-9, paper=100 * share, ours=100 * below),
        judge("c5.rate", max(rates.values()) < POWER_RATE, **told),
    ]


JUDGES: tuple[Callable[[Loops], list[Claim]], ...] = (
    _judge_kept,
    _judge_iterations,
    _judge_size,
    _judge_failure,
    _judge_cure,
    _judge_corner_residual,
    _judge_price,
    _judge_isolated,
    _judge_cost,
    _judge_turn,
    _judge_margin,
    _judge_table,
    _judge_seen_residual,
    _judge_calm,
    _judge_conservatism,
)


def _place(worst: Record) -> str:
    return f"{worst['residual_k']:+.1f} K at ({worst['x_mm']:.2f}, {worst['y_mm']:.2f}) mm"
