"""The claims that only a closed loop decides: C4, C5 and the closing finding."""

from collections.abc import Sequence

import numpy as np

from laserloop.papers.halilovic.pages.pick import (
    BASE,
    CORNER,
    GUARDED,
    find,
    find_offline,
    read_loops,
    read_rows,
)
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.verdict import NotThere, need
from laserloop.papers.halilovic.study.claim import FACTOR, STEADY, Claim, is_near
from laserloop.papers.halilovic.study.published import ABLATIONS, TABLE_1
from laserloop.papers.halilovic.study.published_loops import CORNER_FAILURE, DELTA, TABLE_2, TABLE_3, TIMING
from laserloop.papers.halilovic.study.published_text import FORWARD_RATIO, MARGIN_POWER

PATHS = ("vertical", "spiral", "diagonal")
NEAR_CORNER = 0.3  # mm, two hops of a plan's horizon
NEAR_POWER = 0.5  # W
INTERVAL_MS = 0.125
HORIZONS = ("3", "5", "7", "10")


def judge_c4(results: Results) -> tuple[str, Sequence[Claim]]:
    """The failure, its place and size, and what corner data and the margin leave of it."""
    loops = read_loops(results)
    base, corner = (need(find(loops, label, "diagonal")) for label in (BASE, CORNER))
    guarded = [need(find(loops, GUARDED, path)) for path in PATHS]
    delta = need(results.calibration)["paper-corner"]["delta_one_sided_k"]
    worst = need(base["worst_residual"])
    away = float(np.hypot(worst["x_mm"] - CORNER_FAILURE["x_mm"], worst["y_mm"] - CORNER_FAILURE["y_mm"]))
    broken = [r for r in guarded if r["n_over"]]
    over = [base["overshoot_k"], corner["overshoot_k"], guarded[-1]["overshoot_k"]]
    paper = [TABLE_2[label, "diagonal"][0] for label in (BASE, CORNER, GUARDED)]
    says = (
        f"overshoot on the diagonal {_arrows(over)} K ({_arrows(paper)} K) with the baseline, corner data, "
        f"and δ; "
        f"with δ {len(broken)} of {len(guarded)} paths have a tick above the bound (0)"
    )
    return says, [
        Claim(
            sentence="the baseline breaks the bound on the unseen diagonal (some tick above it)",
            paper=f"{TABLE_2[BASE, 'diagonal'][1]} ticks",
            ours=f"{base['n_over']} ticks",
            holds=base["n_over"] > 0,
        ),
        Claim(
            sentence=f"its largest error: under-prediction at the first corner (within {NEAR_CORNER:g} mm)",
            paper=_place(CORNER_FAILURE),
            ours=_place(worst),
            holds=worst["residual_k"] < 0 and away <= NEAR_CORNER,
        ),
        Claim(
            sentence=f"and as large as the paper's (within {FACTOR:g} times)",
            paper=f"{abs(CORNER_FAILURE['residual_k']):.1f} K",
            ours=f"{abs(worst['residual_k']):.1f} K",
            holds=is_near(abs(worst["residual_k"]), abs(CORNER_FAILURE["residual_k"])),
        ),
        Claim(
            sentence=f"corner data cut the overshoot (at least {FACTOR:g} times)",
            paper=_arrows(paper[:2]) + " K",
            ours=_arrows(over[:2]) + " K",
            holds=over[0] > 0 and over[0] >= FACTOR * over[1],
        ),
        Claim(
            sentence=f"the calibrated margin (within {FACTOR:g} times)",
            paper=f"{DELTA['one-sided']} K",
            ours=f"{delta:.1f} K",
            holds=is_near(delta, DELTA["one-sided"]),
        ),
        Claim(
            sentence="with the margin no path has a tick above the bound",
            paper="0 of 3 paths",
            ours=f"{len(broken)} of {len(guarded)} paths"
            + "".join(f", {r['path']} by {r['overshoot_k']:.1f} K in {_ticks(r['n_over'])}" for r in broken),
            holds=not broken,
        ),
    ]


def judge_c5(results: Results, *, clock: bool) -> tuple[str, Sequence[Claim]]:
    """The same table from another implementation, and with `clock` what forecast and solver cost."""
    loops = {(r["label"], r["path"]): r for r in read_loops(results)}
    if set(loops) != set(TABLE_2):
        raise NotThere
    off = [abs(loops[key]["power_mean_w"] - row[6]) for key, row in TABLE_2.items()]
    near = [key for key, row in TABLE_2.items() if is_near(loops[key]["residual_rms_k"], row[3])]
    cost = [abs(loops[GUARDED, path]["power_mean_w"] - loops[CORNER, path]["power_mean_w"]) for path in PATHS]
    says = (
        f"mean power within {max(off):.2f} W of the paper's in every row of Table 2, residual within "
        f"{FACTOR:g} times "
        f"in {len(near)} of {len(TABLE_2)}"
    )
    checks = [
        Claim(
            sentence=f"mean power in every row of Table 2 (within {NEAR_POWER:g} W)",
            paper="13.58–14.47 W",
            ours=f"off by {max(off):.2f} W at most",
            holds=max(off) <= NEAR_POWER,
        ),
        Claim(
            sentence=f"one-tick residual in every row of Table 2 (RMS within {FACTOR:g} times)",
            paper="9 rows",
            ours=f"{len(near)} of {len(TABLE_2)} rows",
            holds=len(near) == len(TABLE_2),
        ),
        Claim(
            sentence=f"the margin costs hardly any power (at most {FACTOR:g} times the paper's change)",
            paper=f"{MARGIN_POWER:.2f} W at most",
            ours=f"{max(cost):.2f} W at most",
            holds=max(cost) <= FACTOR * MARGIN_POWER,
        ),
    ]
    if not clock or results.timing is None:
        return says, checks
    forward = results.timing["forward"]
    says += f"; a forecast {forward['ratio_numba']:.0f} times faster than the plant ({FORWARD_RATIO:.0f})"
    return says, [*checks, *_judge_clock(results.timing)]


