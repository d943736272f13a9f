"""Every figure of the report, from plain numbers; nothing here simulates."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from laserloop.data.ensemble import Excitation, draw_power
from laserloop.paths import find_path
from laserloop.process import find_material
from laserloop.report.figures import BAND, COLD, FAINT, HOT, INK, STYLE, WIDTH, mark_turns
from laserloop.report.record import (
    find_sharp_turns,
    mark_judged,
    mark_over,
    read,
    read_margin,
    read_window,
    show_ms,
)
from laserloop.report.run_figures import LOOKS, Look, draw_residual_map, draw_run
from laserloop.studies.halilovic.measures import LINE_SETTLED, LINE_SPEED, LINE_TICK
from laserloop.studies.halilovic.published import ONE_SHOT_STEPS, SS_AR_STEPS, TIMING
from laserloop.studies.halilovic.results import BASE, CORNER, GUARDED, LABELS, Record, Results, index

ORANGE = "#e69f00"
TICK_MS = 0.125
INTERVAL_US = 125.0
SHOWN_PATHS = {
    "vertical": "vertical: seen",
    "spiral": "spiral: seen",
    "polyline:0": "a random polyline: seen",
    "diagonal": "diagonal: unseen",
}
TITLES = {BASE: "Baseline model", CORNER: "Corner data", GUARDED: "Corner data + δ"}
LOOPS = {  # the paper's figures of closed loops; None: not in the paper
    (BASE, "vertical"): 10,
    (BASE, "diagonal"): 11,
    (BASE, "spiral"): 18,
    (CORNER, "vertical"): 14,
    (CORNER, "diagonal"): 13,
    (CORNER, "spiral"): 19,
    (GUARDED, "vertical"): None,
    (GUARDED, "diagonal"): 15,
    (GUARDED, "spiral"): 20,
}
SOLVERS = {  # of a bench, or of a stored one: solver → words, from the slowest kind to the fastest
    "reference": "IPOPT, the paper's graph",
    "folded": "IPOPT, folded graph",
    "sqp": "SQP (CasADi), folded graph",
    "numba": "compiled by numba, called from Python",
    "numpy": "SQP (NumPy and DAQP), folded network",
    "realtime": "exported C, called from Python",
    "exported_c": "exported C, in turn with all others",
    "exported_c_alone": "exported C, one problem after another",
    "exported_c_warm": "exported C, ticks of closed loops in their order",
}
CONTROLLERS = {  # in a loop → its name for people
    "ipopt": "IPOPT, folded graph",
    "ipopt-plain": "IPOPT, the paper's graph",
    "realtime": "compiled",
}
ABLATED = ("table_3", "horizon_seeds", "seeds")  # tables whose times are those of other networks
PANELS = {
    "horizon": "Horizon, ticks",
    "trunk": "What the trunk sees",
    "basis": "Basis functions",
    "width": "Width of a hidden layer",
    "noise": "Noise on each temperature, K",
    "shared noise": "One noise for all of them, K",
    "noise on loc": "Noise, trunk loc, K",
    "structure": "Structure",
}
COLOURS = {"seen": COLD, "unseen": HOT}
SHIFT = 0.08  # of the paper's marks, so that equal figures can both be seen
MAP = 0.26  # width of a map, in that of a history
DOT = 1.6  # points², area of a dot for a kelvin of excess

Points = Sequence[Mapping[str, Any]]


class SolverTime(NamedTuple):
    """How long one solver takes for an answer, µs."""

    name: str
    median: float
    p99: float
    p999: float


def draw_all(results: Results) -> dict[str, Figure]:
    """By the name of its file, every figure whose numbers are there."""
    found: dict[str, Figure] = {}
    loops = {key: record for key, record in results.loops.items() if "series" in record}
    unseen = [loops[label, "diagonal"] for label in LABELS if (label, "diagonal") in loops]
    if len(unseen) == len(LABELS):
        found["story"] = draw_story(unseen, [TITLES[label] for label in LABELS])
    if results.table_1:
        found["paths"] = draw_paths(
            {t: (1e3 * find_path(n, ticks=400).positions).tolist() for n, t in SHOWN_PATHS.items()}
        )
        powers = {str(kind): draw_power(kind, 100, np.random.default_rng(0)).tolist() for kind in Excitation}
        found["excitations"] = draw_excitations(powers)
        if results.table_1.get("tracking"):
            title = "Blind windows of the corner model"
            found["offline-corner"] = draw_tracking(results.table_1["tracking"], title=title)
    for key in LOOPS:
        if key in loops:
            found[f"loop-{name_loop(*key)}"] = draw_run(loops[key])
    for key in ((BASE, "diagonal"), (CORNER, "diagonal")):
        if key in loops:
            found[f"residual-{name_loop(*key)}"] = draw_residual_map(loops[key])
    ss_ar = index(results.rows("table_3")).get(("SS-AR", "diagonal"), {})
    if "series" in ss_ar:
        found["loop-ss-ar-diagonal"] = draw_run(ss_ar)
    if results.ablations:
        points = results.ablations["points"]
        steps = {"SS-AR": SS_AR_STEPS, "one-shot": (ONE_SHOT_STEPS, ONE_SHOT_STEPS)}
        found["ablations"], found["ablations-steps"] = (
            draw_ablations(points),
            draw_error_growth(points, steps),
        )
    if results.plant:
        found |= _draw_plant(results.plant)
    if results.timing.get("bench"):
        times = list_solvers(results.timing["bench"])
        found["ladder"] = draw_solver_times(times, INTERVAL_US, 1e3 * TIMING["solve_mean_ms"])
    kept = [run for run in list_timed(results.timing) if run.get("series_tick_ms")]
    if kept:
        series = {name_controller(run): run["series_tick_ms"] for run in kept}
        found["decisions"] = draw_decisions(series, 1e-3 * INTERVAL_US)
    return found


def name_loop(label: str, path: str) -> str:
    """Of a figure's file."""
    return f"{label.replace(' + δ', '-delta').replace(' ', '-')}-{path}"


