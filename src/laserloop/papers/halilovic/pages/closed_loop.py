"""The page about the closed loops: Tables 2 and 3, the corner failure, seeds, the gradient."""

import numpy as np

from laserloop.papers.halilovic.pages.loop_parts import (
    SOURCE,
    count_statuses,
    describe_failure,
    write_gradient,
    write_seeds,
    write_swapped,
    write_table_3,
)
from laserloop.papers.halilovic.pages.loop_pictures import draw_loops
from laserloop.papers.halilovic.pages.loop_words import explain
from laserloop.papers.halilovic.pages.pick import BASE, read_loops, read_others
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.size import NOT_RUN
from laserloop.papers.halilovic.pages.tables import tabulate_loops
from laserloop.papers.halilovic.report.blocks import (
    Block,
    Bullets,
    Cell,
    Heading,
    Measure,
    Page,
    Prose,
    Table,
)
from laserloop.papers.halilovic.study.published_text import DEEPEST, HIGHEST, LARGEST_MOVE, MEAN_RESIDUAL

SOLVERS = {"ipopt": "IPOPT with the folded graph", "ipopt-plain": "IPOPT with the paper's graph"}


def write_closed_loop(results: Results) -> Page:
    """Every closed loop of the paper, ours beside it."""
    title = "Closed loops: Tables 2 and 3"
    loops = read_loops(results)
    if results.closed_loop is None or not loops:
        return Page("closed_loop", title, (NOT_RUN,))
    first = loops[0]
    window = first["window_k"]
    blocks: list[Block] = [
        Prose(
            f"{first['ticks']} ticks on the `{first['plant']}` plant, scored on the hottest node over "
            f"ticks from "
            f"{first['settled_from']} on against {window[1]:g} K, whatever the margin. "
            f"{SOLVERS.get(first['controller'], first['controller'])}. The residual is prediction minus "
            f"truth, one tick ahead."
        ),
        Heading("Table 2"),
        tabulate_loops(loops, SOURCE),
    ]
    others = read_others(results)
    if others:
        blocks += [
            Prose(
                "Not in the paper: `pi`, `constant` and `feedforward` were tuned on vertical, horizontal "
                "and spiral of this "
                "plant; `oracle` plans on the plant itself."
            ),
            tabulate_loops(others, SOURCE),
        ]
    blocks += [
        Heading("Where we differ", 3),
        Bullets(explain(results)),
        Heading("Further figures of the text", 3),
        _tabulate_text(loops),
        Heading("The corner failure"),
        *describe_failure(results),
        Heading("Table 3"),
        *write_table_3(results),
        Heading("Seeds"),
        *write_seeds(results),
        Heading("Did IPOPT converge?"),
        *count_statuses(results),
        Heading("The gradient along the spiral"),
        *write_gradient(results),
        Heading("The compiled solver in IPOPT's place"),
        *write_swapped(results),
        Heading("The runs"),
        *draw_loops(results),
    ]
    return Page("closed_loop", title, blocks)


def _tabulate_text(loops: list[Record]) -> Table:
    kelvin = Measure(".1f", 5.0)
    rows: list[tuple[Cell | str, ...]] = []
    for record in loops:
        key = (record["label"], record["path"])
        rows.append(
            (
                record["label"],
                record["path"],
                kelvin.show(record["t_max_k"], HIGHEST.get(key)),
                kelvin.show(record["deepest_below_k"], DEEPEST.get(key)),
                *_measure_series(
                    record, (MEAN_RESIDUAL, LARGEST_MOVE) if key == (BASE, "vertical") else (None, None)
                ),
            )
        )
    heads = (
        "controller",
        "path",
        "highest T_max, K",
        "deepest below, K",
        "mean absolute residual, K",
        "largest ΔP, W",
    )
    return Table(heads, rows, grouped=True, source=SOURCE)


def _measure_series(record: Record, paper: tuple[float | None, float | None]) -> tuple[Cell | str, ...]:
    if "series" not in record:
        return "–", "–"
    first = record["settled_from"]
    series = {
        name: np.array(record["series"][name], dtype=np.float64)[first:]
        for name in ("t_true_k", "t_predicted_k", "power_w")
    }
    residual = np.abs(series["t_predicted_k"] - series["t_true_k"])
    moves = np.abs(np.diff(series["power_w"]))
    return (
        Measure(".1f").show(float(np.nanmean(residual)), paper[0]),
        Measure(".2f").show(float(moves.max(initial=0.0)), paper[1]),
    )
