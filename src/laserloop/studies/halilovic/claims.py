"""The paper's claims C1–C5 and its closing finding, judged by their sentences; and why some do not hold."""

from collections.abc import Callable, Mapping
from typing import Any

from laserloop.control.controller import Status
from laserloop.control.ipopt import MOST_ITERATIONS
from laserloop.studies.halilovic import published
from laserloop.studies.halilovic.cases import USUAL_CORNER
from laserloop.studies.halilovic.check import FACTOR, Check, Claim, describe_both, is_near, join, judge_all
from laserloop.studies.halilovic.loop_claims import (
    HORIZONS,
    PATHS,
    judge_loops,
    judge_solve_time,
    judge_table_3,
)
from laserloop.studies.halilovic.measures import explains, find_best
from laserloop.studies.halilovic.offline_claims import (
    MEAN,
    WORST,
    judge_ablations,
    judge_latency,
    judge_table_1,
    keeps_seen,
    keeps_unseen,
)
from laserloop.studies.halilovic.results import (
    BASE,
    CORNER,
    GUARDED,
    LABELS,
    MODELS,
    Point,
    Record,
    Results,
    index,
)

CLAIMS = {
    "C1": "An MS-DeepONet whose trunk is shown the temperatures where the laser will be.",
    "C2": "Training data from two ensembles, with and without corners, under three kinds of excitation.",
    "C3": "The network as a smooth nonlinear program in a receding-horizon controller with soft constraints.",
    "C4": "Out of distribution: a 91 K under-prediction at a sharp corner, cured by corner data and a "
    "calibrated margin of 13 K to zero violations.",
    "C5": "Closed loops against a finite-difference plant that stands in for the camera, and what they cost.",
    "Finding": "Aggregate accuracy offline does not certify a surrogate for control.",
}
INTERVAL_MS = 0.125


def judge_paper(results: Results, *, clock: bool = False) -> list[Claim]:
    """All claims in the paper's order; with `clock`, also by measured times."""
    checks = list_checks(results, clock=clock)
    claims = []
    for key, sentence in CLAIMS.items():
        own = [check for check in checks if check.group == key]
        figures = _tell(key, results, clock=clock) if own else ""
        claims.append(Claim(key=key, sentence=sentence, figures=figures, checks=own))
    return claims


def list_checks(results: Results, *, clock: bool = False) -> list[Check]:
    """Every sentence whose figures are there, each once."""
    checks = judge_table_1(results.table_1.get("rows", []))
    checks += judge_ablations(Point(**point) for point in results.ablations.get("points", []))
    checks += judge_loops(results.loops)
    checks += judge_table_3(index(results.rows("table_3")))
    checks += judge_all((_solver, _gradient, _margin, _rank, _horizons), results)
    if clock:
        checks += judge_all((_forecast, _real_time, _solve_time, _latency), results.timing)
    return checks


def _count_solved(results: Results) -> tuple[int, int]:
    runs = results.ipopt_runs
    return sum(r["statuses"].get("solved", 0) for r in runs), sum(r["ticks"] for r in runs)


def _solver(results: Results) -> list[Check]:
    (solved, ticks), runs = _count_solved(results), len(results.ipopt_runs)
    sentence = "the solver converges at every step of all closed loops (every status is solved)"
    ours = f"{solved} of {ticks} ticks in {runs} runs"
    return [Check("c3.solved", "C3", sentence, "every step", ours, solved == ticks)] if runs else []


def _gradient(results: Results) -> list[Check]:
    found = results.closed_loop["gradient"].values()
    if not found:
        return []
    signs, typical, off = ([g[key] for g in found] for key in ("sign_agreement", "typical_k_w", "mean_k_w"))
    usual, most = published.GRADIENT["typical_k_w"], published.GRADIENT["mean_k_w"]
    return [
        Check(
            "c3.sign",
            "C3",
            "the slope has the plant's sign along the spiral (at every point, both models)",
            "100 %",
            ", ".join(f"{100 * sign:.1f} %" for sign in signs),
            min(signs) == 1.0,
        ),
        Check(
            "c3.typical",
            "C3",
            f"a typical slope of the plant is 7 K/W (mean along the spiral within {FACTOR:g} times)",
            f"≈ {usual:g} K/W",
            ", ".join(f"{slope:.2f} K/W" for slope in typical),
            all(is_near(slope, usual) for slope in typical),
        ),
        Check(
            "c3.size",
            "C3",
            "the slope's size is met approximately (mean off by no more than the paper's)",
            f"{most} K/W",
            ", ".join(f"{slope:.2f} K/W" for slope in off),
            max(off) <= most,
        ),
    ]


