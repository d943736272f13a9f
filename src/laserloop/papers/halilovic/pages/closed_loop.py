"""The page about the closed loops: Tables 2 and 3, the corner failure, seeds, the gradient."""

from typing import Any

import numpy as np

from laserloop.papers.halilovic.pages.loop_pictures import draw_loops
from laserloop.papers.halilovic.pages.loop_words import explain
from laserloop.papers.halilovic.pages.pick import BASE, find, read_asked, read_loops, read_others, read_rows
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.tables import tabulate_loops
from laserloop.papers.halilovic.pages.write import NOT_RUN, Parts, write_page
from laserloop.papers.halilovic.report.blocks import (
    NOTHING,
    Block,
    Bullets,
    Cell,
    Columns,
    Measure,
    Page,
    Prose,
    tabulate,
)
from laserloop.papers.halilovic.study import published
from laserloop.papers.halilovic.study.corners import ACCELERATION, explains, find_best
from laserloop.papers.halilovic.words import say

SOURCE = "results/closed_loop.json"
COMPLETED = "path completed"
SOLVERS = {"ipopt": "IPOPT with the folded graph", "ipopt-plain": "IPOPT with the paper's graph"}
KELVIN, FIVE, TWO, PERCENT = Measure(".1f"), Measure(".1f", 5.0), Measure(".1f", 2.0), Measure(".1f", 0.5)
COUNT, FINE = Measure("d", 2.0), Measure(".2f")
SWAPPED = {
    "controller": "{label}",
    "path": "{path}",
    "overshoot, K (IPOPT)": "{overshoot_k:.2f} ({ipopt[overshoot_k]:.2f})",
    "ticks over": "{n_over} ({ipopt[n_over]})",
    "mean P, W": "{power_mean_w:.3f} ({ipopt[power_mean_w]:.3f})",
    "below, %": "{below:.1f} ({ipopt[below]:.1f})",
}


def write_closed_loop(results: Results) -> Page:
    """Every closed loop of the paper, ours beside it."""
    loops, others = read_loops(results), read_others(results)
    if results.closed_loop is None or not loops:
        return write_page("closed_loop", None)
    parts: Parts = {
        "table_2": tabulate_loops(loops, SOURCE),
        "others": [Prose(say("others")), tabulate_loops(others, SOURCE)] if others else None,
        "differences": Bullets(explain(results)),
        "text": tabulate(loops, TEXT, grouped=True, source=SOURCE),
        "failure": describe_failure(results),
        "table_3": write_table_3(results),
        "seeds": write_seeds(results),
        "statuses": count_statuses(results),
        "gradient": write_gradient(results),
        "swapped": write_swapped(results),
        "runs": draw_loops(results),
    }
    controller = loops[0]["controller"]
    return write_page("closed_loop", parts, first=loops[0], solver=SOLVERS.get(controller, controller))


def _beside(record: Record, table: Any) -> Any:
    """What a table of the paper's has for a run; None where it has nothing."""
    return table.get((record["label"], record["path"]))


def _read(record: Record, name: str) -> Any:
    return np.array(record["series"][name], dtype=np.float64)[record["settled_from"] :]


def _measure_residual(record: Record) -> Cell | str:
    if "series" not in record:
        return NOTHING
    residual = np.abs(_read(record, "t_predicted_k") - _read(record, "t_true_k"))
    paper = _beside(record, {(BASE, "vertical"): published.MEAN_RESIDUAL})
    return KELVIN.show(float(np.nanmean(residual)), paper)


def _measure_moves(record: Record) -> Cell | str:
    if "series" not in record:
        return NOTHING
    moves = np.abs(np.diff(_read(record, "power_w")))
    paper = _beside(record, {(BASE, "vertical"): published.LARGEST_MOVE})
    return FINE.show(float(moves.max(initial=0.0)), paper)


TEXT: Columns = {
    "controller": "{label}",
    "path": "{path}",
    "highest T_max, K": lambda r: FIVE.show(r["t_max_k"], _beside(r, published.HIGHEST)),
    "deepest below, K": lambda r: FIVE.show(r["deepest_below_k"], _beside(r, published.DEEPEST)),
    "mean absolute residual, K": _measure_residual,
    "largest ΔP, W": _measure_moves,
}


def describe_failure(results: Results) -> list[Block]:
    """Where the baseline is furthest off, and which corner meets what the paper says of its own."""
    failure, corners = find(read_loops(results), BASE, "diagonal"), read_rows(results, "corners")
    blocks: list[Block] = []
    if failure is not None and (worst := failure["worst_residual"]):
        blocks.append(Prose(say("failure", ours=worst, paper=published.CORNER_FAILURE)))
    if corners:
        best = find_best(corners)
        verdict = "failure.best" if explains(best) else "failure.none"
        blocks += [
            Prose(say("failure.corners", acceleration=ACCELERATION)),
            tabulate(corners, CORNERS, grouped=True, source=SOURCE),
            Prose(say(verdict, best=best)),
        ]
    return blocks or [NOT_RUN]


def _show_worst(words: str) -> Any:
    return lambda r: words.format(**r["worst_residual"]) if r["worst_residual"] else NOTHING


def _show_distance(record: Record) -> str:
    away = record["failure"]["worst_from_first"]
    return NOTHING if away is None else f"{away:.2f}"  # a run that ended before it met the reversal


CORNERS: Columns = {
    "corner": "{variant}",
    "model": "{label}",
    "overshoot, K": "{overshoot_k:.1f}",
    "ticks over": "{n_over}",
    "at the first reversal": "{failure[at_first]}",
    "residual RMS, K": lambda r: KELVIN.show(r["residual_rms_k"]),
    "worst, K": "{failure[worst_k]:+.1f}",
    "from the reversal, mm": _show_distance,
    "when, ms": _show_worst("{t_ms:.2f}"),
    "apart, ticks": "{failure[peak_to_worst]}",
    "met": lambda r: f"{r['met']} of {r['of']}" if r["label"] == BASE else NOTHING,
}