def name_controller(run: Record) -> str:
    """For people."""
    return CONTROLLERS.get(run["controller"], str(run["controller"]))


def list_solvers(bench: Record) -> list[SolverTime]:
    """The solvers of a bench; those not measured are left out."""
    return [
        SolverTime(words, bench[name]["median_us"], bench[name]["p99_us"], bench[name]["p999_us"])
        for name, words in SOLVERS.items()
        if name in bench
    ]


def list_timed(timing: Record) -> list[Record]:
    """The runs whose times are those of the deployed networks."""
    return [run for run in timing.get("loops", []) if run["table"] not in ABLATED]


def _draw_plant(found: Record) -> dict[str, Figure]:
    figures, steel = {}, find_material("304")
    if "lines" in found:
        lines, limits = found["lines"], {angle: row["limit_k"] for angle, row in found["reference"].items()}
        count = len(next(iter(lines["paper"].values()))["node"])
        first = LINE_SETTLED + 1
        distance = found.get("distance_mm") or [
            1e3 * LINE_SPEED * LINE_TICK * (first + k) for k in range(count)
        ]
        figures["plants"] = draw_plants(lines, limits, distance)
    T = np.linspace(*steel.valid, 60)
    curves = {
        "density, kg/m³": steel.density(T).tolist(),
        "heat capacity, J/kgK": steel.heat_capacity(T).tolist(),
        "conductivity, W/mK": steel.conductivity(T).tolist(),
    }
    return figures | {"material": draw_material(curves, T.tolist())}