def _margin(results: Results) -> list[Check]:
    found = results.calibration["paper-corner"]
    sentences = {
        "one-sided": ("c4.margin", "the calibrated margin"),
        "symmetric": ("c4.symmetric", "a symmetric margin would take nearly half of the window"),
    }
    checks = []
    for name, (key, sentence) in sentences.items():
        ours, theirs = found[f"delta_{name.replace('-', '_')}_k"], published.DELTA[name]
        told = f"{sentence} (within {FACTOR:g} times)", f"{theirs} K", f"{ours:.1f} K"
        checks.append(Check(key, "C4", *told, is_near(ours, theirs)))
    return checks


def _rank(results: Results) -> list[Check]:
    """Does an offline figure tell which model fails? If every one does, offline figures are enough."""
    base, corner = results.offline("diagonal")
    over = [results.loops[label, "diagonal"]["overshoot_k"] for label in (BASE, CORNER)]
    told = [[base[key], corner[key]] for key in ("rmse_mean_k", "max_error_k")]
    agree = [(one > other) == (over[0] > over[1]) for one, other in told]
    excess = [published.TABLE_2[label, "diagonal"][0] for label in (BASE, CORNER)]
    paper = [[published.TABLE_1["diagonal", model][column] for model in MODELS] for column in (MEAN, WORST)]

    def tell(figures: list[list[float]]) -> str:
        mean, worst, loop = (join(one, " and ") for one in figures)
        return f"mean {mean}, worst {worst}, in the loop {loop} K"

    return [
        Check(
            "finding.rank",
            "Finding",
            "offline errors do not tell which model fails in the loop "
            "(the mean or the worst calls it the better one, unseen)",
            *describe_both(tell, [*paper, excess], [*told, over]),
            max(over) > 0 and max(over) >= FACTOR * min(over) and not all(agree),
        )
    ]


def _horizons(results: Results) -> list[Check]:
    """Is the horizon with the least error offline also the one with the least in the loop?"""
    points, table = results.ablations["points"], index(results.rows("table_3"))
    offline = {p["value"]: p["unseen"] for p in points if p["axis"] == "horizon"}
    loop = {n: table[f"N_h = {n}", "diagonal"]["residual_rms_k"] for n in HORIZONS}
    known = {n: row[1] for (axis, n), row in published.ABLATIONS.items() if axis == "horizon" and row[1]}
    theirs = {n: published.TABLE_3[f"N_h = {n}", "diagonal"][4] for n in HORIZONS}
    ours = [min(HORIZONS, key=errors.__getitem__) for errors in (offline, loop)]
    paper = [min(known, key=known.__getitem__), min(HORIZONS, key=theirs.__getitem__)]
    sentence = "the best horizon offline is not the best one in the loop (least error, unseen)"
    told = describe_both(lambda one: f"N_h = {one[0]} offline, {one[1]} in the loop", paper, ours)
    return [Check("finding.horizon", "Finding", sentence, *told, ours[0] != ours[1])]


def _forecast(timing: Record) -> list[Check]:
    ratio = timing["forward"]["ratio_numpy"]
    return [
        Check(
            "c5.forecast",
            "C5",
            "a forecast is a thousand times faster than the plant (in NumPy, at least 1000 times)",
            f"×{published.FORWARD_RATIO:.0f}",
            f"×{ratio:.0f}",
            ratio >= 1000,
        )
    ]