def _judge_clock(timing: Record) -> list[Claim]:
    forward, plain = timing["forward"], timing["solvers"]["plain"]["solve_ms"]["mean"]
    return [
        Claim(
            sentence="a forecast is a thousand times faster than the plant (compiled, at least 1000 times)",
            paper=f"×{FORWARD_RATIO:.0f}",
            ours=f"×{forward['ratio_numpy']:.0f} in NumPy, ×{forward['ratio_numba']:.0f} compiled",
            holds=forward["ratio_numba"] >= 1000,
        ),
        Claim(
            sentence="IPOPT is far from real time (a solve takes at least 100 control intervals)",
            paper=f"×{TIMING['solve_mean_ms'] / INTERVAL_MS:.0f}",
            ours=f"×{plain / INTERVAL_MS:.0f}",
            holds=plain / INTERVAL_MS >= 100,
        ),
    ]


def judge_finding(results: Results) -> tuple[str, Sequence[Claim]]:
    """Models alike offline that are not alike in the loop; the best horizon offline is not the best there."""
    loops = read_loops(results)
    base, corner = (need(find(loops, label, "diagonal")) for label in (BASE, CORNER))
    offline = [
        need(find_offline(results, "diagonal", f"paper-{m}"))["rmse_mean_k"] for m in ("base", "corner")
    ]
    theirs = [TABLE_1["diagonal", f"paper-{m}"][3] for m in ("base", "corner")]
    paper = [TABLE_2[label, "diagonal"] for label in (BASE, CORNER)]
    says = (
        f"offline {_both(offline)} K ({_both(theirs)} K) on the unseen diagonal; in the loop "
        f"{base['n_over']} and "
        f"{corner['n_over']} ticks above the bound ({paper[0][1]} and {paper[1][1]})"
    )
    checks = [
        Claim(
            sentence=f"offline both models are alike on the unseen diagonal (within {STEADY:g} times)",
            paper=_both(theirs) + " K",
            ours=_both(offline) + " K",
            holds=1 / STEADY <= offline[1] / offline[0] <= STEADY,
        ),
        Claim(
            sentence=f"in the loop the baseline overshoots further (at least {FACTOR:g} times)",
            paper=_both([row[0] for row in paper]) + " K",
            ours=_both([base["overshoot_k"], corner["overshoot_k"]]) + " K",
            holds=base["overshoot_k"] > 0 and base["overshoot_k"] >= FACTOR * corner["overshoot_k"],
        ),
        Claim(
            sentence=f"and longer (at least {FACTOR:g} times the ticks)",
            paper=f"{paper[0][1]} and {paper[1][1]} ticks",
            ours=f"{base['n_over']} and {corner['n_over']} ticks",
            holds=base["n_over"] > 0 and base["n_over"] >= FACTOR * corner["n_over"],
        ),
    ]
    return says, [*checks, *_judge_horizons(results)]


def _judge_horizons(results: Results) -> list[Claim]:
    """Is the horizon with the least error offline also the one with the least in the loop? None if "
    "unknown."""
    points = {
        p["value"]: p["unseen"] for p in (results.ablations or {}).get("points", []) if p["axis"] == "horizon"
    }
    rows = {
        r["label"].removeprefix("N_h = "): r["residual_rms_k"]
        for r in read_rows(results, "table_3")
        if r["path"] == "diagonal" and r["label"].startswith("N_h")
    }
    if not set(HORIZONS) <= set(points) or not set(HORIZONS) <= set(rows):
        return []
    best = min(HORIZONS, key=lambda n: points[n]), min(HORIZONS, key=lambda n: rows[n])
    known = {
        n: unseen for (axis, n), (_, unseen) in ABLATIONS.items() if axis == "horizon" and unseen is not None
    }
    theirs = (
        min(known, key=lambda n: known[n]),
        min(HORIZONS, key=lambda n: TABLE_3[f"N_h = {n}", "diagonal"][4]),
    )
    return [
        Claim(
            sentence="the best horizon offline is not the best one in the loop (least error, unseen)",
            paper=f"N_h = {theirs[0]} offline, {theirs[1]} in the loop",
            ours=f"N_h = {best[0]} offline, {best[1]} in the loop",
            holds=best[0] != best[1],
        )
    ]


def _arrows(values: Sequence[float]) -> str:
    return " → ".join(f"{value:.1f}" for value in values)


def _both(values: Sequence[float]) -> str:
    return " and ".join(f"{value:.1f}" for value in values)


def _ticks(count: int) -> str:
    return f"{count} tick{'s' * (count != 1)}"


def _place(worst: Record) -> str:
    return f"{worst['residual_k']:+.1f} K at ({worst['x_mm']:.2f}, {worst['y_mm']:.2f}) mm"