@mpl.rc_context(STYLE)
def draw_story(records: Sequence[Record], names: Sequence[str]) -> Figure:
    """T_max against the window, a panel for each run; beside it where the plate was too hot; the powers."""
    n = len(records)
    figure = Figure(figsize=(WIDTH, 1.22 * n + 1.75))
    axes = figure.subplots(
        n + 1, 2, sharex="col", width_ratios=(1, MAP), height_ratios=(*[1.0] * n, 0.9), squeeze=False
    )
    limits = _find_limits(records)
    for i, (record, name, look) in enumerate(zip(records, names, cycle(LOOKS), strict=False)):
        _plot_history(axes[i, 0], record, look, i)
        axes[i, 0].set_ylim(limits)
        axes[i, 0].set_yticks(read_window(record))
        axes[i, 0].set_title(f"{name}: {_judge(record)}")
        _plot_map(axes[i, 1], record, i)
        _plot_power(axes[n, 0], record, look, i)
    axes[n // 2, 0].set_ylabel("Tₘₐₓ, K")
    lowest = axes[n, 0]
    lowest.set(xlabel="time, ms", ylabel="power, W", xlim=(0, max(read(r, "t_s")[-1] for r in records) * 1e3))
    axes[n, 1].set_axis_off()
    _add_key(axes[n, 1], names)
    figure.legend(handles=_legend(records), loc="outside lower left", ncols=3, columnspacing=1.2)
    return figure


def _plot_history(axes: Axes, record: Record, look: Look, i: int) -> None:
    t, T = read(record, "t_s") * 1e3, read(record, "t_true_k")
    (low, high), settled = read_window(record), mark_judged(record)
    axes.axhspan(low, high, color=BAND, alpha=0.16, linewidth=0)
    axes.fill_between(t, T, high, where=(high < T).tolist(), interpolate=True, color=HOT, alpha=0.75, lw=0)
    axes.fill_between(t, T, low, where=(low > T).tolist(), interpolate=True, color=COLD, alpha=0.2, lw=0)
    axes.axhline(high, color=HOT, linewidth=0.9)
    if margin := read_margin(record):
        axes.axhline(high - margin, color=INK, linewidth=0.9, linestyle=":", gid=f"tightened-{i}")
    axes.plot(t, T, color=look[0], linewidth=1.1, gid=f"truth-{i}")
    over = mark_over(record)
    axes.plot(t[over], T[over], "o", color=HOT, markersize=2.6, gid=f"over-{i}")
    if not settled.all() and settled.any():
        axes.axvspan(0, t[settled][0], color=FAINT, alpha=0.25, linewidth=0)
    mark_turns(axes, t[find_sharp_turns(record)], f"turns-{i}")


def _plot_map(axes: Axes, record: Record, i: int) -> None:
    """The path, and a dot as large as the excess wherever the plate was too hot."""
    x, y, over = read(record, "x_mm"), read(record, "y_mm"), mark_over(record)
    excess = (read(record, "t_true_k") - read_window(record)[1])[over]
    axes.plot(x, y, color=FAINT, linewidth=1.0)
    axes.scatter(
        x[over], y[over], s=6 + DOT * excess, color=HOT, alpha=0.8, linewidth=0, zorder=3, gid=f"where-{i}"
    )
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.set_axis_off()


def _plot_power(axes: Axes, record: Record, look: Look, i: int) -> None:
    t, power = read(record, "t_s") * 1e3, read(record, "power_w")
    axes.plot(
        t, power, color=look[0], linestyle=look[1], linewidth=0.9, drawstyle="steps-pre", gid=f"power-{i}"
    )
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.08 * float(power.max(initial=1.0))))


def _add_key(axes: Axes, names: Sequence[str]) -> None:
    handles = [
        Line2D([], [], color=look[0], linestyle=look[1], linewidth=1.1, label=name)
        for name, look in zip(names, cycle(LOOKS), strict=False)
    ]
    axes.legend(handles=handles, loc="center left", fontsize=7, handlelength=1.6, borderaxespad=0.0)


def _find_limits(records: Sequence[Record]) -> tuple[float, float]:
    """Every settled truth and the window, K."""
    parts = [np.array(read_window(record)) for record in records]
    parts += [read(record, "t_true_k")[mark_judged(record)] for record in records]
    together = np.concatenate(parts)
    low, high = float(together.min()), float(together.max())
    return low - 0.1 * (high - low), high + 0.2 * (high - low)


def _judge(record: Record) -> str:
    over, top = record["n_over"], read_window(record)[1]
    if not over:
        return f"never above {top:g} K"
    return f"{over} tick{'s' * (over != 1)} above {top:g} K, by up to {record['overshoot_k']:.1f} K"


