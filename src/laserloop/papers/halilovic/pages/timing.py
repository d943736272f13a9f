"""The page about time: everything that needs a clock."""

from collections.abc import Sequence

from laserloop.papers.halilovic.pages.ladder import INTERVAL_US, SOURCE, show_us, write_ladder
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.pages.tables import tabulate_claims
from laserloop.papers.halilovic.report.blocks import (
    Block,
    Cell,
    Heading,
    Measure,
    Page,
    Picture,
    Prose,
    Table,
)
from laserloop.papers.halilovic.report.figures import draw_decisions
from laserloop.papers.halilovic.study.ablation_claims import judge_latency
from laserloop.papers.halilovic.study.published_loops import TABLE_3, TIMING
from laserloop.papers.halilovic.study.published_text import FORWARD_RATIO

LATE = "deadline passed: previous plan shifted by one tick"
WORDS = {  # of a run
    "table_2": "IPOPT, folded graph",
    "plain": "IPOPT, the paper's graph",
    "realtime": "compiled",
}
MS, MS_FINE, COUNT = Measure(".1f"), Measure(".3f"), Measure(".1f")


def write_timing(results: Results) -> Page:
    """The ladder to real time, deadlines, and the paper's timings beside ours."""
    title = "Real time: one tick inside its own 125 µs"
    found = results.timing
    if found is None:
        return Page("timing", title, (NOT_RUN,))
    parts = (
        ("bench", "The ladder", write_ladder),
        ("loops", "Whole ticks in the loop", _write_loops),
        ("scenarios", "Deadlines and cameras", _write_scenarios),
        ("forward", "One forecast against the plant", _write_forward),
        ("solvers", "Where an IPOPT tick goes", _write_solvers),
        ("loops", "Solve times of Table 3", _write_table_3),
        ("latency", "One window: DeepONet and LSTM", _write_latency),
    )
    blocks: list[Block] = [
        Prose(
            "Everything here depends on a machine and its mood ([stages](stages.md) says which); all else "
            "on these pages does "
            "not. The same nonlinear program and the same network for every solver."
        )
    ]
    for key, heading, write in parts:
        blocks += [Heading(heading), *(write(found[key]) if found.get(key) else [NOT_RUN])]
    return Page("timing", title, blocks)


def _write_loops(loops: Sequence[Record]) -> list[Block]:
    chosen = [one for one in loops if one["table"] in ("table_2", "realtime", "plain")]
    rows = [
        (
            WORDS[one["table"]]
            if str(one["controller"]).startswith(("ipopt", "realtime"))
            else str(one["controller"]),
            f"{one['label']}, {one['path']}",
            *(show_us(1e3 * one["tick_ms"][key]) for key in ("median", "p99", "max")),
            *(
                show_us(1e3 * one["solve_ms"][key]) if one["solve_ms"]["max"] else "–"
                for key in ("median", "p99")
            ),
        )
        for one in chosen
    ]
    heads = ("controller", "run", "tick median, µs", "p99, µs", "max, µs", "solver median, µs", "p99, µs")
    series = {WORDS[one["table"]]: one["series_tick_ms"] for one in loops if one.get("series_tick_ms")}
    drawn: list[Block] = []
    if series:
        caption = "How long each decision on the diagonal took with the corner model, tick by tick."
        drawn = [Picture("decisions", caption, draw_decisions(series, 1e-3 * INTERVAL_US))]
    return [
        Prose("The whole tick: judging the image, sampling it, the solver, Python."),
        *drawn,
        Table(heads, rows, grouped=True, folded=f"times of {len(rows)} runs", source=SOURCE),
    ]


def _write_scenarios(scenarios: Sequence[Record]) -> list[Block]:
    rows = [
        (
            r["label"],
            str(r["statuses"].get(LATE, 0)),
            f"{r['overshoot_k']:.1f}",
            str(r["n_over"]),
            f"{100 * r['below_fraction']:.0f}",
            f"{r['deepest_below_k']:.0f}",
            "–" if r["residual_rms_k"] is None else f"{r['residual_rms_k']:.1f}",
            f"{r['power_mean_w']:.2f}",
        )
        for r in scenarios
    ]
    heads = (
        "scenario",
        "late ticks",
        "overshoot, K",
        "ticks over",
        "below, %",
        "deepest, K",
        "residual RMS, K",
        "mean P, W",
    )
    return [
        Prose(
            "The unseen diagonal with the corner model and δ. A charged answer takes a time drawn from "
            "those measured in this "
            "run. Not compensated: an old image is taken for one of now."
        ),
        Table(heads, rows, source=SOURCE),
    ]


