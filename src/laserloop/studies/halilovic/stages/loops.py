"""Closed loops: Tables 2 and 3, seeds, other corners, the gradient, the compiled solver beside IPOPT."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from laserloop.control.simple import find_gains
from laserloop.loop.scenario import Scenario, keep_case
from laserloop.paths import find_path
from laserloop.plant import make_plant
from laserloop.predict.model import find_model
from laserloop.process import Process
from laserloop.store import has_case, solve_case
from laserloop.studies.halilovic.folder import Folder
from laserloop.studies.halilovic.size import DEPLOYED, HORIZON_SEEDS, OUTLOOK, SEEDS, TABLE_3
from laserloop.studies.halilovic.stage import Stage, Task
from laserloop.studies.halilovic.stages.calibration import find_margin
from laserloop.studies.halilovic.study.corners import name_corner, run_corner
from laserloop.studies.halilovic.study.gradient import compare_gradients
from laserloop.studies.halilovic.study.loop_tables import (
    Entry,
    list_others,
    list_seeds,
    list_table_2,
    list_table_3,
)

CLOCKED = ("solve_ms", "tick_ms")
WITH_SERIES = ("table_2", "realtime")
OTHER = {"plain": "folded", "folded": "plain"}  # the graph that one run is repeated with

Record = dict[str, Any]


def list_entries(folder: Folder) -> dict[str, list[Entry]]:
    """The runs of each table."""
    ticks, delta, graph = folder.size.ticks, find_margin(folder), folder.size.graph
    deployed = folder.model(DEPLOYED["base"]), folder.model(DEPLOYED["corner"])
    seeds = {row: folder.model(SEEDS[row]) for row in folder.size.seeds}
    horizons = {row: folder.model(m) for row, m in HORIZON_SEEDS.items() if folder.size.spread}
    settings = TABLE_3 | (OUTLOOK if folder.size.spread else {})
    rows = {row: folder.model(m) for row, m in settings.items()}
    usual: dict[str, Any] = {"ticks": ticks, "graph": graph}
    other = Scenario(path="diagonal", controller="ipopt", model=deployed[1], graph=OTHER[graph], ticks=ticks)
    return {
        "table_2": list_table_2(delta_k=delta, models=deployed, **usual) + list_others(ticks=ticks),
        "table_3": list_table_3(rows, **usual),
        "horizon_seeds": list_table_3(horizons, **usual),
        "seeds": list_seeds(seeds, delta_k=delta, **usual),
        "other_graph": [Entry("corner", other)],
        "realtime": list_table_2("realtime", delta, models=deployed, ticks=ticks),
    }


def list_tasks(folder: Folder) -> list[Task]:
    """One run each, one corner each; the same run in two tables is done once."""
    cases = {entry.case: None for entries in list_entries(folder).values() for entry in entries}
    runs = [
        Task(keep_case, (case, folder.cases), has_case(folder.cases / "runs", case.settings()))
        for case in cases
    ]
    size = folder.size
    corners = [
        Task(
            turn,
            (variant, model, folder.cases, size.ticks, size.graph),
            has_case(folder.cases / "corners", name_corner(variant, model, size.ticks, size.graph)),
        )
        for variant in size.corners
        for model in _deployed(folder).values()
    ]
    return runs + corners


def turn(variant: str, model: str, root: Path, ticks: int, graph: str) -> None:
    """The task of a worker."""
    run_corner(variant, model, root, ticks=ticks, graph=graph)


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
    size = folder.size
    corners = [
        {
            "label": label,
            "variant": variant,
            **_rename(run_corner(variant, model, folder.cases, ticks=size.ticks, graph=size.graph)),
        }
        for variant in size.corners
        for label, model in _deployed(folder).items()
    ]
    tables = {
        table: [drop_clock(record, series=table in WITH_SERIES or _is_drawn(record)) for record in records]
        for table, records in {**runs, "corners": corners}.items()
        if table != "other_graph"
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
            if (record["label"], record["path"]) == ("corner", "diagonal"):
                row["series_tick_ms"] = record["series"]["tick_ms"]
            rows.append(row)
    return rows


def _compare(folder: Folder, name: str, table_2: Sequence[Record]) -> dict[str, Any]:
    """Along the spiral, under the power that the closed loop of the model gave."""
    record = next(r for r in table_2 if (r["model"], r["path"]) == (name, "spiral"))
    model, power = find_model(folder.model(name)), record["series"]["power_w"]
    settings = {"study": "gradient", "model": model.provenance["identity"], "power_w": power}
    path = find_path("spiral", ticks=record["ticks"])
    plant = make_plant("paper")
    compute = partial(compare_gradients, model, plant, path, power)
    return solve_case(folder.cases / "gradients", settings, compute)


STAGE = Stage(name="loops", title="Close the loops", list_tasks=list_tasks, conclude=conclude)
