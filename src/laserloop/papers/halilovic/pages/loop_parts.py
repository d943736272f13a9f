"""Parts of the page about closed loops that follow Table 2."""

from laserloop.papers.halilovic.pages.pick import BASE, find, read_asked, read_loops, read_rows
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.pages.tables import tabulate_loops
from laserloop.papers.halilovic.report.blocks import Block, Bullets, Cell, Measure, Prose, Table
from laserloop.papers.halilovic.study.corner_details import DETAILS
from laserloop.papers.halilovic.study.published_loops import CORNER_FAILURE, GRADIENT, TABLE_3

SOURCE = "results/closed_loop.json"
COMPLETED = "path completed"
TABLE_3_MEASURES = (
    Measure(".1f", 5.0),
    Measure(".1f", 2.0),
    Measure("d", 2.0),
    Measure(".1f", 5.0),
    Measure(".1f"),
)


def describe_failure(results: Results) -> list[Block]:
    """Where the baseline is furthest off, and whether the way a path meets its corners matters."""
    failure = find(read_loops(results), BASE, "diagonal")
    blocks: list[Block] = []
    if failure is not None and failure["worst_residual"]:
        worst = failure["worst_residual"]
        blocks.append(
            Prose(
                f"Baseline on the diagonal, largest residual: {worst['residual_k']:+.1f} K at "
                f"({worst['x_mm']:.2f}, "
                f"{worst['y_mm']:.2f}) mm, t = {worst['t_ms']:.2f} ms (the paper: "
                f"{CORNER_FAILURE['residual_k']:+.1f} K at "
                f"({CORNER_FAILURE['x_mm']}, {CORNER_FAILURE['y_mm']}) mm, t ≈ {CORNER_FAILURE['t_ms']} ms)."
            )
        )
    details = read_rows(results, "details")
    if details:
        blocks += [
            Prose("The same path, sampled in other ways that the paper need not have mentioned:"),
            Table(
                (
                    "corner",
                    "model",
                    "overshoot, K",
                    "ticks over",
                    "residual RMS, K",
                    "largest, K",
                    "where, mm",
                    "when, ms",
                ),
                [_describe_detail(r) for r in details],
                grouped=True,
                source=SOURCE,
            ),
        ]
    return blocks or [NOT_RUN]


def _describe_detail(r: Record) -> tuple[str, ...]:
    worst = r["worst_residual"]
    place = (
        (f"{worst['residual_k']:+.1f}", f"{worst['x_mm']:.2f}, {worst['y_mm']:.2f}", f"{worst['t_ms']:.2f}")
        if worst
        else ("–", "–", "–")
    )
    return (
        f"{r['detail']}: {DETAILS.get(r['detail'], '')}",
        r["label"],
        f"{r['overshoot_k']:.1f}",
        str(r["n_over"]),
        "–" if r["residual_rms_k"] is None else f"{r['residual_rms_k']:.1f}",
        *place,
    )


def write_table_3(results: Results) -> list[Block]:
    """Other horizons, and a model that eats its own predictions."""
    rows: list[tuple[Cell | str, ...]] = []
    for r in read_rows(results, "table_3"):
        paper = TABLE_3.get((r["label"], r["path"]))
        theirs = (None,) * 5 if paper is None else (*paper[:3], 100 * paper[3], paper[4])
        ours = (r["t_max_k"], r["overshoot_k"], r["n_over"], 100 * r["below_fraction"], r["residual_rms_k"])
        cells = [m.show(a, b) for m, a, b in zip(TABLE_3_MEASURES, ours, theirs, strict=True)]
        rows.append((r["label"], r["path"], *cells))
    if not rows:
        return [NOT_RUN]
    heads = ("setting", "path", "highest, K", "overshoot, K", "ticks over", "below, %", "RMSE₁, K")
    note = (
        "Without a margin. N_h = 5 is the deployed model, of the full protocol; the others were trained by "
        "the shorter "
        "schedule of [ablations](ablations.md). Solve times, which need a clock, are in [timing](timing.md)."
    )
    return [Prose(note), Table(heads, rows, grouped=True, source=SOURCE)]


def write_seeds(results: Results) -> list[Block]:
    """The same loops with models from other seeds."""
    seeds = read_rows(results, "seeds")
    if not seeds:
        return [Prose("No further seeds were run.")]
    schedule = (results.ablations or {}).get("schedule")
    words = (
        f" ({schedule['max_epochs']} epochs at most, halving after {schedule['halve_after']} stagnant ones)"
        if schedule
        else ""
    )
    return [
        Prose(f"Models trained by the shorter schedule{words} from other seeds, in the same loops."),
        tabulate_loops(seeds, SOURCE, folded=f"{len(seeds)} runs with other seeds"),
    ]


def count_statuses(results: Results) -> list[Block]:
    """Whether every tick of every run was solved."""
    asked = read_asked(results)
    others = [r for r in asked if set(r["statuses"]) != {"solved"} or r["ending"] != COMPLETED]
    ticks = sum(r["ticks"] for r in asked)
    told = f"{len(asked)} runs, {ticks} ticks; runs with another status than solved: {len(others)}."
    blocks: list[Block] = [Prose(told)]
    if others:
        blocks.append(Bullets([f"{r['label']}, {r['path']}: {tell_statuses(r['statuses'])}" for r in others]))
    return blocks


def tell_statuses(statuses: Record) -> str:
    """Counts of statuses as words."""
    return ", ".join(f"{count} × {status}" for status, count in statuses.items())


def write_gradient(results: Results) -> list[Block]:
    """Slopes of the surrogate against those of the plant."""
    found = (results.closed_loop or {}).get("gradient")
    if not found:
        return [NOT_RUN]
    size, percent = Measure(".2f"), Measure(".1f", 0.5)
    rows = [
        (
            name,
            str(g["points"]),
            percent.show(100 * g["sign_agreement"], 100 * GRADIENT["sign_agreement"]),
            Measure(".1f").show(g["typical_k_w"], GRADIENT["typical_k_w"]),
            size.show(g["mean_k_w"], GRADIENT["mean_k_w"]),
            size.show(g["median_k_w"], GRADIENT["median_k_w"]),
        )
        for name, g in found.items()
    ]
    heads = ("model", "points", "same sign, %", "plant's mean, K/W", "mean off, K/W", "median off, K/W")
    return [
        Prose(
            "The surrogate's dT_max/dP one tick ahead against central differences of the plant, under the "
            "power that the "
            "closed loop of each model gave."
        ),
        Table(heads, rows, source=SOURCE),
    ]


def write_swapped(results: Results) -> list[Block]:
    """The runs of Table 2 decided by the compiled solver."""
    ours = read_rows(results, "realtime")
    rows = []
    for r in ours:
        i = find(read_loops(results), r["label"], r["path"])
        if i is None:
            continue
        rows.append(
            (
                r["label"],
                r["path"],
                f"{r['overshoot_k']:.2f} ({i['overshoot_k']:.2f})",
                f"{r['n_over']} ({i['n_over']})",
                f"{r['power_mean_w']:.3f} ({i['power_mean_w']:.3f})",
                f"{100 * r['below_fraction']:.1f} ({100 * i['below_fraction']:.1f})",
            )
        )
    if not rows:
        return [NOT_RUN]
    heads = ("controller", "path", "overshoot, K (IPOPT)", "ticks over", "mean P, W", "below, %")
    return [
        Prose("The same runs, decided by the compiled real-time solver; in brackets those of IPOPT."),
        Table(heads, rows, grouped=True, source=SOURCE),
    ]