def _real_time(timing: Record) -> list[Check]:
    intervals = timing["solvers"]["plain"]["solve_ms"]["mean"] / INTERVAL_MS
    return [
        Check(
            "c5.ipopt",
            "C5",
            "IPOPT is far from real time (a solve takes at least 100 control intervals)",
            f"×{published.TIMING['solve_mean_ms'] / INTERVAL_MS:.0f}",
            f"×{intervals:.0f}",
            intervals >= 100,
        )
    ]


def _solve_time(timing: Record) -> list[Check]:
    """Of runs of Table 3 that were solved with the paper's own graph."""
    return judge_solve_time(
        [r for r in timing["loops"] if (r["table"], r["controller"]) == ("table_3", "ipopt-plain")]
    )


def _latency(timing: Record) -> list[Check]:
    return judge_latency(timing["latency"])


def _tell(key: str, results: Results, *, clock: bool) -> str:
    """The figures of a claim, ours (the paper's), in one sentence; nothing if some of them are not there."""
    try:
        told = TELL[key](results)
        if clock and key == "C5" and results.timing:
            ratio = results.timing["forward"]["ratio_numpy"]
            told += f"; a forecast {ratio:.0f} times faster than the plant ({published.FORWARD_RATIO:.0f})"
    except (KeyError, ValueError):
        return ""
    return told


def _tell_c1(results: Results) -> str:
    points = {p["value"]: p for p in results.ablations["points"] if p["axis"] == "trunk"}
    ours, paper = (
        f"{points['temps'][key]:.1f} to {points['loc'][key]:.1f} K" for key in ("unseen", "paper_unseen")
    )
    return f"without previews the error on the unseen diagonal goes from {ours} ({paper})"


def _tell_c2(results: Results) -> str:
    base, corner = (row["rmse_mean_k"] for row in results.offline("vertical"))
    ours = 100 * (corner / base - 1)
    theirs = [published.TABLE_1["vertical", model][MEAN] for model in MODELS]
    paper = 100 * (theirs[1] / theirs[0] - 1)
    return f"corner data change the offline error by {ours:+.0f} % on the vertical path ({paper:+.0f} %)"


def _tell_c3(results: Results) -> str:
    solved, ticks = _count_solved(results)
    sign = min(g["sign_agreement"] for g in results.closed_loop["gradient"].values())
    return (
        f"IPOPT solved {solved} of {ticks} ticks (all); the slope dT/dP has the plant's sign at "
        f"{100 * sign:.1f} % of the points (100 %)"
    )


def _tell_c4(results: Results) -> str:
    loops = results.loops
    over = [loops[label, "diagonal"]["overshoot_k"] for label in LABELS]
    paper = [published.TABLE_2[label, "diagonal"][0] for label in LABELS]
    broken = sum(loops[GUARDED, path]["n_over"] > 0 for path in PATHS)
    return (
        f"overshoot on the diagonal {join(over)} K ({join(paper)} K) with the baseline, corner data, and δ; "
        f"with δ {broken} of {len(PATHS)} paths have a tick above the bound (0)"
    )


def _tell_c5(results: Results) -> str:
    loops, table = results.loops, published.TABLE_2
    off = max(abs(loops[key]["power_mean_w"] - row[6]) for key, row in table.items())
    near = sum(is_near(loops[key]["residual_rms_k"], row[3]) for key, row in table.items())
    return (
        f"mean power within {off:.2f} W of the paper's in every row of Table 2, residual within {FACTOR:g} "
        f"times in {near} of {len(table)}"
    )


def _tell_finding(results: Results) -> str:
    ours = [row["rmse_mean_k"] for row in results.offline("diagonal")]
    theirs = [published.TABLE_1["diagonal", model][MEAN] for model in MODELS]
    base, corner = (results.loops[label, "diagonal"]["n_over"] for label in (BASE, CORNER))
    paper = [published.TABLE_2[label, "diagonal"][1] for label in (BASE, CORNER)]
    return (
        f"offline {join(ours, ' and ')} K ({join(theirs, ' and ')} K) on the unseen diagonal; in the loop "
        f"{base} and {corner} ticks above the bound ({paper[0]} and {paper[1]})"
    )


