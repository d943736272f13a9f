"""What the paper says of its Table 3: horizons, and a model that eats its own predictions, in the loop."""

from collections.abc import Callable, Mapping
from typing import Any

from laserloop.papers.halilovic.study.claim import STEADY, Claim, is_near, join, judge, judge_all
from laserloop.papers.halilovic.study.published import SS_AR_DIAGONAL, TABLE_3

HORIZONS = ("3", "5", "7", "10")
PATHS = ("vertical", "spiral", "diagonal")
SS_AR, USUAL = "SS-AR", "N_h = 5"
OVER, BELOW, RMSE = 1, 3, 4  # columns of Table 3
RATIO = 2.0  # of "3 to 4 times", within the factor that matters

Record = Mapping[str, Any]
Rows = Mapping[tuple[str, str], Record]


def judge_table_3(rows: Rows) -> list[Claim]:
    """All claims whose runs are there."""
    return judge_all(JUDGES, rows)


def judge_solve_time(loops: list[Record]) -> list[Claim]:
    """The one that needs a clock, on the graph that all of its runs were solved with."""
    mean = {r["label"]: r["solve_ms"]["mean"] for r in loops if r["path"] == "diagonal"}
    ends = "N_h = 3", "N_h = 10"
    if not set(ends) <= set(mean):
        return []
    paper, ours = [TABLE_3[one, "diagonal"][5] for one in ends], [mean[one] for one in ends]
    holds = is_near(ours[1] / ours[0], paper[1] / paper[0])
    told = [f"{join(one, form='.0f')} ms (×{one[1] / one[0]:.1f})" for one in (paper, ours)]
    return [judge("horizon.triples", holds, paper=told[0], ours=told[1])]


def _judge_saturation(rows: Rows) -> list[Claim]:
    ours = [rows[f"N_h = {n}", "diagonal"]["residual_rms_k"] for n in HORIZONS]
    paper = [TABLE_3[f"N_h = {n}", "diagonal"][RMSE] for n in HORIZONS]
    longer = ours[1:]
    steady = max(longer) <= STEADY * min(longer)
    return [judge("horizon.saturates", steady, paper=f"{join(paper)} K", ours=f"{join(ours)} K")]


def _judge_excess(rows: Rows) -> list[Claim]:
    ours = [rows[f"N_h = {n}", "diagonal"]["overshoot_k"] for n in HORIZONS]
    paper = [TABLE_3[f"N_h = {n}", "diagonal"][OVER] for n in HORIZONS]
    at = HORIZONS.index("7")
    holds = ours[at] == max(ours) and is_near(ours[at], paper[at])
    return [judge("horizon.excess", holds, paper=f"{join(paper)} K", ours=f"{join(ours)} K")]


def _judge_bound(rows: Rows) -> list[Claim]:
    counts = {path: rows[SS_AR, path]["n_over"] for path in PATHS}
    told = ", ".join(f"{path} {count}" for path, count in counts.items())
    return [judge("ss-ar.kept", not any(counts.values()), ours=told)]


def _judge_residual(rows: Rows) -> list[Claim]:
    paths = ("vertical", "diagonal")
    ours = {p: rows[SS_AR, p]["residual_rms_k"] / rows[USUAL, p]["residual_rms_k"] for p in paths}
    theirs = {p: TABLE_3[SS_AR, p][RMSE] / TABLE_3[USUAL, p][RMSE] for p in paths}
    told = [", ".join(f"{p} ×{ratio:.1f}" for p, ratio in one.items()) for one in (theirs, ours)]
    return [judge("ss-ar.residual", min(ours.values()) >= RATIO, paper=told[0], ours=told[1])]


def _judge_conservatism(rows: Rows) -> list[Claim]:
    """How SS-AR keeps the bound: by believing in more heat than there is."""
    row, low = rows[SS_AR, "diagonal"], rows[SS_AR, "diagonal"]["window_k"][0]
    bias, share, deep = row["residual_mean_k"], row["below_fraction"], row["deepest_below_k"]
    theirs, lowest = TABLE_3[SS_AR, "diagonal"][BELOW], SS_AR_DIAGONAL["lowest_k"]
    paper = SS_AR_DIAGONAL["bias_k"]
    return [
        judge("ss-ar.bias", is_near(bias, paper), paper=paper, ours=bias),
        judge("ss-ar.below", is_near(share, theirs), paper=100 * theirs, ours=100 * share),
        judge("ss-ar.deepest", is_near(deep, low - lowest), lowest=lowest, paper=low - lowest, ours=deep),
    ]


def _times(before: float, after: float) -> str:
    """How often one is in the other; nothing if it is 0, as of a model that always gives the same power."""
    return f" (×{after / before:.1f})" if before else ""


def _judge_moves(rows: Rows) -> list[Claim]:
    moves = [rows[label, "diagonal"]["power_step_mean_w"] for label in (USUAL, SS_AR)]
    theirs = [SS_AR_DIAGONAL[key] for key in ("one_shot_step_w", "step_w")]
    told = [f"{join(one, form='.2f')} W{_times(*one)}" for one in (theirs, moves)]
    return [judge("ss-ar.rough", moves[1] >= 2 * moves[0], paper=told[0], ours=told[1])]


JUDGES: tuple[Callable[[Rows], list[Claim]], ...] = (
    _judge_bound,
    _judge_residual,
    _judge_conservatism,
    _judge_moves,
    _judge_saturation,
    _judge_excess,
)