def _legend(records: Sequence[Record]) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = [
        Patch(color=BAND, alpha=0.25, linewidth=0, label="window"),
        Patch(color=HOT, alpha=0.75, linewidth=0, label="too hot (map: where)"),
        Patch(color=COLD, alpha=0.3, linewidth=0, label="too cold"),
        Line2D([], [], color=INK, marker="v", markersize=4, linestyle="", label="sharp turn"),
        Patch(color=FAINT, alpha=0.35, linewidth=0, label="heating up, not counted"),
    ]
    margins = [read_margin(record) for record in records if read_margin(record)]
    if margins:
        label = f"bound − δ, δ = {margins[0]:.3g} K"
        handles.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=":", label=label))
    return handles


@mpl.rc_context(STYLE)
def draw_tracking(rows: Sequence[Mapping[str, Any]], *, title: str) -> Figure:
    """T_max of the plant and of the model, one panel for each trajectory; dots are where windows begin."""
    figure = Figure(figsize=(7.2, 1.7 * len(rows) + 0.6))
    panels = np.atleast_1d(figure.subplots(len(rows), 1, sharex=True))
    for panel, row in zip(panels, rows, strict=True):
        time = TICK_MS * np.asarray(row["tick"])
        true, predicted = np.asarray(row["true_k"]), np.asarray(row["predicted_k"])
        panel.plot(time, true, color=INK, linewidth=1.1, label="plant")
        panel.plot(time, predicted, color=HOT, linewidth=0.9, linestyle="--", label="blind prediction")
        begin = slice(None, None, row["horizon"])
        panel.plot(time[begin], true[begin], ".", color=COLD, markersize=2.5, label="window begins")
        rmse = float(np.sqrt(np.mean((predicted - true) ** 2)))
        panel.set_title(f"{row['path']}, {row['excitation']}: RMSE {rmse:.1f} K")
        panel.set_ylabel("T_max, K")
    panels[-1].set_xlabel("time, ms")
    panels[0].legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 0.98), borderaxespad=0.0)
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return figure


@mpl.rc_context(STYLE)
def draw_ablations(points: Points) -> Figure:
    """Horizon RMSE on seen and unseen paths along every axis; crosses are the paper's."""
    figure = Figure(figsize=(2.4 * WIDTH, 5.6))
    panels = figure.subplots(2, 4)
    for axes, (axis, title) in zip(panels.flat, PANELS.items(), strict=True):
        _plot_axis(axes, [point for point in points if point["axis"] == axis])
        axes.set_title(title)
    for axes in panels[:, 0]:
        axes.set_ylabel("horizon RMSE, K")
    figure.legend(handles=_ablation_legend(), loc="outside lower left", ncols=3, columnspacing=1.2)
    return figure


@mpl.rc_context(STYLE)
def draw_error_growth(points: Points, published: Mapping[str, Sequence[float]]) -> Figure:
    """The error of each step on the unseen path; `published`: first and last of the paper's, by value."""
    figure = Figure(figsize=(WIDTH, 3.3))
    axes = figure.subplots()
    chosen = [point for point in points if point["axis"] == "structure"]
    for point, colour in zip(chosen, (COLD, HOT, INK), strict=False):
        value, steps = point["value"], point["unseen_per_step"]
        ticks = np.arange(1, len(steps) + 1)
        axes.plot(ticks, steps, "o-", color=colour, markersize=4, label=value, gid=value)
        if value in published:
            ends = published[value]
            axes.plot((1, len(steps)), ends, "x--", color=colour, alpha=0.6, gid=f"paper {value}")
            axes.annotate(
                "paper", (len(steps), ends[-1]), xytext=(6, 0), textcoords="offset points", color=FAINT
            )
        axes.set_xticks(ticks)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("step of the horizon")
    axes.set_ylabel("RMSE on the unseen diagonal, K")
    axes.set_title("Does the error grow along the horizon?")
    if chosen:
        axes.legend(loc="upper left")
    return figure