TELL: dict[str, Callable[[Results], str]] = dict(
    zip(CLAIMS, (_tell_c1, _tell_c2, _tell_c3, _tell_c4, _tell_c5, _tell_finding), strict=True)
)


def explain(key: str, results: Results) -> str:
    """The cause of a sentence's failure, if a figure of this run shows one; nothing otherwise."""
    reason = REASONS.get(key)
    return "" if reason is None else reason(results)


def _explain_order(results: Results) -> str:
    rows = {r["excitation"]: r["t_max_std_k"] for r in results.table_1.get("excitations", [])}
    slow, fast = rows.get("persistent", 0.0), rows.get("hf-random", 0.0)
    if not slow > fast > 0:
        return ""
    return (
        f"under persistent excitation our T_max spreads by {slow:.0f} K, under hf-random by {fast:.0f} K, "
        "whose quick changes the plate averages away: the slower class asks for the wider range."
    )


def _explain_noise(results: Results, where: str) -> str:
    """By the errors, seen or unseen, that the sentence is about, and by its own rule."""
    points = {(p["axis"], p["value"]): p[where] for p in results.ablations.get("points", [])}
    wanted = (("noise", "0"), ("noise", "10"), ("shared noise", "10"))
    if not set(wanted) <= set(points):
        return ""
    still, each, shared = (points[key] for key in wanted)
    if not (keeps_seen(still, shared) if where == "seen" else keeps_unseen(still, shared)):
        return ""
    return (
        f"the paper does not say how its noise is drawn; with one draw for each input our {where} error "
        f"becomes {each:.1f} K, with one for all inputs {shared:.1f} K, by which the sentence holds."
    )


def _explain_lstm(results: Results) -> str:
    trained = results.trainings.get("corner-lstm")
    if not trained or trained["training"].get("schedule", "plateau") != "plateau":
        return ""
    best, epochs = trained["metrics"]["best_epoch"], trained["metrics"]["epochs"]
    if best < 0.95 * epochs:
        return ""
    return (
        f"its best epoch was {best} of {epochs}: the shorter schedule stopped it while it was still learning."
    )


def _explain_corner(results: Results) -> str:
    """By the corner that meets most of the paper's sentences, if that is not the one that ran."""
    rows = results.rows("corners")
    best: Mapping[str, Any] = find_best(rows) if rows else {}
    if not best or best["variant"] == USUAL_CORNER or not explains(best):
        return ""
    return (
        "the paper gives neither the angle of its reversal nor whether the beam slows down there; of "
        f"{len({r['variant'] for r in rows})} corners that of {best['variant']} meets {best['met']} of "
        f"{best['of']} sentences about it, with {best['overshoot_k']:.1f} K over in {best['n_over']} ticks."
    )


def _explain_margin(results: Results) -> str:
    found = results.calibration.get("paper-corner", {})
    if "largest_under_prediction_k" not in found:
        return ""
    return (
        f"δ is a {100 * found['quantile']:g} % quantile, not a bound: the largest under-prediction of a "
        f"held-out window is {found['largest_under_prediction_k']:.1f} K; the paper's own spiral stays "
        "half a kelvin below."
    )


def _explain_forecast(results: Results) -> str:
    forward = results.timing.get("forward")
    return (
        f"five steps of our plant take {forward['plant_5_steps_ms']:.1f} ms, the paper's 515 ms."
        if forward
        else ""
    )


def _explain_cap(results: Results) -> str:
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
    return f"IPOPT came to the paper's cap of {MOST_ITERATIONS} iterations: {', '.join(places)}{when}."


REASONS: dict[str, Callable[[Results], str]] = {  # key of a sentence → what was measured about it
    "table_1.order": _explain_order,
    "c3.solved": _explain_cap,
    "noise.seen": lambda results: _explain_noise(results, "seen"),
    "noise.unseen": lambda results: _explain_noise(results, "unseen"),
    "lstm": _explain_lstm,
    **dict.fromkeys(("c4.overshoot", "c4.run", "c4.place", "c4.size", "c4.same"), _explain_corner),
    "c4.none": _explain_margin,
    "c5.forecast": _explain_forecast,
}