def _of_table_3(record: Record, column: int) -> float | None:
    paper = _beside(record, published.TABLE_3)
    return None if paper is None else float(paper[column])


TABLE_3: Columns = {
    "setting": "{label}",
    "path": "{path}",
    "highest, K": lambda r: FIVE.show(r["t_max_k"], _of_table_3(r, 0)),
    "overshoot, K": lambda r: TWO.show(r["overshoot_k"], _of_table_3(r, 1)),
    "ticks over": lambda r: COUNT.show(r["n_over"], None if (n := _of_table_3(r, 2)) is None else int(n)),
    "below, %": lambda r: FIVE.show(100 * r["below_fraction"], _percent(_of_table_3(r, 3))),
    "RMSE₁, K": lambda r: _show_spread(r["all_rmse_k"], _of_table_3(r, 4)),
}


def _show_spread(found: list[float], paper: float | None) -> Cell:
    """The first of some figures beside the paper's, and how far apart all of them lie."""
    cell = KELVIN.show(found[0], paper)
    spread = f" ± {np.std(found, ddof=1):.2f}" if len(found) > 1 else ""
    return Cell(cell.text + spread, cell.paper, cell.drift)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def write_table_3(results: Results) -> list[Block]:
    """Other horizons, and a model that eats its own predictions."""
    rows = [dict(row) for row in read_rows(results, "table_3")]
    if not rows:
        return [NOT_RUN]
    again = [*read_rows(results, "horizon_seeds"), *_read_usual_horizon(results)]
    for row in rows:
        same = [r for r in again if (r["label"].split(" seed")[0], r["path"]) == (row["label"], row["path"])]
        row["all_rmse_k"] = [row["residual_rms_k"], *(r["residual_rms_k"] for r in same)]
    counts = {len(row["all_rmse_k"]) for row in rows} - {1}
    seeds = say("table_3.seeds", count=max(counts)) if counts else ""
    table = tabulate(rows, TABLE_3, grouped=True, source=SOURCE)
    return [Prose(say("table_3", seeds=f" {seeds}" if seeds else "")), table]


def _read_usual_horizon(results: Results) -> list[Record]:
    """Other seeds of N_h = 5, which close the loop as the corner model's."""
    seeds = [r for r in read_rows(results, "seeds") if r["label"] in ("corner seed 1", "corner seed 2")]
    return [{**r, "label": r["label"].replace("corner", "N_h = 5")} for r in seeds]


def write_seeds(results: Results) -> list[Block]:
    """The same loops with models from other seeds."""
    seeds = read_rows(results, "seeds")
    if not seeds:
        return [Prose("No further seeds were run.")]
    schedule = (results.ablations or {}).get("schedule")
    told = " ({max_epochs} epochs at most)".format(**schedule) if schedule else ""
    return [
        Prose(f"Models trained by the shorter schedule{told} from other seeds, in the same loops."),
        tabulate_loops(seeds, SOURCE, folded=f"{len(seeds)} runs with other seeds"),
    ]


def count_statuses(results: Results) -> list[Block]:
    """Whether every tick of every run was solved."""
    asked = read_asked(results)
    others = [r for r in asked if set(r["statuses"]) != {"solved"} or r["ending"] != COMPLETED]
    ticks = sum(r["ticks"] for r in asked)
    told = f"{len(asked)} runs, {ticks} ticks; runs with another status than solved: {len(others)}."
    lines = [f"{r['label']}, {r['path']}: {tell_statuses(r['statuses'])}" for r in others]
    return [Prose(told), *([Bullets(lines)] if lines else [])]


def tell_statuses(statuses: Record) -> str:
    """Counts of statuses as words."""
    return ", ".join(f"{count} × {status}" for status, count in statuses.items())


GRADIENT: Columns = {
    "model": "{name}",
    "points": "{points}",
    "same sign, %": lambda g: PERCENT.show(
        100 * g["sign_agreement"], 100 * published.GRADIENT["sign_agreement"]
    ),
    "plant's mean, K/W": lambda g: KELVIN.show(g["typical_k_w"], published.GRADIENT["typical_k_w"]),
    "mean off, K/W": lambda g: FINE.show(g["mean_k_w"], published.GRADIENT["mean_k_w"]),
    "median off, K/W": lambda g: FINE.show(g["median_k_w"], published.GRADIENT["median_k_w"]),
}


def write_gradient(results: Results) -> list[Block]:
    """Slopes of the surrogate against those of the plant."""
    found = (results.closed_loop or {}).get("gradient")
    if not found:
        return [NOT_RUN]
    rows = [{"name": name, **one} for name, one in found.items()]
    return [Prose(say("gradient")), tabulate(rows, GRADIENT, source=SOURCE)]


def write_swapped(results: Results) -> list[Block]:
    """The runs of Table 2 decided by the compiled solver."""
    rows = []
    for ours in read_rows(results, "realtime"):
        ipopt = find(read_loops(results), ours["label"], ours["path"])
        if ipopt is not None:
            one, other = ({**r, "below": 100 * r["below_fraction"]} for r in (ours, ipopt))
            rows.append({**one, "ipopt": other})
    if not rows:
        return [NOT_RUN]
    told = "The same runs, decided by the compiled real-time solver; in brackets those of IPOPT."
    return [Prose(told), tabulate(rows, SWAPPED, grouped=True, source=SOURCE)]
