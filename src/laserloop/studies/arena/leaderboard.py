"""The leaderboard: a sortable page, every number with the way to its run, and the table of a terminal."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from laserloop.report import (
    COLD,
    FAINT,
    HOT,
    INK,
    STYLE,
    WIDTH,
    make_plate,
    render,
    render_comparison,
    save_figure,
)
from laserloop.store import RESULT_FILE, read_result, save
from laserloop.studies.arena.benchmark import RUNS
from laserloop.studies.arena.ranking import BOUND, Tables
from laserloop.studies.arena.scores import Row

LOOKS = {
    "off": (COLD, "o"),
    "nominal": (INK, "s"),
    "hard": (HOT, "^"),
    "machine": (INK, "D"),
}  # told apart by form in grey
LEAST = 0.03  # K; below, a gap has no place on a log axis
PAGES = "pages"
LATE = 0.01  # share of deadlines, from which on a controller is called late
NOTHING = "–"
VIEWER = "http://127.0.0.1:8470/"  # where `laserloop view` is, if it is
HEADINGS = ("gap\nK", "95 %\nK", "worst\nK", "RMS\nK", "outside", "p50\nµs", "missed", "runs")
Show = Callable[[float], str]
COLUMNS: dict[str, tuple[str, Show]] = {  # heading → name in the standings
    "gap, K": ("gap_mean_k", "{:.2f}".format),
    "worst gap, K": ("gap_worst_k", "{:.1f}".format),
    "RMS charged, K": ("charged_rms_k", "{:.2f}".format),
    "RMS, K": ("rms_k", "{:.2f}".format),
    "against twin, K": ("to_twin_mean_k", "{:+.2f}".format),
    "outside": ("outside_fraction", "{:.2%}".format),
    "below": ("below_fraction", "{:.2%}".format),
    "most above, K": ("above_k", "{:.1f}".format),
    "most below, K": ("below_k", "{:.1f}".format),
    "|ΔP|, W": ("step_mean_w", "{:.2f}".format),
    "energy, mJ": ("energy_mj", "{:.0f}".format),
}
CLOCKS: dict[str, tuple[str, Show]] = {
    "decision p50, µs": ("decision_p50_us", "{:.0f}".format),
    "p99.9, µs": ("decision_p999_us", "{:.0f}".format),
    "missed deadlines": ("missed_fraction", "{:.1%}".format),
}
COST = ("training, core min", "plant steps", "answers refused", "runs")
OF_RUNS: dict[str, tuple[str, Show]] = {
    "gap, K": ("gap_k", "{:.2f}".format),
    "RMS, K": ("rms_k", "{:.2f}".format),
    "outside": ("outside", "{:d}".format),
    "widest, K": ("excursion_k", "{:.1f}".format),
}


def save_leaderboard(tables: Tables, out: Path, *, command: str) -> Path:
    """Write the page, its picture, and a page for the widest excursion of each entrant."""
    beside = _find_beside(tables)
    lines = [_write_line(name, tables, beside, out, command) for name in tables.standings]
    figure = draw_standings(tables.standings)
    caption = "Gap to the informed twin of every entrant: mean with interval, and the worst path"
    page = render(
        "studies/arena/leaderboard.html",
        headline=write_headline(tables),
        story=write_story(tables),
        picture=make_plate(figure, "gap", caption),
        columns=["entrant", *COLUMNS, *CLOCKS, *COST],
        run_columns=["task", *OF_RUNS, "viewer"],
        lines=lines,
        command=command,
        out=out.name,
    )
    save_figure(out / "standings.png", figure)
    save(out / "index.html", page.encode())
    return out / "index.html"


def write_headline(tables: Tables) -> str:
    """Who is nearest to the middle, of those who do not look at the plant; late decisions act late."""
    contestants = [name for name in tables.standings if not tables.declared[name]["bound"]]
    if not contestants:
        return "Nobody has run yet"
    best = tables.standings[contestants[0]]["all"]
    if best["gap_mean_k"] is None:
        return f"{contestants[0]} is nearest to the window’s middle: {best['charged_rms_k']:.2f} K RMS"
    return f"{contestants[0]} is nearest to the informed twin: {best['gap_mean_k']:.2f} K behind it"


def write_story(tables: Tables) -> list[str]:
    """What was run, in sentences."""
    paths = {(row["family"], row["seed"]) for row in tables.rows}
    levels = list(dict.fromkeys(row["level"] for row in tables.rows))
    processes = list(dict.fromkeys(row["process"] for row in tables.rows))
    splits = list(dict.fromkeys(row["split"] for row in tables.rows))
    told = (
        f"{len(tables.rows)} runs of {len(tables.standings)} entrants; {' and '.join(splits)} paths: "
        f"{len(paths)}, families: {len({family for family, _ in paths})}; disturbances {', '.join(levels)}; "
        f"process {', '.join(processes)}; plant graded, T_max between the nodes. Above the window all lit "
        "ticks count, below it those in which full power could have reached it."
    )
    behind = {name: s["all"]["gap_runs"] for name, s in tables.standings.items()}
    with_bound = max(behind.values(), default=0)
    short = with_bound < max((s["all"]["runs"] for s in tables.standings.values()), default=0)
    lack = f"The bound has run on {with_bound} tasks so far; gaps are over these, all other columns over all."
    return [told, *([lack] if short else [])]


def _write_line(name: str, tables: Tables, beside: Mapping[str, str], out: Path, command: str) -> Row:
    """All that the page says about one entrant."""
    declared, standing, clock = tables.declared[name], tables.standings[name]["all"], tables.clocks[name]
    own = [row for row in tables.rows if row["entrant"] == name]
    worst = max(own, key=lambda row: row["excursion_k"])
    folder_of = {row["task"]: row["run"] for row in own}
    page = _save_run_page(worst, beside, out, command)
    links = {
        "gap_worst_k": _link(folder_of.get(standing.get("gap_worst_task", ""))),
        **dict.fromkeys(("above_k", "below_k"), page),
    }
    cells = [_cell(standing[key], show, links.get(key, f"#{name}")) for key, show in COLUMNS.values()]
    if standing["gap_low_k"] is not None:
        cells[0]["text"] += f" ({standing['gap_low_k']:.2f} to {standing['gap_high_k']:.2f})"
    cells += [_cell(clock[key], show, late=clock["missed_fraction"] > LATE) for key, show in CLOCKS.values()]
    cells += [_cell(declared[key], "{:.0f}".format) for key in ("core_minutes", "plant_steps")]
    cells += [_cell(standing[key], "{:d}".format) for key in ("refused", "runs")]
    runs = [
        {
            "id": f"{name}-{row['run']}",
            "task": row["task"],
            "link": _link(row["run"]),
            "view": _view(row, beside),
            "cells": [_cell(row[key], show) for key, show in OF_RUNS.values()],
        }
        for row in own
    ]
    return {
        "name": name,
        "about": declared["about"],
        "knows": describe_knowledge(declared),
        "cost": describe_cost(declared),
        "bound": declared["bound"],
        "page": page,
        "worst": worst["task"],
        "view": _view(worst, beside),
        "cells": cells,
        "runs": runs,
    }


def describe_knowledge(declared: Row) -> str:
    """What an entrant may know, in a sentence."""
    path = "knows the path ahead" if declared["foresight"] == "path" else "does not know the path ahead"
    camera = "sees the camera" if declared["camera"] else "sees no camera"
    return f"It {path} and {camera}."


def describe_cost(declared: Row) -> str:
    """What it took before the first run, in a sentence."""
    if declared["passes"]:
        return f"It practises {declared['passes']} passes over every task before the one that counts."
    if not declared["learns"]:
        return "It was trained on nothing."
    minutes, steps = declared["core_minutes"], declared["plant_steps"]
    return f"Training took {minutes:.0f} core minutes and {steps} plant steps."


def _save_run_page(row: Row, beside: Mapping[str, str], out: Path, command: str) -> str:
    """The page of a run beside the bound's, or the twin's, on the same task; its place below the folder.

    Written anew each time: the run beside it may have come meanwhile.
    """
    place = f"{PAGES}/{row['run']}.html"
    records: list[Mapping[str, Any]] = [
        read_result(out / RUNS / folder / RESULT_FILE) for folder in _pair(row, beside)
    ]
    page = render_comparison(records, command=command, also=[f"Task {row['task']}."])
    save(out / place, page.encode())
    return place


def _find_beside(tables: Tables) -> dict[str, str]:
    """For each task the run that others are shown beside: the bound's, or the twin's."""
    runs: dict[str, dict[str, str]] = {"twin": {}, BOUND: {}}
    for row in tables.rows:
        if row["entrant"] in runs:
            runs[row["entrant"]][row["task"]] = row["run"]
    return runs["twin"] | runs[BOUND]


def _pair(row: Row, beside: Mapping[str, str]) -> list[str]:
    """The folders of a run and of the one it is shown beside, if that is another one."""
    return list(dict.fromkeys((row["run"], beside.get(row["task"], row["run"]))))


def _view(row: Row, beside: Mapping[str, str]) -> str:
    """Both in the viewer."""
    return f"{VIEWER}#{','.join(map(_link, _pair(row, beside)))}"


def _link(folder: str | None) -> str:
    return "" if folder is None else f"{RUNS}/{folder}/{RESULT_FILE}"


def _cell(value: float | None, show: Show, link: str = "", *, late: bool = False) -> Row:
    """A number on the page; `value` is what it is sorted by."""
    if value is None:
        return {"text": NOTHING, "value": "", "link": "", "late": False}
    return {"text": show(value), "value": value, "link": link, "late": late}


@mpl.rc_context(STYLE)
def draw_standings(standings: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Figure:
    """Mean gap, or RMS where none is known, with its interval; the worst path as a thin line."""
    known = {name: s for name, s in standings.items() if s["all"]["gap_mean_k"] is not None and name != BOUND}
    measure = "gap" if known else "rms"
    shown = known or {name: s for name, s in standings.items() if name != BOUND}
    figure = Figure(figsize=(1.35 * WIDTH, 0.36 * len(shown) + 1.2))
    axes = figure.subplots()
    for place, levels in enumerate(shown.values()):
        for shift, (level, (colour, marker)) in enumerate(LOOKS.items()):
            if level in levels:
                _plot(axes, place + 0.22 * (shift - 1), levels[level], measure, colour, marker)
    axes.set_yticks(range(len(shown)), list(shown))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(
        "RMS from the middle beyond the informed twin's, K" if known else "RMS from the middle, K"
    )
    axes.grid(axis="x", color=FAINT, linewidth=0.3)
    seen = {level for levels in shown.values() for level in levels}
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=f"disturbances {level}")
        for level, (colour, marker) in LOOKS.items()
        if level in seen
    ]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(handles))
    return figure


def _plot(
    axes: Any, place: float, standing: Mapping[str, Any], measure: str, colour: str, marker: str
) -> None:
    mean, worst = (max(standing[f"{measure}_{name}_k"], LEAST) for name in ("mean", "worst"))
    axes.plot([mean, worst], [place, place], color=colour, linewidth=0.5)
    if standing[f"{measure}_low_k"] is not None:
        ends = [max(standing[f"{measure}_{name}_k"], LEAST) for name in ("low", "high")]
        axes.plot(ends, [place, place], color=colour, linewidth=2.4, alpha=0.6)
    axes.plot(mean, place, marker, color=colour, markersize=4)
    axes.plot(worst, place, "|", color=colour, markersize=5)


def tabulate_standings(tables: Tables) -> Table:
    """A line for each entrant, the nearest to the bound first."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, caption_justify="left")
    table.add_column("entrant")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for name, levels in tables.standings.items():
        every, clock = levels["all"], tables.clocks[name]
        known, drawn = every["gap_mean_k"] is not None, every["gap_low_k"] is not None
        gap = (
            f"{every['gap_mean_k']:.2f}" if known else NOTHING,
            f"{every['gap_low_k']:.2f}–{every['gap_high_k']:.2f}" if drawn else NOTHING,
            f"{every['gap_worst_k']:.1f}" if known else NOTHING,
        )
        times = [show(clock[key]) for key, show in (CLOCKS["decision p50, µs"], CLOCKS["missed deadlines"])]
        rest = (
            f"{every['charged_rms_k']:.2f}",
            f"{every['outside_fraction']:.2%}",
            *times,
            str(every["runs"]),
        )
        table.add_row(name, *gap, *rest)
    table.caption = Text(
        "Gap: RMS from the window's middle, decisions charged, minus the informed twin's on the same tasks."
    )
    return table
