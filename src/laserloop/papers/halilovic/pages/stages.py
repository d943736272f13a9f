"""The page about provenance: where every number comes from, and what it took."""

from collections.abc import Mapping
from typing import Any

from laserloop.papers.halilovic.pages.counts import write_counts
from laserloop.papers.halilovic.pages.results import Record, Results
from laserloop.papers.halilovic.pages.write import NOT_RUN, Parts, write_page
from laserloop.papers.halilovic.report.blocks import Block, Columns, Page, Prose, Table, tabulate

ORIGINS = (  # what → the page, the file
    ("the plant's verification", "plant", "results/plant.json"),
    ("the ensembles", "stages", "results/ensembles.json"),
    ("the trained models", "ablations", "results/trainings.json"),
    ("Table 1 and its figure", "table_1", "results/table_1.json"),
    ("the margin", "calibration", "results/calibration.json"),
    ("Tables 2 and 3, corner failure, seeds, gradient", "closed_loop", "results/closed_loop.json"),
    ("the ablations", "ablations", "results/ablations.json"),
    ("the ladder, deadlines, all times", "timing", "results/clock/timing.json"),
    ("stages, machine, versions, commit", "stages", "results/clock/stages.json"),
)
ENSEMBLES: Columns = {
    "ensemble": "{name}",
    "episodes": "{episodes}",
    "windows": "{windows}",
    "seed": lambda one: str(one.get("settings", {}).get("seed", "–")),
    "data hash": "`{data_hash:.16}`",
}
MODELS: Columns = {
    "model": "{name}",
    "architecture": lambda one: _describe(one.get("architecture", {})),
    "seed": lambda one: str(one["training"].get("seed", "–")),
    "identity": "`{identity:.16}`",
    "weights, SHA-256": lambda one: f"`{one.get('weights_sha256', '–'):.16}`",
}


def write_stages(results: Results) -> Page:
    """Files, data and models with their hashes, stages with their times, the machine, the project's size."""
    origins = [(what, f"[{page}]({page}.md)", f"`{file}`") for what, page, file in ORIGINS]
    settings = [(key, _show(value)) for key, value in results.settings.items()]
    hashes = f"{len(results.trainings or {})} models with their hashes"
    parts: Parts = {
        "origins": Table(("what", "page", "file"), origins, wordy=True),
        "stages": _write_stages(results.stages),
        "settings": Table(("setting", "value"), settings, wordy=True, folded="all settings"),
        "ensembles": _tabulate(results.ensembles, ENSEMBLES, source="results/ensembles.json"),
        "models": _tabulate(results.trainings, MODELS, folded=hashes, source="results/trainings.json"),
        "counts": write_counts(),
    }
    return write_page("stages", parts)


def _tabulate(found: Record | None, columns: Columns, **more: str) -> Block:
    if not found:
        return NOT_RUN
    return tabulate([{"name": name, **one} for name, one in found.items()], columns, **more)


def _write_stages(found: Record | None) -> list[Block]:
    if not found:
        return [NOT_RUN]
    stages = found.get("stages", [])
    rows = [(one["title"], _show_time(one["seconds"]), str(one["tasks"])) for one in stages]
    rows.append(("**together**", _show_time(sum(one["seconds"] for one in stages)), ""))
    notes = [Prose(note) for note in found.get("notes", [])]
    facts = [("commit", str(found["commit"]))] if found.get("commit") else []
    for part in ("machine", "versions"):
        facts += [(key, _show(value)) for key, value in found.get(part, {}).items()]
    for n, one in enumerate(found.get("sessions", []), start=1):
        ended, workers = one.get("ended") or "not ended", one.get("workers", "?")
        facts.append((f"session {n}", f"{one.get('began', '?')} to {ended}, {workers} workers"))
    told = [Table(("fact", "value"), facts, wordy=True)] if facts else []
    return [Table(("stage", "wall time", "tasks"), rows), *notes, *told]


def _describe(architecture: Record) -> str:
    rest = ", ".join(f"{key} {value}" for key, value in architecture.items() if key != "name")
    return f"{architecture.get('name', '–')}" + (f" ({rest})" if rest else "")


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_show(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_show, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _show_time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