def _write_forward(forward: Record) -> list[Block]:
    rows = [
        (
            "one forecast of five ticks, ms",
            MS_FINE.show(1e-3 * forward["numpy_us"], TIMING["forward_ms"]),
            "in NumPy",
        ),
        ("", MS_FINE.show(1e-3 * forward["numba_us"]), "compiled"),
        ("five steps of the plant, ms", MS.show(forward["plant_5_steps_ms"], TIMING["plant_5_steps_ms"]), ""),
        ("ratio", Measure(".0f").show(forward["ratio_numpy"], FORWARD_RATIO), "in NumPy"),
        ("", Measure(".0f").show(forward["ratio_numba"], FORWARD_RATIO), "compiled"),
    ]
    faster = TIMING["plant_5_steps_ms"] / forward["plant_5_steps_ms"]
    return [
        Table(("what", "time", "how"), rows, source=SOURCE),
        Prose(
            f"Five steps of our plant take {faster:.0f} times less than theirs (on another machine), so "
            f"the same surrogate "
            "gains less on it."
            if faster > 1
            else "Five steps of our plant take longer than theirs (on another machine)."
        ),
    ]


def _write_solvers(solvers: Record) -> list[Block]:
    rows: list[tuple[Cell | str, ...]] = [
        (
            "the paper's graph" if name == "plain" else name,
            MS.show(s["solve_ms"]["mean"], TIMING["solve_mean_ms"]),
            MS.show(s["solve_ms"]["p95"], TIMING["solve_p95_ms"]),
            MS.show(s["solve_ms"]["max"], TIMING["solve_max_ms"]),
            f"{s['tick_ms']['mean']:.1f}",
            f"{100 * s['evaluation_share']:.0f}",
            f"{100 * s['solver_share']:.0f}",
            COUNT.show(s["iterations"]["mean"], TIMING["iterations_mean"]),
            Measure("d").show(s["iterations"]["max"], int(TIMING["iterations_max"])),
        )
        for name, s in solvers.items()
    ]
    heads = (
        "graph",
        "solve mean, ms",
        "p95, ms",
        "max, ms",
        "tick mean, ms",
        "evaluations, %",
        "IPOPT, %",
        "iterations",
        "most",
    )
    return [
        Prose(
            "Shares of the tick: evaluating the network and its derivatives, IPOPT's own work; the rest is "
            "Python."
        ),
        Table(heads, rows, source=SOURCE),
    ]


def _write_table_3(loops: Sequence[Record]) -> list[Block]:
    rows: list[tuple[Cell | str, ...]] = []
    for one in loops:
        if one["table"] == "table_3":
            paper = TABLE_3.get((one["label"], one["path"]))
            rows.append(
                (one["label"], one["path"], MS.show(one["solve_ms"]["mean"], paper[5] if paper else None))
            )
    if not rows:
        return [NOT_RUN]
    note = "Mean of all ticks. Ours solves the folded graph, but SS-AR, which cannot be folded, the paper's."
    return [Prose(note), Table(("setting", "path", "solve mean, ms"), rows, grouped=True, source=SOURCE)]


def _write_latency(latency: Record) -> list[Block]:
    if "ms-deeponet" not in latency:
        return [NOT_RUN]
    ways = ("numpy_us", "compiled_us")
    base = latency["ms-deeponet"]
    rows = [
        (name, *(f"{times[way]:.1f}" for way in ways), *(f"{times[way] / base[way]:.1f}" for way in ways))
        for name, times in latency.items()
    ]
    heads = ("model", "NumPy, µs", "compiled, µs", "ratio, NumPy", "ratio, compiled")
    return [
        Prose("Medians on one core, the models taking turns in one run."),
        Table(heads, rows, source=SOURCE),
        tabulate_claims(judge_latency(latency), SOURCE),
    ]
