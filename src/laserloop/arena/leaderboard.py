"""The leaderboard: a page of its own, sortable, every number with the way to its run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from laserloop.arena.figures import draw_standings
from laserloop.arena.runs import RUNS
from laserloop.arena.scores import Row
from laserloop.arena.standings import ORACLE
from laserloop.arena.tables import Tables
from laserloop.report.page import make_plate, render, render_comparison
from laserloop.report.save import save, save_figure
from laserloop.store import RESULT_FILE, read_result

PAGES = "pages"
LATE = 0.01  # share of deadlines, from which on a controller is called late
NOTHING = "–"
VIEWER = "http://127.0.0.1:8470/"  # where `laserloop view` is, if it is


@dataclass(frozen=True, slots=True)
class Cell:
    """A number on the page; `value` is what it is sorted by."""

    text: str
    value: float | str = ""
    link: str = ""
    late: bool = False


@dataclass(slots=True)
class Line:
    """All that the page says about one entrant."""

    name: str
    about: str
    knows: str
    cost: str
    bound: bool
    page: str
    worst: str
    view: str  # the worst run in the viewer
    cells: list[Cell] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)


Show = Callable[[float], str]
COLUMNS: dict[str, tuple[str, Show]] = {  # heading → name in the standings
    "gap, K": ("gap_mean_k", "{:.2f}".format),
    "worst gap, K": ("gap_worst_k", "{:.1f}".format),
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
    caption = "Gap to the oracle of every entrant: mean with interval, and the worst path"
    page = render(
        "arena/leaderboard.html",
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
    save(out / "index.html", page)
    return out / "index.html"


def write_headline(tables: Tables) -> str:
    """Who is nearest to the oracle, of those who do not look at the plant."""
    contestants = [name for name in tables.standings if not tables.declared[name]["bound"]]
    if not contestants:
        return "Nobody has run yet"
    best = tables.standings[contestants[0]]["all"]
    if best["gap_mean_k"] is None:
        return f"{contestants[0]} is nearest to the window’s middle: {best['rms_k']:.2f} K RMS"
    return f"{contestants[0]} is nearest to the oracle: {best['gap_mean_k']:.2f} K behind it"


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
    with_oracle = max(behind.values(), default=0)
    short = with_oracle < max((s["all"]["runs"] for s in tables.standings.values()), default=0)
    lack = (
        f"The oracle has run on {with_oracle} tasks so far; gaps are over these, all other columns over all."
    )
    return [told, *([lack] if short else [])]


def _write_line(name: str, tables: Tables, beside: Mapping[str, str], out: Path, command: str) -> Line:
    declared, standing, clock = tables.declared[name], tables.standings[name]["all"], tables.clocks[name]
    own = [row for row in tables.rows if row["entrant"] == name]
    worst = max(own, key=lambda row: row["excursion_k"])
    folder_of = {row["task"]: row["run"] for row in own}
    page = _save_run_page(worst, beside, out, command)
    links = {
        "gap_worst_k": _link(folder_of.get(standing.get("gap_worst_task", ""))),
        **dict.fromkeys(("gap_mean_k", "rms_k", "outside_fraction", "to_twin_mean_k"), f"#{name}"),
        **dict.fromkeys(("above_k", "below_k"), page),
    }
    cells = [_cell(standing[key], show, links.get(key, f"#{name}")) for key, show in COLUMNS.values()]
    cells[0] = _with_interval(cells[0], standing)
    cells += [_cell(clock[key], show, late=clock["missed_fraction"] > LATE) for key, show in CLOCKS.values()]
    steps = declared["plant_steps"]
    cells += [_cell(declared["core_minutes"], "{:.0f}".format), _cell(steps, "{:.0f}".format)]
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
    return Line(
        name=name,
        about=declared["about"],
        knows=tell_knowledge(declared),
        cost=tell_cost(declared),
        bound=declared["bound"],
        page=page,
        worst=worst["task"],
        view=_view(worst, beside),
        cells=cells,
        runs=runs,
    )


def tell_knowledge(declared: Row) -> str:
    """What an entrant may know, in a sentence."""
    path = "knows the path ahead" if declared["foresight"] == "path" else "does not know the path ahead"
    camera = "sees the camera" if declared["camera"] else "sees no camera"
    return f"It {path} and {camera}."


def tell_cost(declared: Row) -> str:
    """What it took before the first run, in a sentence."""
    if declared["passes"]:
        return f"It practises {declared['passes']} passes over every task before the one that counts."
    if not declared["learns"]:
        return "It was trained on nothing."
    minutes, steps = declared["core_minutes"], declared["plant_steps"]
    return f"Training took {minutes:.0f} core minutes and {steps} plant steps."


def _save_run_page(row: Row, beside: Mapping[str, str], out: Path, command: str) -> str:
    """The page of a run beside the oracle's, or the twin's, on the same task; its place below the folder.

    Written anew each time: the run beside it may have come meanwhile.
    """
    place = f"{PAGES}/{row['run']}.html"
    records: list[Mapping[str, Any]] = [
        read_result(out / RUNS / folder / RESULT_FILE) for folder in _pair(row, beside)
    ]
    save(out / place, render_comparison(records, command=command, also=[f"Task {row['task']}."]))
    return place


def _find_beside(tables: Tables) -> dict[str, str]:
    """For each task the run that others are shown beside: the oracle's, or the twin's."""
    runs: dict[str, dict[str, str]] = {"twin": {}, ORACLE: {}}
    for row in tables.rows:
        if row["entrant"] in runs:
            runs[row["entrant"]][row["task"]] = row["run"]
    return runs["twin"] | runs[ORACLE]


def _pair(row: Row, beside: Mapping[str, str]) -> list[str]:
    """The folders of a run and of the one it is shown beside, if that is another one."""
    return list(dict.fromkeys((row["run"], beside.get(row["task"], row["run"]))))


def _view(row: Row, beside: Mapping[str, str]) -> str:
    """Both in the viewer."""
    return f"{VIEWER}#{','.join(map(_link, _pair(row, beside)))}"


def _link(folder: str | None) -> str:
    return "" if folder is None else f"{RUNS}/{folder}/{RESULT_FILE}"


def _cell(value: float | None, show: Show, link: str = "", *, late: bool = False) -> Cell:
    return Cell(NOTHING) if value is None else Cell(show(value), value, link, late)


def _with_interval(cell: Cell, standing: Row) -> Cell:
    if standing["gap_low_k"] is None:
        return cell
    low, high = standing["gap_low_k"], standing["gap_high_k"]
    return Cell(f"{cell.text} ({low:.2f} to {high:.2f})", cell.value, cell.link)
