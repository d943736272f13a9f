"""The page about time: everything that needs a clock."""

from collections.abc import Callable, Sequence
from typing import Any

from laserloop.papers.halilovic.pages.ladder import INTERVAL_US, SOURCE, show_us, write_ladder
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.pages.write import NOT_RUN, write_page
from laserloop.papers.halilovic.report.blocks import (
    NOTHING,
    Block,
    Columns,
    Measure,
    Page,
    Picture,
    Prose,
    Table,
    tabulate,
)
from laserloop.papers.halilovic.report.figures import draw_decisions
from laserloop.papers.halilovic.study.ablation_claims import judge_latency
from laserloop.papers.halilovic.study.published import FORWARD_RATIO, TABLE_3, TIMING
from laserloop.papers.halilovic.words import say

LATE = "deadline passed: previous plan shifted by one tick"
WORDS = {  # controller → its name for people
    "ipopt": "IPOPT, folded graph",
    "ipopt-plain": "IPOPT, the paper's graph",
    "realtime": "compiled",
}
ABLATED = ("table_3", "horizon_seeds", "seeds")  # tables whose times are those of other networks
MS, MS_FINE, TIMES, COUNT = Measure(".1f"), Measure(".3f"), Measure(".0f"), Measure("d")


def _name(run: Record) -> str:
    controller = str(run["controller"])
    return WORDS.get(controller, controller)


def _tick(key: str) -> Callable[[Record], str]:
    return lambda run: show_us(1e3 * run["tick_ms"][key])


def _solve(key: str) -> Callable[[Record], str]:
    return lambda run: show_us(1e3 * run["solve_ms"][key]) if run["solve_ms"]["max"] else NOTHING


LOOPS: Columns = {
    "controller": _name,
    "run": "{label}, {path}",
    "tick median, µs": _tick("median"),
    "p99, µs": _tick("p99"),
    "max, µs": _tick("max"),
    "solver median, µs": _solve("median"),
    "p99, µs ": _solve("p99"),
}
SCENARIOS: Columns = {
    "scenario": "{label}",
    "late ticks": lambda r: str(r["statuses"].get(LATE, 0)),
    "overshoot, K": "{overshoot_k:.1f}",
    "ticks over": "{n_over}",
    "below, %": lambda r: f"{100 * r['below_fraction']:.0f}",
    "deepest, K": "{deepest_below_k:.0f}",
    "residual RMS, K": lambda r: MS.show(r["residual_rms_k"]),
    "mean P, W": "{power_mean_w:.2f}",
}
SOLVERS: Columns = {
    "graph": "{graph}",
    "solve mean, ms": lambda s: MS.show(s["solve_ms"]["mean"], TIMING["solve_mean_ms"]),
    "p95, ms": lambda s: MS.show(s["solve_ms"]["p95"], TIMING["solve_p95_ms"]),
    "max, ms": lambda s: MS.show(s["solve_ms"]["max"], TIMING["solve_max_ms"]),
    "tick mean, ms": "{tick_ms[mean]:.1f}",
    "evaluations, %": lambda s: f"{100 * s['evaluation_share']:.0f}",
    "IPOPT, %": lambda s: f"{100 * s['solver_share']:.0f}",
    "iterations": lambda s: MS.show(s["iterations"]["mean"], TIMING["iterations_mean"]),
    "most": lambda s: COUNT.show(s["iterations"]["max"], int(TIMING["iterations_max"])),
}


def write_timing(results: Results) -> Page:
    """The ladder to real time, deadlines, and the paper's timings beside ours."""
    found = results.timing
    if found is None:
        return write_page("timing", None)
    writers: dict[str, tuple[str, Callable[[Any], list[Block]]]] = {
        "ladder": ("bench", write_ladder),
        "loops": ("loops", _write_loops),
        "scenarios": ("scenarios", _write_scenarios),
        "forward": ("forward", _write_forward),
        "solvers": ("solvers", _write_solvers),
        "table_3": ("loops", _write_table_3),
        "latency": ("latency", _write_latency),
    }
    parts = {
        part: write(found[key]) if found.get(key) else [NOT_RUN] for part, (key, write) in writers.items()
    }
    return write_page("timing", parts)


def _write_loops(loops: Sequence[Record]) -> list[Block]:
    chosen = [one for one in loops if one["table"] not in ABLATED]
    series = {_name(one): one["series_tick_ms"] for one in chosen if one.get("series_tick_ms")}
    drawn = Picture("decisions", say("timing.decisions"), draw_decisions(series, 1e-3 * INTERVAL_US))
    return [
        Prose("The whole tick: judging the image, sampling it, the solver, Python."),
        *([drawn] if series else []),
        tabulate(chosen, LOOPS, grouped=True, folded=f"times of {len(chosen)} runs", source=SOURCE),
    ]


def _write_scenarios(scenarios: Sequence[Record]) -> list[Block]:
    return [Prose(say("timing.scenarios")), tabulate(scenarios, SCENARIOS, source=SOURCE)]


def _write_forward(forward: Record) -> list[Block]:
    plant, theirs = forward["plant_5_steps_ms"], TIMING["plant_5_steps_ms"]
    numpy = MS_FINE.show(1e-3 * forward["numpy_us"], TIMING["forward_ms"])
    rows = [
        ("one forecast of five ticks, ms", numpy, "in NumPy"),
        ("", MS_FINE.show(1e-3 * forward["numba_us"]), "compiled"),
        ("five steps of the plant, ms", MS.show(plant, theirs), ""),
        ("ratio", TIMES.show(forward["ratio_numpy"], FORWARD_RATIO), "in NumPy"),
        ("", TIMES.show(forward["ratio_numba"], FORWARD_RATIO), "compiled"),
    ]
    told = say("timing.faster" if theirs > plant else "timing.slower", faster=theirs / plant)
    return [Table(("what", "time", "how"), rows, source=SOURCE), Prose(told)]


def _write_solvers(solvers: Record) -> list[Block]:
    rows = [{"graph": "the paper's graph" if name == "plain" else name, **s} for name, s in solvers.items()]
    return [Prose(say("timing.shares")), tabulate(rows, SOLVERS, source=SOURCE)]


def _write_table_3(loops: Sequence[Record]) -> list[Block]:
    rows = []
    for one in loops:
        if one["table"] == "table_3":
            paper = TABLE_3.get((one["label"], one["path"]))
            shown = MS.show(one["solve_ms"]["mean"], paper[5] if paper else None)
            rows.append((one["label"], one["path"], _name(one), shown))
    if not rows:
        return [NOT_RUN]
    heads = ("setting", "path", "solver", "solve mean, ms")
    return [Prose(say("timing.table_3")), Table(heads, rows, grouped=True, source=SOURCE)]


def _write_latency(latency: Record) -> list[Block]:
    if "ms-deeponet" not in latency:
        return [NOT_RUN]
    return [
        Prose("Medians on one core, the models taking turns in one run."),
        tabulate_latency(latency),
        tabulate_claims(judge_latency(latency), SOURCE),
    ]


def tabulate_latency(latency: Record) -> Table:
    """Median µs of one window, and the ratio to the one-shot network's."""
    ways, base = ("numpy_us", "compiled_us"), latency["ms-deeponet"]
    rows = [
        (name, *(f"{times[way]:.1f}" for way in ways), *(f"{times[way] / base[way]:.1f}" for way in ways))
        for name, times in latency.items()
    ]
    heads = ("model", "NumPy, µs", "compiled, µs", "ratio, NumPy", "ratio, compiled")
    return Table(heads, rows, source=SOURCE)