def _plot_axis(axes: Axes, points: Points) -> None:
    if not points:
        axes.text(0.5, 0.5, "not trained yet", transform=axes.transAxes, ha="center", color=FAINT)
        axes.set(xticks=[], yticks=[])
        return
    places = np.arange(len(points))
    for where, colour in COLOURS.items():
        spread = [point["seen_std"] for point in points] if where == "seen" else None
        ours = [point[where] for point in points]
        bars = axes.errorbar(places, ours, spread, fmt="o-", color=colour, markersize=4, capsize=3, lw=1.2)
        bars[0].set_gid(where)
        paper = np.array([point[f"paper_{where}"] for point in points], dtype=np.float64)  # None becomes NaN
        axes.plot(places + SHIFT, paper, "x", color=colour, markersize=6, gid=f"paper {where}")
    axes.set_xticks(places, [point["value"] for point in points])
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.set_ylim(bottom=0)


def _ablation_legend() -> list[Line2D]:
    return [
        Line2D([], [], color=COLD, marker="o", markersize=4, label="seen: mean and spread of three paths"),
        Line2D([], [], color=HOT, marker="o", markersize=4, label="unseen: the diagonal"),
        Line2D([], [], color=INK, marker="x", markersize=6, linestyle="", label="the paper's"),
    ]


@mpl.rc_context(STYLE)
def draw_plants(
    lines: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    limits: Mapping[str, float],
    distance: Sequence[float],
) -> Figure:
    """T_max along straight lines at constant power, by plant and angle; `limits`: of fine grids, K."""
    figure = Figure(figsize=(WIDTH, 3.3))
    panels = np.atleast_1d(figure.subplots(1, len(limits), sharey=True))
    for axes, (angle, limit) in zip(panels, limits.items(), strict=True):
        axes.axhline(limit, color=FAINT, linewidth=3.5, alpha=0.7)
        axes.plot(distance, lines["graded"][angle]["peak"], color=COLD, linewidth=1.4, gid=f"graded-{angle}")
        axes.plot(distance, lines["paper"][angle]["peak"], color=ORANGE, linewidth=1.0, linestyle="--")
        axes.plot(distance, lines["paper"][angle]["node"], color=HOT, linewidth=1.4, gid=f"paper-{angle}")
        axes.set_title(f"{angle}° to the grid")
        axes.set_xlabel("mm")
    panels[0].set_ylabel("Tₘₐₓ at constant power, K")
    handles = [
        Line2D([], [], color=FAINT, linewidth=3.5, alpha=0.7, label="limit of fine grids"),
        Line2D([], [], color=COLD, linewidth=1.4, label="graded plant"),
        Line2D([], [], color=HOT, linewidth=1.4, label="paper's plant: hottest node"),
        Line2D([], [], color=ORANGE, linewidth=1.0, linestyle="--", label="paper's plant: between nodes"),
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, columnspacing=1.2)
    return figure


