"""Closed loops: Tables 2 and 3, seeds, other corners, the gradient, the compiled solver beside IPOPT."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from laserloop.control.gains import find_gains
from laserloop.loop.cache import has_case, solve_case
from laserloop.loop.case import LoopCase, keep_case
from laserloop.papers.halilovic.folder import Folder
from laserloop.papers.halilovic.size import DEPLOYED, SEEDS, TABLE_3
from laserloop.papers.halilovic.stage import Stage, Task
from laserloop.papers.halilovic.stages.calibration import find_margin
from laserloop.papers.halilovic.study.corner_details import DETAILS, name_detail, run_detail
from laserloop.papers.halilovic.study.gradient import compare_gradients
from laserloop.papers.halilovic.study.loop_tables import (
    Entry,
    list_others,
    list_seeds,
    list_table_2,
    list_table_3,
)
from laserloop.paths import find_path
from laserloop.plant import Camera, make_plant
from laserloop.predict.networks import find_model
from laserloop.process import Process

CLOCKED = ("solve_ms", "tick_ms")
WITH_SERIES = ("table_2", "realtime")

Record = dict[str, Any]


def list_entries(folder: Folder) -> dict[str, list[Entry]]:
    """The runs of each table."""
    ticks, delta = folder.size.ticks, find_margin(folder)
    deployed = folder.model(DEPLOYED["base"]), folder.model(DEPLOYED["corner"])
    seeds = {row: folder.model(SEEDS[row]) for row in folder.size.seeds}
    plain = LoopCase(path="diagonal", controller="ipopt", model=deployed[1], graph="plain", ticks=ticks)
    return {
        "table_2": list_table_2(delta_k=delta, models=deployed, ticks=ticks) + list_others(ticks=ticks),
        "table_3": list_table_3({row: folder.model(m) for row, m in TABLE_3.items()}, ticks=ticks),
        "seeds": list_seeds(seeds, delta_k=delta, ticks=ticks),
        "plain": [Entry("plain graph", plain)],
        "realtime": list_table_2("realtime", delta, models=deployed, ticks=ticks),
    }


def list_tasks(folder: Folder) -> list[Task]:
    """One run each, one detail of the corner each; the same run in two tables is done once."""
    cases = {entry.case: None for entries in list_entries(folder).values() for entry in entries}
    runs = [
        Task(keep_case, (case, folder.cases), has_case(folder.cases / "runs", case.settings()))
        for case in cases
    ]
    details = [
        Task(
            run_corner,
            (detail, model, folder.cases, folder.size.ticks),
            has_case(folder.cases / "details", name_detail(detail, model, folder.size.ticks)),
        )
        for detail in DETAILS
        for model in _deployed(folder).values()
    ]
    return runs + details


def run_corner(detail: str, model: str, root: Path, ticks: int) -> None:
    """The task of a worker."""
    run_detail(detail, model, root, ticks=ticks)


def _deployed(folder: Folder) -> dict[str, str]:
    return {"baseline": folder.model(DEPLOYED["base"]), "corner": folder.model(DEPLOYED["corner"])}


def read_runs(folder: Folder) -> dict[str, list[Record]]:
    """The records of each table, clock and series included; models by their names."""
    return {
        table: [{"label": entry.label, **_rename(keep_case(entry.case, folder.cases))} for entry in entries]
        for table, entries in list_entries(folder).items()
    }


def _rename(record: Record) -> Record:
    model = record["model"]
    return record | {"model": None if model is None else Path(model).name}


def conclude(folder: Folder) -> dict[str, dict[str, Any]]:
    """All tables without clocks; what the clocks said apart."""
    runs = read_runs(folder)
    details = [
        {
            "label": label,
            "detail": detail,
            **_rename(run_detail(detail, model, folder.cases, ticks=folder.size.ticks)),
        }
        for detail in DETAILS
        for label, model in _deployed(folder).items()
    ]
    tables = {
        table: [drop_clock(record, series=table in WITH_SERIES or _is_drawn(record)) for record in records]
        for table, records in {**runs, "details": details}.items()
        if table != "plain"
    }
    return {
        "closed_loop": {
            "delta_k": find_margin(folder),
            **tables,
            "gradient": {name: _compare(folder, name, runs["table_2"]) for name in DEPLOYED.values()},
            "gains": _tell_gains(),
        },
        "clock/loops": {"loops": list_clocks(runs)},
    }


def _tell_gains() -> dict[str, Any]:
    """Those that PI, feed-forward and constant power ran with."""
    gains = find_gains("paper", Process())
    assert gains is not None
    return gains.to_json()


def _is_drawn(record: Record) -> bool:
    """The report has a figure of the autoregressive model's run."""
    return (record["label"], record["path"]) == ("SS-AR", "diagonal")


def drop_clock(record: Record, *, series: bool) -> Record:
    """A record without what a clock said, and without its series unless asked for."""
    kept = {key: value for key, value in record.items() if key not in (*CLOCKED, "series")}
    if series:
        kept["series"] = {k: v for k, v in record["series"].items() if k not in CLOCKED}
    return kept


def list_clocks(runs: dict[str, list[Record]]) -> list[Record]:
    """Of each run, what the clock said."""
    rows = []
    for table, records in runs.items():
        for record in records:
            row = {key: record[key] for key in ("label", "path", "controller", *CLOCKED)} | {"table": table}
            if table == "plain" or (record["label"], record["path"]) in (("corner", "diagonal"),):
                row["series_tick_ms"] = record["series"]["tick_ms"]
            rows.append(row)
    return rows


def _compare(folder: Folder, name: str, table_2: Sequence[Record]) -> dict[str, Any]:
    """Along the spiral, under the power that the closed loop of the model gave."""
    record = next(r for r in table_2 if (r["model"], r["path"]) == (name, "spiral"))
    model, power = find_model(folder.model(name)), record["series"]["power_w"]
    settings = {"study": "gradient", "model": model.provenance["identity"], "power_w": power}
    path = find_path("spiral", ticks=record["ticks"])
    plant = make_plant("paper", path)
    compute = partial(compare_gradients, model, plant, Camera(), path, power)
    return solve_case(folder.cases / "gradients", settings, compute)


STAGE = Stage(name="loops", title="Close the loops", list_tasks=list_tasks, conclude=conclude)