@mpl.rc_context(STYLE)
def draw_solver_times(solvers: Sequence[SolverTime], interval: float, published: float) -> Figure:
    """Time of an answer of each solver on a log axis; `published`: the paper's mean; all in µs."""
    figure = Figure(figsize=(WIDTH, 0.52 * len(solvers) + 1.25))
    axes = figure.subplots()
    for y, solver in enumerate(solvers):
        late = solver.median > interval
        colour = HOT if late else COLD
        axes.plot((solver.median, solver.p999), (y, y), color=colour, linewidth=2.2, alpha=0.45)
        axes.plot(solver.median, y, "o", color=colour, markersize=6, gid=f"median-{y}")
        axes.plot((solver.p99,) * 2, (y - 0.14, y + 0.14), color=colour, linewidth=1.6)
        axes.plot((interval,) * 2, (y - 0.22, y + 0.22), color=INK, linewidth=1.4, gid=f"interval-{y}")
        gain = solvers[0].median / solver.median
        faster = (
            f", {gain:.0f} times faster" if y and gain >= 10 else f", {gain:.1f} times faster" if y else ""
        )
        axes.annotate(
            f"{solver.name}: {show_time(solver.median)}{faster}",
            (0.0, y - 0.26),
            xycoords=("axes fraction", "data"),
            va="bottom",
            fontsize=8,
        )
    axes.plot(published, 0, "D", color=INK, markersize=5, markerfacecolor="none", gid="published")
    axes.set_xscale("log")
    low = min(5.0, *(solver.median / 2 for solver in solvers))
    axes.set_xlim(low, 2 * max(published, *(solver.p999 for solver in solvers)))
    axes.axvspan(low, interval, color=BAND, alpha=0.14, linewidth=0)
    axes.set_ylim(len(solvers) - 0.6, -0.75)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda us, _: show_time(us)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    handles = [
        Line2D([], [], color=FAINT, marker="o", markersize=5, linestyle="", label="median"),
        Line2D([], [], color=FAINT, marker="|", markersize=8, markeredgewidth=1.6, linestyle="", label="p99"),
        Line2D([], [], color=FAINT, linewidth=2.2, alpha=0.6, label="to p99.9"),
        Line2D([], [], color=INK, marker="D", markersize=5, markerfacecolor="none", linestyle="",
               label=f"the paper's mean, {show_time(published)}"),
        Patch(color=BAND, alpha=0.25, linewidth=0, label=f"inside the tick of {show_time(interval)}"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower left", ncols=3, columnspacing=1.2)
    return figure


@mpl.rc_context(STYLE)
def draw_decisions(series: Mapping[str, Sequence[float]], interval: float) -> Figure:
    """How long each decision of a run took, tick by tick, against the control interval; ms."""
    figure = Figure(figsize=(WIDTH, 3.2))
    axes = figure.subplots()
    for (name, times), look in zip(series.items(), LOOKS, strict=False):
        label = f"{name}: median {show_ms(float(np.median(times)))}"
        axes.plot(np.arange(len(times)), times, look[2], color=look[0], markersize=2, label=label)
    axes.set_yscale("log")
    axes.axhline(interval, color=HOT, linewidth=1.2, label=f"{show_ms(interval)}: the next tick begins")
    axes.axhspan(interval, axes.get_ylim()[1], color=HOT, alpha=0.08, linewidth=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ms, _: show_ms(ms)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("tick")
    axes.set_title("How long a decision took")
    figure.legend(loc="outside lower left", ncols=1)
    return figure


@mpl.rc_context(STYLE)
def draw_paths(paths: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Scan paths side by side: title → points, mm; a ring where each begins."""
    figure = Figure(figsize=(WIDTH, 4.7))
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (title, points) in zip(panels.flat, paths.items(), strict=False):
        x, y = np.asarray(points, dtype=np.float64).T
        axes.plot(x, y, color=HOT if "unseen" in title else COLD, linewidth=1.3)
        axes.plot(x[0], y[0], "o", color=INK, markersize=6, markerfacecolor="none")
        axes.set_aspect("equal")
        axes.set_title(title)
    for axes in panels[-1]:
        axes.set_xlabel("x, mm")
    for axes in panels[:, 0]:
        axes.set_ylabel("y, mm")
    return figure


@mpl.rc_context(STYLE)
def draw_excitations(powers: Mapping[str, Sequence[float]]) -> Figure:
    """Power profiles, a panel for each class, W over ticks."""
    figure = Figure(figsize=(WIDTH, 3.6))
    panels = np.atleast_1d(figure.subplots(len(powers), 1, sharex=True, sharey=True))
    for axes, (kind, power) in zip(panels, powers.items(), strict=True):
        axes.stairs(np.asarray(power), color=INK, linewidth=0.9)
        axes.set_title(kind)
    panels[len(panels) // 2].set_ylabel("power, W")
    panels[-1].set_xlabel("tick")
    return figure


@mpl.rc_context(STYLE)
def draw_material(curves: Mapping[str, Any], temperature: Sequence[float]) -> Figure:
    """Properties against temperature, a panel each."""
    figure = Figure(figsize=(WIDTH, 4.2))
    panels = np.atleast_1d(figure.subplots(len(curves), 1, sharex=True))
    for axes, (title, values) in zip(panels, curves.items(), strict=True):
        axes.plot(temperature, values, color=COLD, linewidth=1.5)
        axes.set_title(title)
    panels[-1].set_xlabel("temperature, K")
    return figure


def show_time(us: float) -> str:
    """Three digits at most, in µs, ms or s."""
    return f"{us:.3g} µs" if us < 999.5 else f"{us / 1e3:.3g} ms" if us < 999.5e3 else f"{us / 1e6:.3g} s"
